import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { errorMessage } from '../../common/errors.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { TaskRecord } from '../../runs/tasks/task-record.js';
import { joinFirst } from '../../common/text.js';
import { formatCall } from '../render/failures.js';
import type { RunBackend } from './execute-run.js';
import type { TaskReader } from './inspect-run.js';

/** Lets a paused run go on. */
export interface PausableRun extends Pick<RunBackend, 'resume' | 'cancel'>, TaskReader {}

const HELP = 'continue (c), step (s, one wave), show TASK, or quit (q, cancels the run), then Enter';

/** Tasks that the prompt names. */
const MAX_NAMED_TASKS = 10;

/** Characters of a value that `show` prints. */
const MAX_SHOWN_LENGTH = 4000;

/**
 * Asks on standard input how a run goes on that waits at a breakpoint (D42). Without anybody to ask, it cancels the run:
 * nothing else could end the pause.
 */
export class BreakpointPrompt {
  readonly #run: PausableRun;
  #runId = '';
  readonly #print: (text: string) => void;
  readonly #input: Interface;
  /** Lines that nobody has read yet: they may have been piped in before the run has paused. */
  readonly #lines: string[] = [];
  #hasEnded = false;
  #isPaused = false;
  #isAnnounced = false;
  #isAtWork = false;

  constructor(run: PausableRun, stdin: Readable, print: (text: string) => void) {
    this.#run = run;
    this.#print = print;
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
    if (event.kind !== 'run') return;
    this.#isPaused = event.paused === true;
    this.#isAnnounced = false;
    void this.#work();
  }

  /** Call when the run has started: it may pause before its id is known. */
  begin(runId: string): void {
    this.#runId = runId;
    void this.#work();
  }

  /** Call when the run has settled, so that standard input does not keep the process. */
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
        if (!this.#isAnnounced) await this.#announce();
        const line = this.#lines.shift();
        if (line !== undefined) await this.#execute(line);
        else if (this.#hasEnded) await this.#cancel('standard input has ended');
        else return;
      }
    } finally {
      this.#isAtWork = false;
    }
  }

  async #announce(): Promise<void> {
    this.#isAnnounced = true;
    this.#print(`paused ${await this.#describePlace()}`);
    if (!this.#hasEnded) this.#print(HELP);
  }

  async #describePlace(): Promise<string> {
    try {
      const failed = await this.#run.tasks(this.#runId, { status: 'failed', limit: MAX_NAMED_TASKS });
      if (failed.tasks.length > 0) return `after a failure: ${listTasks(failed.tasks)}`;
      const pending = await this.#run.tasks(this.#runId, { status: 'pending', limit: MAX_NAMED_TASKS });
      const [next] = pending.tasks;
      const wave = pending.tasks.filter(
        (task) => task.wave === next?.wave && task.sub_pipeline === next.sub_pipeline,
      );
      return `before wave ${(next?.wave ?? 0) + 1}: ${listTasks(wave)}`;
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
          this.#print(HELP);
      }
    } catch (error) {
      this.#print(errorMessage(error));
    }
  }

  /** The run may pause again before this has resolved, which its events say. */
  async #resume(by: 'continue' | 'step'): Promise<void> {
    this.#isPaused = false;
    await this.#run.resume(this.#runId, by);
  }

  async #cancel(reason: string): Promise<void> {
    this.#isPaused = false;
    this.#print(`cancelling the run: ${reason}`);
    await this.#run.cancel(this.#runId, {});
  }

  /** Prints the inputs of a task, also of one that comes next, and its output. */
  async #show(name: string): Promise<void> {
    if (name === '') return this.#print('show which task? For example: show summary');
    const [taskId = '', subPipeline] = name.split('/').toReversed();
    const task = await this.#run.task(this.#runId, taskId, {
      ...(subPipeline !== undefined && { sub_pipeline: subPipeline }),
    });
    const { status, inputs, inputs_error: problem, output, error } = task;
    this.#print(`${formatCall(task)}: ${status}${error === null ? '' : `: ${error.message}`}`);
    this.#print(`inputs: ${problem ?? formatValue(inputs)}`);
    if (status === 'succeeded') this.#print(`output: ${formatValue(output)}`);
  }
}

function listTasks(tasks: readonly TaskRecord[]): string {
  return joinFirst(tasks.map(formatCall), MAX_NAMED_TASKS);
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)} …`;
}
