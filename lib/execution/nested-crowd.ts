import { ToolError } from '../common/errors.js';
import { MOST_LIVING_NESTED } from '../common/limits.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { OutputBudget } from './output-budget.js';

const crowds = new WeakMap<OutputBudget, NestedCrowd>();

/**
 * The runs inside the tasks of one submitted run, however deep: fan-outs in fan-outs make many of few words. Once one
 * had to be turned away no other begins, for the submitted run fails of it (D49).
 */
export class NestedCrowd {
  readonly #budget: OutputBudget;
  readonly #most: number;
  /** How many of them run each pipeline, which takes memory once. */
  readonly #users = new Map<Pipeline, number>();
  #living = 0;
  #refusal: ToolError | undefined;

  /** @param budget of the submitted run */
  constructor(budget: OutputBudget, most = MOST_LIVING_NESTED) {
    this.#budget = budget;
    this.#most = most;
  }

  /** The same one for all parts of a submitted run, which share its budget. */
  static of(budget: OutputBudget): NestedCrowd {
    const crowd = crowds.get(budget) ?? new NestedCrowd(budget);
    crowds.set(budget, crowd);
    return crowd;
  }

  get living(): number {
    return this.#living;
  }

  /** @throws ToolError, not retryable, when there are too many */
  enter(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    const most = this.#most.toLocaleString('en');
    if (this.#living >= this.#most) {
      this.#refuse(`${most} pipelines are at work inside the tasks of this run, and it may have no more`);
    }
    this.#living++;
  }

  leave(): void {
    this.#living--;
  }

  /** @throws ToolError, not retryable, when the submitted run has no room for it */
  makeRoom(bytes: number): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#budget.hasRoomFor(bytes)) return;
    const living = this.#living.toLocaleString('en');
    this.#refuse(
      `no room for one more pipeline inside a task: there are ${living}, and with all outputs they would take more than the limit of ${this.#budget.limit}`,
    );
  }

  /** @throws ToolError as `makeRoom` */
  use(pipeline: Pipeline): void {
    const users = this.#users.get(pipeline) ?? 0;
    if (users === 0) {
      this.makeRoom(pipeline.weight);
      this.#budget.take(pipeline.weight);
    }
    this.#users.set(pipeline, users + 1);
  }

  letGo(pipeline: Pipeline): void {
    const users = (this.#users.get(pipeline) ?? 0) - 1;
    if (users > 0) this.#users.set(pipeline, users);
    else if (this.#users.delete(pipeline)) this.#budget.giveBack(pipeline.weight);
  }

  #refuse(why: string): never {
    this.#refusal = new ToolError(`${why}: the option fan_out_concurrency makes them fewer`, {
      retryable: false,
    });
    throw this.#refusal;
  }
}
