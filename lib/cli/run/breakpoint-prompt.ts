import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { errorCode, errorMessage } from '../../common/errors.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { Display } from '../progress/display.js';
import { describePause } from '../runs/describe-pause.js';
import type { TaskReader } from './run-end.js';
import type { RunBackend } from './run-backend.js';

/** Lets a paused run go on. */
interface PausableRun extends Pick<RunBackend, 'resume' | 'cancel'> {
  readonly reader: TaskReader;
}

/** Prints lines, and leaves the terminal to what somebody types. */
interface PromptScreen extends Pick<Display, 'hold' | 'release'> {
  /** @param text perhaps of several lines */
  print(text: string): void;
}

interface PromptOptions {
  /** Somebody may let the run go on from its page (`--inspect`). */
  readonly hasPage?: boolean;
}

const HELP = 'continue (c), step (s, one wave), show TASK, or quit (q, cancels the run), then Enter';

/** Lines that are kept until the run has paused: of more, as a program may send, the rest waits in the pipe. */
const MAX_WAITING_LINES = 100;

/** Characters of a value that `show` prints. */
const MAX_SHOWN_LENGTH = 4000;

/** The place of a run that is no plan. */
const WHOLE_RUN = '';

/** The run cannot be continued any more, or it has been from elsewhere: there is nothing to ask again. */
const GONE_ON = ['run_not_paused', 'run_not_found', 'run_already_terminal'];

/**
 * Asks on standard input how a run goes on that waits at a breakpoint (D42). Without anybody to ask, and without a page, it
 * cancels the run: nothing else could end the pause.
 */
export class BreakpointPrompt {
  readonly #run: PausableRun;
  #runId = '';
  readonly #screen: PromptScreen;
  readonly #input: Interface;
  readonly #hasPage: boolean;
  /** Lines that nobody has read yet: they may have been piped in before the run has paused. */
  readonly #lines: string[] = [];
  /** Ids of the sub-pipelines that wait, or {@link WHOLE_RUN}; true once the prompt has said so. */
  readonly #places = new Map<string, boolean>();
  #hasEnded = false;
  #isPaused = false;
  #isAtWork = false;

  constructor(
    run: PausableRun,
    stdin: Readable,
    screen: PromptScreen,
    { hasPage = false }: PromptOptions = {},
  ) {
    this.#run = run;
    this.#hasPage = hasPage;
    this.#screen = screen;
    this.#input = createInterface({ input: stdin });
    this.#input.on('line', (line) => {
      this.#lines.push(line.trim());
      if (this.#lines.length >= MAX_WAITING_LINES) this.#input.pause();
      void this.#work();
    });
    this.#input.on('close', () => {
      this.#hasEnded = true;
      void this.#work();
    });
  }

  /** Must receive every event of the run. */
  onEvent(event: LiveEvent): void {
    if (event.kind === 'sub_pipeline') {
      if (event.paused) this.#places.set(event.sub_pipeline, false);
      else this.#places.delete(event.sub_pipeline);
    } else if (event.kind === 'run') {
      this.#isPaused = event.paused === true;
      if (!this.#isPaused) this.#places.clear();
      // A plan has said before which of its sub-pipelines waits.
      else if (this.#places.size === 0) this.#places.set(WHOLE_RUN, false);
    } else return;
    void this.#work();
  }

  /** Call when the run has started: it may pause before its id is known. */
  begin(runId: string): void {
    this.#runId = runId;
    void this.#work();
  }

  /** Call when the run has settled, or has not started, so that standard input does not keep the process. */
  close(): void {
    this.#isPaused = false;
    this.#input.close();
  }

  /** While the run is paused, executes one line after another. */
  async #work(): Promise<void> {
    if (this.#isAtWork || this.#runId === '') return;
    this.#isAtWork = true;
    try {
      while (this.#isPaused) {
        const place = [...this.#places].find(([, isAnnounced]) => !isAnnounced)?.[0];
        if (place !== undefined) {
          await this.#announce(place);
          continue;
        }
        const line = this.#lines.shift();
        if (this.#lines.length === 0 && !this.#hasEnded) this.#input.resume();
        if (line !== undefined) await this.#execute(line);
        else if (!this.#hasEnded) return;
        else if (this.#hasPage) return this.#leaveToPage();
        else await this.#cancel('standard input has ended, so nobody can continue it');
      }
    } finally {
      this.#isAtWork = false;
    }
  }

  async #announce(place: string): Promise<void> {
    const isFirst = ![...this.#places.values()].includes(true);
    this.#places.set(place, true);
    this.#screen.hold();
    this.#screen.print(
      `paused ${await describePause(this.#run.reader, this.#runId, place === WHOLE_RUN ? undefined : place)}`,
    );
    if (!this.#hasEnded && isFirst) this.#screen.print(HELP);
  }

  #leaveToPage(): void {
    this.#screen.print('nobody can type here, since standard input has ended: continue it on the page');
    this.#screen.release();
    this.#isPaused = false;
  }

  async #execute(line: string): Promise<void> {
    const [command = '', ...words] = line.split(/\s+/);
    try {
      switch (command) {
        case 'c':
        case 'continue':
          return await this.#resume('continue');
        case 's':
        case 'step':
          return await this.#resume('step');
        case 'q':
        case 'quit':
          return await this.#cancel('as asked');
        case 'show':
          return await this.#show(words.join(' '));
        default:
          this.#screen.print(HELP);
      }
    } catch (error) {
      this.#screen.print(errorMessage(error));
    }
  }

  /** The run may pause again before this has resolved, which its events say. */
  async #resume(by: 'continue' | 'step'): Promise<void> {
    this.#isPaused = false;
    this.#screen.release();
    try {
      await this.#run.resume(this.#runId, by);
    } catch (error) {
      this.#keepAsking(error);
      throw error;
    }
  }

  async #cancel(reason: string): Promise<void> {
    this.#isPaused = false;
    this.#screen.print(`cancelling the run: ${reason}`);
    this.#screen.release();
    try {
      await this.#run.cancel(this.#runId, {});
    } catch (error) {
      // Once standard input has ended, nobody would type another command.
      if (!this.#hasEnded) this.#keepAsking(error);
      this.#screen.print(errorMessage(error));
    }
  }

  /** The run still waits, for example because the server was not reached. */
  #keepAsking(error: unknown): void {
    if (GONE_ON.includes(errorCode(error) ?? '')) return;
    this.#isPaused = true;
    this.#screen.hold();
  }

  /** Prints the inputs of a task or an item, also of one that comes next, and its output. */
  async #show(name: string): Promise<void> {
    if (name === '') return this.#screen.print('show which task? For example: show summary');
    const [, path = name, item] = /^(.+)\[(\d+)\]$/.exec(name) ?? [];
    const [taskId = '', subPipeline] = path.split('/').toReversed();
    const options = subPipeline === undefined ? {} : { sub_pipeline: subPipeline };
    const call = await (item === undefined
      ? this.#run.reader.task(this.#runId, taskId, options)
      : this.#run.reader.item(this.#runId, taskId, Number(item), options));
    const { status, inputs, inputs_error: problem, output, error } = call;
    this.#screen.print(`${name}: ${status}${error === null ? '' : `: ${error.message}`}`);
    this.#screen.print(`inputs: ${problem ?? formatValue(inputs)}`);
    if (status === 'succeeded') this.#screen.print(`output: ${formatValue(output)}`);
  }
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)} …`;
}
