import { OutputBudget } from './output-budget.js';

/** The share of a run inside a task: its outputs count for the whole until it is over and they become the task's. */
export class NestedBudget extends OutputBudget {
  readonly #outer: OutputBudget;

  constructor(outer: OutputBudget) {
    super(Number.POSITIVE_INFINITY);
    this.#outer = outer;
  }

  override take(bytes: number): void {
    this.#outer.take(bytes);
    super.take(bytes);
  }

  override giveBack(bytes: number): void {
    super.giveBack(bytes);
    this.#outer.giveBack(bytes);
  }

  close(): void {
    this.giveBack(this.usedBytes);
  }
}
