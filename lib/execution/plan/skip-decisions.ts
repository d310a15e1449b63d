import { runWithPauses } from '../../common/scheduling/steps.js';
import { errorMessage } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { getOrThrow } from '../../definition/assert.js';
import { ConditionCheck, renderWith } from '../../definition/template/condition.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import type { SkipRule } from '../../plans/skip-rules.js';
import type { EventLoopBudget } from '../../../machines/ports.js';
import { SKIPPED_STATUS } from '../../../machines/status.js';
import type { Journal } from '../events/journal.js';
import { SKIP_BYTES, type SubPipelineDecided } from '../history/fact.js';
import { decidedKey } from '../history/replay.js';
import type { PlacedHistory } from '../history/run-history.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { PreparedPlan } from '../prepare/prepare-plan.js';
import { nextSliceWhenOver } from '../run/event-loop-budget.js';
import { assertRecord, freezeEntriesInSteps } from '../session/session.js';
import type { SessionOverrides } from '../session/session-overrides.js';

/** A sub-pipeline is skipped for a reason, or begins; with an error, its first tasks fail. */
type Decision = Pick<SubPipelineDecided, 'reason' | 'error'>;

interface DecisionServices {
  readonly prepared: PreparedPlan;
  readonly overrides: SessionOverrides;
  readonly journal: Journal;
  readonly memory: MemoryBudget;
  readonly history: PlacedHistory | undefined;
  readonly budget: EventLoopBudget;
}

/** Decides when a sub-pipeline with conditions would begin whether it is skipped (D77, D78). */
export class SkipDecisions {
  /** Why sub-pipelines were skipped, by their ids, in the order in which they were. */
  readonly skipped = new Map<string, string>();
  readonly #services: DecisionServices;
  readonly #decisions = new Map<string, Decision>();
  /** The sub-pipelines of which another process has decided. */
  readonly #kept = new Set<string>();

  constructor(services: DecisionServices) {
    this.#services = services;
  }

  /** Decides as another process did, or looks at the conditions. Never throws. */
  decide(id: string, onDecided: (isSkipped: boolean) => void): void {
    const report = (decision: Decision): void => {
      this.#decisions.set(id, decision);
      onDecided(decision.reason !== undefined);
    };
    const decideNow = (): void => void this.#decide(id).then(report);
    const replay = this.#services.history?.replay;
    if (replay === undefined) return decideNow();
    const key = decidedKey(id);
    const onFact = (fact: Decision): void => {
      replay.settle(key);
      this.#kept.add(id);
      report(fact);
    };
    replay.expect(key, { onFact: (fact) => onFact(fact as SubPipelineDecided), onEnd: decideNow });
  }

  /** Call when the sub-pipeline is skipped, after its decision. */
  onSkipped(id: string): void {
    const { journal, memory } = this.#services;
    const { reason = '' } = this.#decisions.get(id) ?? {};
    memory.tryReserve(SKIP_BYTES + reason.length);
    this.#note(id);
    this.skipped.set(id, reason);
    if (journal.isObserved)
      journal.write({ kind: 'sub_pipeline', sub_pipeline: id, status: SKIPPED_STATUS, reason });
  }

  /** Call when a sub-pipeline begins. Returns why its first tasks fail; undefined when they do not. */
  onBegun(id: string): string | undefined {
    const decision = this.#decisions.get(id);
    if (decision === undefined) return undefined;
    this.#note(id);
    return decision.error;
  }

  /** Keeps a decision for good, once it counts. */
  #note(id: string): void {
    const { reason, error } = this.#decisions.get(id) ?? {};
    this.#decisions.delete(id);
    if (this.#kept.has(id)) return;
    const kept = { ...(reason !== undefined && { reason }), ...(error !== undefined && { error }) };
    this.#services.history?.ofSubPipeline(id).note({ kind: 'decided', ...kept });
  }

  /** Never rejects, whatever the blackboard does. */
  async #decide(id: string): Promise<Decision> {
    const { plan, secrets } = this.#services.prepared;
    const mask = (text: string): string => secrets.masker?.mask(text) ?? text;
    const rule = getOrThrow(plan.subPipelines, id).skipRule;
    try {
      // Many may be decided one after the other, without anything else to wait for.
      await nextSliceWhenOver(this.#services.budget);
      const reason = rule && (await this.#findReason(rule));
      return reason === undefined ? {} : { reason: mask(reason) };
    } catch (thrown) {
      return {
        error: mask(`the condition of the sub-pipeline cannot be looked at: ${errorMessage(thrown)}`),
      };
    }
  }

  async #findReason({ conditions, keys, needed }: SkipRule): Promise<string | undefined> {
    const lost = [...needed].filter(([, writer]) => this.skipped.has(writer));
    const session =
      keys.length + lost.length === 0 ? {} : await this.#read([...keys, ...lost.map(([key]) => key)]);
    const missing = lost.find(([key]) => !Object.hasOwn(session, key));
    if (missing !== undefined)
      return `it reads "${missing[0]}", which only "${missing[1]}" stores, and that was skipped`;
    if (conditions.length === 0) return undefined;
    const { inputs, plan } = this.#services.prepared;
    const meter = new RenderMeter();
    meter.start();
    const goal = plan.definition.goal ?? '';
    const scope = { output: () => undefined, inputs, params: {}, session, goal, meter };
    return new ConditionCheck(conditions).findUnmet(renderWith(scope));
  }

  /** Reads keys of the session as the sub-pipeline would see them. */
  async #read(keys: readonly string[]): Promise<Record<string, Json>> {
    const { prepared, overrides, budget } = this.#services;
    const { blackboard, tenantId } = prepared;
    const stored = assertRecord(await blackboard.readMany(tenantId, keys));
    const entries = await runWithPauses(freezeEntriesInSteps(stored), () => nextSliceWhenOver(budget));
    const given = keys.flatMap((key): [string, Json][] => {
      const value = overrides.get(key);
      return value === undefined ? [] : [[key, value]];
    });
    return Object.fromEntries([...entries, ...given]);
  }
}
