import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { errorCode, errorMessage } from '../../common/errors.js';
import { joinFirst } from '../../common/text.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { TaskRecord } from '../../runs/tasks/task-record.js';
import type { Display } from '../progress/display.js';
import { formatCall } from '../render/failures.js';
import type { TaskReader } from './inspect-run.js';
import type { RunBackend } from './run-backend.js';

/** Lets a paused run go on. */
interface PausableRun extends Pick<RunBackend, 'resume' | 'cancel'>, TaskReader {}

/** Prints lines, and leaves the terminal to what somebody types. */
interface PromptScreen extends Pick<Display, 'hold' | 'release'> {
  /** @param text perhaps of several lines */
  print(text: string): void;
}

const HELP = 'continue (c), step (s, one wave), show TASK, or quit (q, cancels the run), then Enter';

/** Tasks that the prompt names. */
const MAX_NAMED_TASKS = 10;

/** Characters of a value that `show` prints. */
const MAX_SHOWN_LENGTH = 4000;

/** The place of a run that is no plan. */
const WHOLE_RUN = '';

/** The run cannot be continued any more, or it has been from elsewhere: there is nothing to ask again. */
const GONE_ON = ['run_not_paused', 'run_not_found', 'run_already_terminal'];

/**
 * Asks on standard input how a run goes on that waits at a breakpoint (D42). Without anybody to ask, it cancels the run,
 * unless a page can let it go on: nothing else could end the pause.
 */
export class BreakpointPrompt {
  readonly #run: PausableRun;
  #runId = '';
  readonly #screen: PromptScreen;
  readonly #pageUrl: string | undefined;
  readonly #input: Interface;
  /** Lines that nobody has read yet: they may have been piped in before the run has paused. */
  readonly #lines: string[] = [];
  /** Ids of the sub-pipelines that wait, or {@link WHOLE_RUN}; true once the prompt has said so. */
  readonly #places = new Map<string, boolean>();
  #hasEnded = false;
  #isPaused = false;
  #isAtWork = false;

  /** @param pageUrl of the page from which the run can be continued too */
  constructor(run: PausableRun, stdin: Readable, screen: PromptScreen, pageUrl: string | undefined) {
    this.#pageUrl = pageUrl;
    this.#run = run;
    this.#screen = screen;
    this.#input = createInterface({ input: stdin });
    this.#input.on('line', (line) => {
      this.#lines.push(line.trim());
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
      if (!this.#isPaused) {
        this.#places.clear();
        // It may have gone on from elsewhere.
        this.#screen.release();
      }
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
        if (line !== undefined) await this.#execute(line);
        else if (this.#hasEnded && this.#pageUrl === undefined)
          await this.#cancel('standard input has ended, so nobody can continue it');
        else return;
      }
    } finally {
      this.#isAtWork = false;
    }
  }

  async #announce(place: string): Promise<void> {
    const isFirst = ![...this.#places.values()].includes(true);
    this.#places.set(place, true);
    this.#screen.hold();
    this.#screen.print(`paused ${await this.#describePlace(place)}`);
    if (!isFirst) return;
    if (!this.#hasEnded) this.#screen.print(HELP);
    else if (this.#pageUrl !== undefined) this.#screen.print(`continue it at ${this.#pageUrl}`);
  }

  async #describePlace(place: string): Promise<string> {
    const query = { limit: MAX_NAMED_TASKS, ...(place !== WHOLE_RUN && { sub_pipeline: place }) };
    const list = async (status: TaskRecord['status']): Promise<readonly TaskRecord[]> =>
      (await this.#run.tasks(this.#runId, { ...query, status })).tasks;
    try {
      const failed = await list('failed');
      if (failed.length > 0) return `after a failure: ${listTasks(failed)}`;
      const pending = await list('pending');
      const wave = pending[0]?.wave ?? 0;
      return `before wave ${wave + 1}: ${listTasks(pending.filter((task) => task.wave === wave))}`;
    } catch (error) {
      return `(${errorMessage(error)})`;
    }
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
      ? this.#run.task(this.#runId, taskId, options)
      : this.#run.item(this.#runId, taskId, Number(item), options));
    const { status, inputs, inputs_error: problem, output, error } = call;
    this.#screen.print(`${name}: ${status}${error === null ? '' : `: ${error.message}`}`);
    this.#screen.print(`inputs: ${problem ?? formatValue(inputs)}`);
    if (status === 'succeeded') this.#screen.print(`output: ${formatValue(output)}`);
  }
}

function listTasks(tasks: readonly TaskRecord[]): string {
  return joinFirst(tasks.map(formatCall), MAX_NAMED_TASKS);
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)} …`;
}
