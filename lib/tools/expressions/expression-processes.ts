import type { Clock } from '../../common/clock.js';
import { messageOf, ToolError } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json.js';
import { Evaluator } from './evaluator.js';
import { type Answer, failure, type Question } from './question.js';

/**
 * Evaluates expressions in other processes: whoever writes one can neither hold up the server nor eat its memory.
 * What takes too long, or too much, fails its task and costs its process, and the next is asked in a new one.
 *
 * Threads would not do: where V8 cannot give one what it asks for, it ends the process with all its threads.
 */
export class ExpressionProcesses {
  readonly #file: string;
  readonly #most: number;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  readonly #idle: Evaluator[] = [];
  readonly #all = new Set<Evaluator>();
  #busy = 0;
  #isClosed = false;

  /**
   * @param file the program of a process
   * @param most processes at once
   */
  constructor(file: string, most: number, clock: Clock) {
    this.#file = file;
    this.#most = most;
    this.#clock = clock;
  }

  /** Rejects with a ToolError, not retryable, as the evaluation in this process would throw it. */
  async evaluate(source: string, input: Json, bindings: JsonObject): Promise<Json> {
    await this.#turn();
    const answer = await this.#answerTo(source, input, bindings);
    this.#next();
    if (!answer.ok) throw new ToolError(answer.error, { retryable: false });
    const result: Json = JSON.parse(answer.text);
    return result;
  }

  /** Ends all processes; who still waits, or asks later, is told that the evaluation failed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#all];
    for (const one of all) one.kill(CLOSED);
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** Resolves when no more than the others are asked. */
  async #turn(): Promise<void> {
    if (this.#busy < this.#most) this.#busy++;
    else await new Promise<void>((go) => this.#waiting.push(go));
  }

  /** Hands the turn on. */
  #next(): void {
    const go = this.#waiting.shift();
    if (go === undefined) this.#busy--;
    else go();
  }

  async #answerTo(source: string, input: Json, bindings: JsonObject): Promise<Answer> {
    if (this.#isClosed) return failure(CLOSED);
    try {
      const question: Question = { source, given: JSON.stringify({ input, bindings }) };
      const one = this.#idleOne() ?? this.#start();
      const answer = await one.ask(question);
      if (one.isAlive) this.#idle.push(one);
      return answer;
    } catch (error) {
      return failure(messageOf(error));
    }
  }

  /** The one that was asked last, for it is the warmest; those that died while nobody asked are left out. */
  #idleOne(): Evaluator | undefined {
    for (;;) {
      const last = this.#idle.pop();
      if (last === undefined || last.isAlive) return last;
    }
  }

  #start(): Evaluator {
    const one = new Evaluator(this.#file, this.#clock);
    this.#all.add(one);
    void one.ended.then(() => this.#all.delete(one));
    return one;
  }
}

const CLOSED = 'the server is shutting down';
