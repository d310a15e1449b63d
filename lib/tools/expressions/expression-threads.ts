import { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.js';
import { messageOf, ToolError } from '../../errors.js';
import type { Json, JsonObject } from '../../json.js';
import { EXPRESSION_LIMITS } from '../../limits.js';

/** What a thread is asked. */
export interface Question {
  readonly source: string;
  readonly input: Json;
  readonly bindings: JsonObject;
}

export type Answer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: string };

interface Waiting {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
}

/** A thread that does not answer by then will not. */
const PATIENCE_MS = EXPRESSION_LIMITS.hardTimeoutMs + 1000;

/**
 * Evaluates expressions beside the event loop: whoever writes one can neither hold up the server nor eat its
 * memory. What takes too long, or too much, fails its task and costs its thread, which is then replaced.
 */
export class ExpressionThreads {
  readonly #file: string;
  readonly #most: number;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  #closed = false;

  /**
   * @param file the program of a thread
   * @param most threads at once
   */
  constructor(file: string, most: number, clock: Clock) {
    this.#file = file;
    this.#most = most;
    this.#clock = clock;
  }

  /** Rejects with a ToolError, not retryable, as the evaluation in this thread would throw it. */
  async evaluate(source: string, input: Json, bindings: JsonObject): Promise<Json> {
    const answer = await new Promise<Answer>((settle) => {
      this.#waiting.push({ question: { source, input, bindings }, settle });
      this.#next();
    });
    if (answer.ok) return answer.value;
    throw new ToolError(answer.error, { retryable: false });
  }

  /** Ends all threads; who still waits is told that the evaluation failed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { settle } of this.#waiting.splice(0)) settle(failure('the server is shutting down'));
    await Promise.all([...this.#all].map((thread) => thread.terminate()));
  }

  #next(): void {
    if (this.#waiting.length === 0 || this.#closed) return;
    const thread = this.#idle.pop() ?? (this.#all.size < this.#most ? this.#start() : undefined);
    const first = thread && this.#waiting.shift();
    if (first) this.#ask(thread, first);
  }

  #start(): Worker {
    const thread = new Worker(this.#file, {
      resourceLimits: { maxOldGenerationSizeMb: EXPRESSION_LIMITS.memoryMiB },
    });
    // An idle thread is no reason to stay; whoever waits for an answer holds the process by its own means.
    thread.unref();
    this.#all.add(thread);
    return thread;
  }

  #ask(thread: Worker, { question, settle }: Waiting): void {
    const end = (answer: Answer, isSound: boolean): void => {
      this.#clock.clearTimeout(timer);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      thread.unref();
      if (isSound) this.#idle.push(thread);
      else this.#dismiss(thread);
      settle(answer);
      this.#next();
    };
    const timer = this.#clock.setTimeout(() => end(failure(TOO_LONG), false), PATIENCE_MS);
    const onMessage = (answer: Answer): void => end(answer, true);
    const onError = (error: unknown): void => end(failure(reasonOf(error)), false);
    const onExit = (): void => end(failure('its thread ended'), false);
    thread.ref();
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(question);
  }

  #dismiss(thread: Worker): void {
    this.#all.delete(thread);
    thread.on('error', () => undefined);
    void thread.terminate();
  }
}

const TOO_LONG = `it ran for more than ${EXPRESSION_LIMITS.timeoutMs / 1000} s`;

function reasonOf(error: unknown): string {
  const isFull = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isFull ? `it needed more than ${EXPRESSION_LIMITS.memoryMiB} MiB of memory` : messageOf(error);
}

function failure(reason: string): Answer {
  return { ok: false, error: `the expression failed: ${reason}` };
}
