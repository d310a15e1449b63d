import type { RunRecord } from '../../../lib/runs/record.js';

export type ModelState = 'queued' | 'running' | 'draining' | 'succeeded' | 'failed' | 'cancelled';

const TASKS = ['a', 'b'];

/** The specified behaviour of a run of two waves, one task in each (States and transitions, D16, D20, D21). */
export class ModelRun {
  readonly id: string;
  readonly rerunOf: string | null;
  state: ModelState = 'queued';
  /** Of the tasks that succeeded, here or in the run that this one repeats. */
  readonly outputs: Map<string, string>;
  readonly #failures: RunRecord['failures'][number][] = [];
  #invocations = 0;
  #wavesExecuted = 0;

  constructor(id: string, rerunOf: string | null = null, reused: ReadonlyMap<string, string> = new Map()) {
    this.id = id;
    this.rerunOf = rerunOf;
    this.outputs = new Map(reused);
  }

  get isTerminal(): boolean {
    return this.state !== 'queued' && this.state !== 'running';
  }

  get isSettled(): boolean {
    return this.isTerminal && this.state !== 'draining';
  }

  begin(): void {
    this.state = 'running';
    this.#goOn();
  }

  complete(value: string): void {
    this.outputs.set(TASKS[this.#wavesExecuted] ?? '', value);
    this.#wavesExecuted++;
    if (this.state === 'draining') this.state = 'cancelled';
    else this.#goOn();
  }

  fail(error: string): void {
    this.#failures.push({ task_id: TASKS[this.#wavesExecuted] ?? '', error, attempts: 1 });
    this.#wavesExecuted++;
    this.state = this.state === 'draining' ? 'cancelled' : 'failed';
  }

  cancel(force: boolean): void {
    const isAtWork = this.state === 'running' || this.state === 'draining';
    this.state = this.state === 'running' ? 'draining' : this.state === 'queued' ? 'cancelled' : this.state;
    if (isAtWork && force) this.fail('stopped by force');
  }

  /** Starts the next wave; the tasks that are reused settle at once. */
  #goOn(): void {
    while (this.outputs.has(TASKS[this.#wavesExecuted] ?? '')) this.#wavesExecuted++;
    if (this.#wavesExecuted < TASKS.length) this.#invocations++;
    else this.state = 'succeeded';
  }

  /** The record that the server should return. */
  get expectedRecord(): Partial<RunRecord> {
    const counts = { waves_executed: this.#wavesExecuted, tasks_executed: this.#invocations };
    const hasSucceeded = this.state === 'succeeded';
    return {
      run_id: this.id,
      status: this.state === 'draining' ? 'cancelled' : this.state,
      settled: this.isSettled,
      rerun_of: this.rerunOf,
      failed_task: this.state === 'failed' ? { task_id: this.#failures[0]?.task_id ?? '' } : null,
      error: this.state === 'failed' ? (this.#failures[0]?.error ?? '') : null,
      failures: this.#failures,
      result: hasSucceeded ? { outputs: Object.fromEntries(this.outputs), ...counts } : null,
      progress: {
        waves: TASKS.length,
        waves_executed: this.#wavesExecuted,
        tasks: TASKS.length,
        tasks_settled: this.#wavesExecuted,
        invocations: this.#invocations,
      },
    };
  }
}

/** The specified behaviour of a server with one slot: its runs, oldest first, and the run in the slot. */
export class ModelServer {
  readonly runs: ModelRun[] = [];
  readonly forgotten: ModelRun[] = [];
  /** States that a run has been in after a command. */
  readonly seen: Set<ModelState>;

  constructor(seen: Set<ModelState>) {
    this.seen = seen;
  }

  /** The run that has the place, if any. */
  get activeRun(): ModelRun | undefined {
    return this.runs.find(({ state }) => state === 'running' || state === 'draining');
  }

  get queuedRuns(): ModelRun[] {
    return this.runs.filter(({ state }) => state === 'queued');
  }

  /** The run that a number means, forgotten ones among them; undefined when there has been none. */
  pick(number: number): ModelRun | undefined {
    const all = [...this.runs, ...this.forgotten];
    return all[number % Math.max(1, all.length)];
  }

  accept(run: ModelRun): void {
    this.runs.push(run);
    this.fill();
  }

  forget(run: ModelRun): void {
    this.runs.splice(this.runs.indexOf(run), 1);
    this.forgotten.push(run);
  }

  /** Gives a free place to the run that has waited longest, which may be done with it at once. */
  fill(): void {
    for (let next = this.queuedRuns[0]; next !== undefined && !this.activeRun; next = this.queuedRuns[0])
      next.begin();
  }
}
