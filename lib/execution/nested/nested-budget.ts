import { ToolError } from '../../common/errors.js';
import { MOST_LIVING_NESTED } from '../../common/limits.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { OutputBudget } from '../memory-budget.js';
import type { CalledPipelines } from './called-pipelines.js';

/** What a run takes by being there: its actors, its work and its session, and what waits for it. */
const RUN_BYTES = 20 * 1024;

/** The same of each of its tasks. */
const TASK_BYTES = 5 * 1024;

/** The share of a run inside a task: what it takes counts for the whole until it is over and its outputs become the task's. */
export class NestedBudget extends OutputBudget {
  /** What runs within it calls the same ones again and again. */
  readonly pipelines: CalledPipelines;
  readonly #outer: OutputBudget;
  readonly #crowd: NestedCrowd;
  #pipeline: Pipeline | undefined;

  /** @throws ToolError, not retryable, when the submitted run has room for no other */
  constructor(outer: OutputBudget, pipelines: CalledPipelines) {
    super(outer.limitBytes);
    this.pipelines = pipelines;
    this.#outer = outer;
    this.#crowd = outer instanceof NestedBudget ? outer.#crowd : NestedCrowd.of(outer);
    this.#crowd.makeRoom(RUN_BYTES);
    this.#crowd.enter();
    this.take(RUN_BYTES);
  }

  /**
   * Makes room for what it is about to run.
   *
   * @param givenBytes weight of what it was given
   * @throws ToolError, not retryable
   */
  admit(pipeline: Pipeline, givenBytes: number): void {
    this.#crowd.use(pipeline);
    this.#pipeline = pipeline;
    const bytes = givenBytes + TASK_BYTES * pipeline.tasks.size;
    this.#crowd.makeRoom(bytes);
    this.take(bytes);
  }

  override take(bytes: number): void {
    this.#outer.take(bytes);
    super.take(bytes);
  }

  override giveBack(bytes: number): void {
    super.giveBack(bytes);
    this.#outer.giveBack(bytes);
  }

  /** It is over. */
  close(): void {
    this.giveBack(this.usedBytes);
    this.#crowd.leave();
    if (this.#pipeline !== undefined) this.#crowd.letGo(this.#pipeline);
  }
}

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
