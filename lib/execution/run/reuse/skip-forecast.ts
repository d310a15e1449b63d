import type { Json } from '../../../common/json/json.js';
import { RenderMeter } from '../../../definition/template/render-meter.js';
import type { PreparedRun } from '../../prepare/prepare-run.js';
import type { TaskOutcome } from '../../results.js';
import type { Task } from '../../../pipelines/pipeline.js';
import { isUncertain } from '../task-trace.js';
import { GIVEN_NAMESPACES } from './reuse.js';
import { type Condition, ConditionCheck, renderWith } from '../../../definition/template/condition.js';
import { startsWithState } from '../../../definition/template/reference.js';
import type { TemplateScope } from '../../../definition/template/scope.js';

/** A task that is skipped in any case, for a reason; one that runs as far as its conditions matter; one of which only the run shows it. */
export type Forecast = { readonly reason: string } | 'runs' | 'open';

/**
 * Foresees which tasks of a rerun are skipped (D77, D78): by conditions over what the rerun is given and over outputs that it
 * reuses, and for want of the output of such a task. Ask in the order of the waves.
 */
export class SkipForecast {
  readonly #prepared: PreparedRun;
  readonly #reused = new Map<string, TaskOutcome>();
  readonly #skipped = new Set<string>();
  readonly #meter = new RenderMeter();
  readonly #scope: TemplateScope;

  constructor(prepared: PreparedRun) {
    const { params, inputs, session, goal } = prepared;
    this.#prepared = prepared;
    const output = (taskId: string): Json | undefined => this.#reused.get(taskId)?.output;
    this.#scope = { params, inputs, session, goal, output, meter: this.#meter };
  }

  /** Call for a task that is reused. */
  onReused(taskId: string, outcome: TaskOutcome): void {
    this.#reused.set(taskId, outcome);
  }

  foresee(task: Task): Forecast {
    const forecast = this.#foresee(task);
    if (typeof forecast === 'object') this.#skipped.add(task.id);
    return forecast;
  }

  #foresee({ neededOutputs, conditions, itemConditions }: Task): Forecast {
    const missing = neededOutputs.find((taskId) => this.#skipped.has(taskId));
    if (missing !== undefined) return { reason: `it reads the output of "${missing}", which was skipped` };
    const firstOpen = conditions.findIndex((condition) => !this.#isKnown(condition));
    const known = firstOpen < 0 ? conditions : conditions.slice(0, firstOpen);
    const reason = known.length === 0 ? undefined : this.#findUnmet(known);
    if (reason !== undefined) return { reason };
    return firstOpen < 0 && itemConditions.length === 0 ? 'runs' : 'open';
  }

  #isKnown({ template }: Condition): boolean {
    return template.operands.every(({ expression: { root, path } }) => {
      if (GIVEN_NAMESPACES.has(root)) return true;
      const task = this.#prepared.pipeline.tasks.get(root);
      if (task === undefined || (startsWithState(path) && isUncertain(task))) return false;
      return this.#reused.has(root) || this.#skipped.has(root);
    });
  }

  #findUnmet(conditions: readonly Condition[]): string | undefined {
    const { masker } = this.#prepared.secrets;
    try {
      this.#meter.start();
      const unmet = new ConditionCheck(conditions).findUnmet(renderWith(this.#scope));
      return unmet === undefined ? undefined : (masker?.mask(unmet) ?? unmet);
    } catch {
      // A value is missing: the task fails when it begins.
      return undefined;
    }
  }
}
