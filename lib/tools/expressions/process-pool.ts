import type { Clock } from '../../common/clock.js';
import { errorMessage, ToolError } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json.js';
import { type EvaluationResponse, failedEvaluation } from './protocol.js';
import { ExpressionWorker } from './worker.js';

/**
 * Evaluates expressions in worker processes, so that an expression can neither block the server nor exhaust its
 * memory. One that exceeds its time or memory fails its task and kills its process; the next gets a new process.
 *
 * Threads would not do: when V8 cannot allocate memory for a thread, it ends the whole process.
 */
export class ExpressionPool {
  readonly #file: string;
  readonly #maxProcesses: number;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  readonly #idle: ExpressionWorker[] = [];
  readonly #workers = new Set<ExpressionWorker>();
  #busy = 0;
  #isClosed = false;

  /** @param file the program of a worker process */
  constructor(file: string, maxProcesses: number, clock: Clock) {
    this.#file = file;
    this.#maxProcesses = maxProcesses;
    this.#clock = clock;
  }

  /** Evaluates a JSONata expression. Rejects with a ToolError, not retryable, as `evaluate` throws it. */
  async evaluate(source: string, input: Json, bindings: JsonObject): Promise<Json> {
    await this.#acquire();
    const response = await this.#request(source, input, bindings);
    this.#release();
    if (!response.ok) throw ToolError.nonRetryable(response.error);
    const result: Json = JSON.parse(response.text);
    return result;
  }

  /** Kills all processes. Evaluations that are waiting or are requested later fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const workers = [...this.#workers];
    for (const worker of workers) worker.kill(CLOSED);
    await Promise.all(workers.map(({ ended }) => ended));
  }

  /** Resolves when fewer than the maximum of processes are busy. */
  async #acquire(): Promise<void> {
    if (this.#busy < this.#maxProcesses) this.#busy++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#busy--;
    else next();
  }

  async #request(source: string, input: Json, bindings: JsonObject): Promise<EvaluationResponse> {
    if (this.#isClosed) return failedEvaluation(CLOSED);
    try {
      const data = JSON.stringify({ input, bindings });
      const worker = this.#takeIdle() ?? this.#start();
      const response = await worker.evaluate({ source, data });
      if (worker.isAlive) this.#idle.push(worker);
      return response;
    } catch (error) {
      return failedEvaluation(errorMessage(error));
    }
  }

  /** Takes the most recently used worker, the warmest; drops those that died while idle. */
  #takeIdle(): ExpressionWorker | undefined {
    for (;;) {
      const last = this.#idle.pop();
      if (last === undefined || last.isAlive) return last;
    }
  }

  #start(): ExpressionWorker {
    const worker = new ExpressionWorker(this.#file, this.#clock);
    this.#workers.add(worker);
    void worker.ended.then(() => this.#workers.delete(worker));
    return worker;
  }
}

const CLOSED = 'the server is shutting down';
