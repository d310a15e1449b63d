import type { RunActor } from '../../../machines/run.js';
import type { PlanWork } from '../../../machines/sub-runs.js';
import type { Settlement } from '../../../machines/types.js';
import { messageOf, type TaskFailure } from '../../common/errors.js';
import type { Json } from '../../common/json.js';
import { processPace } from '../event-loop-budget.js';
import { InnerJournal, type Journal } from '../events/journal.js';
import { weighedJson } from '../json-output.js';
import { OutputBudget } from '../memory-budget.js';
import type { PreparedPlan } from '../prepare/prepare-plan.js';
import type { PreparedRun, RunSurroundings } from '../prepare/prepared-run.js';
import { ArtifactFolder, type RunSetting } from '../run-context.js';
import { LocalRun } from '../run/pipeline-run.js';
import { GivenValues } from '../session/given-values.js';
import { keyedIn } from '../session/session.js';

/**
 * The work behind the machine of one plan: the runs of its sub-pipelines. They share a blackboard, which is how they
 * pass values on (Plan, rule 2), and what a run may take in memory.
 */
export class SubRuns implements PlanWork {
  readonly pace = processPace;
  /** Those that have begun, by sub-pipeline id. */
  readonly begun = new Map<string, LocalRun>();
  /** Of all of them, in the order they happened. */
  readonly failures: TaskFailure[] = [];
  /** All that stood on the blackboard when the last one had succeeded (Plan, rule 4). */
  blackboard: Record<string, Json> = {};
  /** What that takes in memory, when it is of a blackboard that somebody brought along: others may have written too. */
  foreignWeight = 0;
  /** Why the plan failed although none of them did. */
  fault: string | undefined;
  readonly budget: OutputBudget;
  readonly #prepared: PreparedPlan;
  readonly #surroundings: RunSurroundings;
  readonly #journal: Journal;
  readonly #onBegin: () => void;
  /** The values given for the run, without those that were stored over. */
  readonly #given: GivenValues;

  /** @param onBegin is told before the run of a sub-pipeline begins */
  constructor(prepared: PreparedPlan, surroundings: RunSurroundings, journal: Journal, onBegin: () => void) {
    this.#prepared = prepared;
    this.#surroundings = surroundings;
    this.#journal = journal;
    this.#onBegin = onBegin;
    this.#given = new GivenValues(prepared.session);
    this.budget = new OutputBudget(surroundings.runOutputLimitBytes);
  }

  waves(subPipelineId: string): readonly (readonly string[])[] {
    return this.#preparedFor(subPipelineId).pipeline.waves;
  }

  begin(subPipelineId: string, actor: RunActor): void {
    const prepared = { ...this.#preparedFor(subPipelineId), session: this.#given.present() };
    const run = new LocalRun(prepared, this.#surroundings, this.#settingOf(subPipelineId, actor));
    this.begun.set(subPipelineId, run);
    this.#onBegin();
    void run.begin();
  }

  /** A given value that it stored over, or appended to, is seen so by those that begin later. */
  ended(subPipelineId: string): void {
    const run = this.begun.get(subPipelineId);
    if (run === undefined) return;
    this.#given.follow(run.writes);
  }

  conclude(concluded: (settlement: Settlement) => void): void {
    void this.#gather().then(concluded);
  }

  /** Whatever a blackboard does, it is answered in words. */
  async #gather(): Promise<Settlement> {
    const { blackboard, isOurs, tenantId } = this.#prepared;
    try {
      const { json, weight } = weighedJson(keyedIn(await blackboard.get_all(tenantId)));
      this.blackboard = json as Record<string, Json>;
      if (!isOurs) this.foreignWeight = weight;
      return { ok: true };
    } catch (thrown) {
      this.fault = `the blackboard cannot be read: ${messageOf(thrown)}`;
      return { ok: false, error: this.fault };
    }
  }

  #preparedFor(subPipelineId: string): PreparedRun {
    const prepared = this.#prepared.subRuns.get(subPipelineId);
    if (prepared === undefined) throw new Error(`the plan has no sub-pipeline "${subPipelineId}"`);
    return prepared;
  }

  #settingOf(subPipelineId: string, actor: RunActor): RunSetting {
    const { id, plan } = this.#prepared;
    const { clock, artifactFolder } = this.#surroundings;
    return {
      actor,
      journal: new InnerJournal(this.#journal, { sub_pipeline: subPipelineId }, clock),
      budget: this.budget,
      artifacts: new ArtifactFolder(artifactFolder, id, subPipelineId),
      onFailure: (failure) => this.failures.push({ sub_pipeline: subPipelineId, ...failure }),
      stores: { subPipeline: subPipelineId, keys: new Set(plan.subPipelines.get(subPipelineId)?.stores) },
      way: [subPipelineId],
      onFinal: undefined,
    };
  }
}
