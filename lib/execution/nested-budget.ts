import type { Pipeline } from '../pipelines/pipeline.js';
import type { CalledPipelines } from './called-pipelines.js';
import { NestedCrowd } from './nested-crowd.js';
import { OutputBudget } from './output-budget.js';

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
