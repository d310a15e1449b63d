import type { RunStatus } from '../../../machines/vocabulary.js';
import type { LiveEvent } from '../../execution/event.js';
import type { Plan } from '../../plans/plan.js';

/** What became of each sub-pipeline of a plan: its record alone tells how many are over, not which. */
export class PlanCourse {
  readonly #plan: Plan;
  readonly #statuses = new Map<string, RunStatus>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  hear(event: LiveEvent): void {
    if (event.kind === 'sub_pipeline') this.#statuses.set(event.sub_pipeline, event.status);
  }

  /** Those that came to a status, in the order of the plan. */
  in(status: RunStatus): string[] {
    return this.#plan.statistics.order.filter((id) => this.#statuses.get(id) === status);
  }

  notStarted(): string[] {
    return this.#plan.statistics.order.filter((id) => !this.#statuses.has(id));
  }
}
