import type { EventLoopBudget } from '../../../machines/ports.js';
import { runWithPauses } from '../../common/scheduling/steps.js';
import type { HandleEvent, RunActor, RunMachineInput } from '../../../machines/run.js';
import { HANDLERS_ID, type PlanPorts } from '../../../machines/sub-runs.js';
import type { TaskResult } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import type { KeyUse } from '../../plans/statistics.js';
import { eventLoopBudget, nextSliceWhenOver } from '../run/event-loop-budget.js';
import { type Journal, NestedJournal } from '../events/journal.js';
import type { PlacedHistory } from '../history/run-history.js';
import { copyToJsonInSteps } from '../invocation/json-output.js';
import type { MemoryBudget } from '../memory-budget.js';
import { NestedRunLimiter } from '../nested/nested-run-limiter.js';
import type { PreparedPlan } from '../prepare/prepare-plan.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import type { RootRun, EndOfTasks } from '../run/run-namespace.js';
import { PipelineRun, toMachineInput } from '../run/pipeline-run.js';
import type { ParentRunContext, RunDependencies } from '../run-context.js';
import { SkipDecisions } from './skip-decisions.js';
import { assertRecord } from '../session/session.js';
import { SessionOverrides } from '../session/session-overrides.js';

/** The run of the plan. */
interface PlanOfSubRuns extends RootRun, EndOfTasks {
  /** Writes the event of a new status, before those of its sub-pipelines. */
  emitStatus(): void;
  /** Called before the first handler of the plan begins. */
  onHandlersBegin(): void;
}

/** Implements the ports of a plan's machine: the runs of its sub-pipelines, which share a budget and a blackboard. */
export class SubRuns implements PlanPorts {
  readonly eventLoopBudget: EventLoopBudget;
  /** Resolves when the plan has ended, after its last sub-pipeline; undefined until that has. */
  concluded: Promise<void> | undefined;
  /** The budget for work that no machine decides about, whose slices are no facts. */
  readonly #liveBudget: EventLoopBudget;
  /** The runs that have begun, by sub-pipeline id. */
  readonly begun = new Map<string, PipelineRun>();
  /** Failures of all sub-pipelines, in the order in which they happened. */
  readonly failures: TaskFailure[] = [];
  /** All values on the blackboard after the last sub-pipeline has succeeded (Plan, rule 4). */
  blackboard: Record<string, Json> = {};
  readonly nestedRunLimiter: NestedRunLimiter;
  readonly #plan: PlanOfSubRuns;
  readonly #prepared: PreparedPlan;
  readonly #dependencies: RunDependencies;
  readonly #journal: Journal;
  readonly #budget: MemoryBudget;
  readonly #history: PlacedHistory | undefined;
  /** The submitted session values that no sub-pipeline has stored over. */
  readonly #overrides: SessionOverrides;
  readonly #decisions: SkipDecisions;
  #handlers: PipelineRun | undefined;
  #blackboardError: string | undefined;
  /** The stores and reads of each key; made when the first task writes a key that its sub-pipeline does not declare. */
  #keyUses: Map<string, KeyUse> | undefined;

  constructor(
    prepared: PreparedPlan,
    dependencies: RunDependencies,
    journal: Journal,
    memory: MemoryBudget,
    history: PlacedHistory | undefined,
    plan: PlanOfSubRuns,
  ) {
    this.#plan = plan;
    this.#liveBudget = eventLoopBudget.forTenant(prepared.tenantId);
    this.eventLoopBudget = history?.createBudget(this.#liveBudget) ?? this.#liveBudget;
    this.#history = history;
    this.#prepared = prepared;
    this.#dependencies = dependencies;
    this.#journal = journal;
    this.#overrides = new SessionOverrides(prepared.session);
    this.#budget = memory;
    this.#decisions = new SkipDecisions({
      prepared,
      overrides: this.#overrides,
      journal,
      memory,
      history,
      budget: this.#liveBudget,
    });
    this.nestedRunLimiter = new NestedRunLimiter(memory, dependencies.maxNestedPipelines);
  }

  input(subPipelineId: string): RunMachineInput {
    return toMachineInput(this.#getPrepared(subPipelineId));
  }

  /** Why sub-pipelines were skipped, by their ids, in the order in which they were. */
  get skipped(): ReadonlyMap<string, string> {
    return this.#decisions.skipped;
  }

  decide(subPipelineId: string, onDecided: (isSkipped: boolean) => void): void {
    this.#decisions.decide(subPipelineId, onDecided);
  }

  onSkipped(subPipelineId: string): void {
    this.#plan.emitStatus();
    this.#decisions.onSkipped(subPipelineId);
  }

  begin(subPipelineId: string, actor: RunActor): void {
    const run = new PipelineRun(
      this.#getPrepared(subPipelineId),
      this.#dependencies,
      this.#budget,
      this.#createContext(subPipelineId, actor),
    );
    this.begun.set(subPipelineId, run);
    run.work.startError = this.#decisions.onBegun(subPipelineId);
    this.#plan.emitStatus();
    if (run.mayPause) actor.subscribe(() => this.#plan.emitStatus());
    void run.begin();
  }

  /** The machine of handlers, which only force can end, has aborted all that they have at work. */
  cancelled(subPipelineId: string): void {
    this.#plan.emitStatus();
    this.begun.get(subPipelineId)?.onPlanCancelled();
  }

  beginHandlers(actor: RunActor, event: HandleEvent): void {
    this.#plan.onHandlersBegin();
    this.#plan.emitStatus();
    this.#handlers = new PipelineRun(
      this.#getPrepared(HANDLERS_ID),
      this.#dependencies,
      this.#budget,
      this.#createHandlersContext(actor, event),
    );
    void this.#handlers.begin();
  }

  /** The run of the plan's handlers; undefined until they begin: force may come first. */
  get handlers(): PipelineRun | undefined {
    return this.#handlers?.startedAt === null ? undefined : this.#handlers;
  }

  /** Call when the plan is stopped. */
  stop(): void {
    for (const run of this.begun.values()) run.onPlanStopped();
    this.#handlers?.onPlanStopped();
  }

  /** Applies what the sub-pipeline stored to the overrides of those that begin later. */
  ended(subPipelineId: string): void {
    const run = this.begun.get(subPipelineId);
    if (run !== undefined) this.#overrides.applyWrites(run.writes);
  }

  /** Finds a sub-pipeline other than this one that stores or reads the key. */
  findOtherUser(key: string, subPipelineId: string): string | undefined {
    this.#keyUses ??= new Map(this.#prepared.plan.statistics.keys.map((use) => [use.key, use]));
    const use = this.#keyUses.get(key);
    if (use === undefined) return undefined;
    const { stored_by, read_by } = use;
    if (stored_by !== null && stored_by !== subPipelineId) return stored_by;
    return read_by.find((id) => id !== subPipelineId);
  }

  conclude(onConcluded: (result: TaskResult) => void): void {
    this.concluded = this.#readBlackboard().then(onConcluded);
  }

  /** Why the plan failed although no task failed; undefined when there is no such reason. */
  get error(): string | undefined {
    if (this.#blackboardError !== undefined) return this.#blackboardError;
    for (const [id, { error }] of this.begun) {
      if (error !== null) return `sub-pipeline "${id}": ${error}`;
    }
    return undefined;
  }

  /** Reads all values for the result of the plan. Never rejects, whatever the blackboard does. */
  async #readBlackboard(): Promise<TaskResult> {
    const { blackboard, ownsBlackboard, tenantId, secrets } = this.#prepared;
    try {
      const all = assertRecord(await blackboard.getAll(tenantId));
      const budget = this.#liveBudget;
      const { json, sizeBytes } = await runWithPauses(copyToJsonInSteps(all, secrets.masker), () =>
        nextSliceWhenOver(budget),
      );
      this.blackboard = json as Record<string, Json>;
      // Other writers may use a blackboard that the caller provided, so the copy shares nothing with the outputs.
      if (!ownsBlackboard) this.#budget.reserve(sizeBytes);
      return { ok: true };
    } catch (thrown) {
      this.#blackboardError = `the blackboard cannot be read: ${errorMessage(thrown)}`;
      return { ok: false, error: this.#blackboardError };
    }
  }

  #getPrepared(subPipelineId: string): PreparedRun {
    const { subRuns, handlers } = this.#prepared;
    const prepared = subPipelineId === HANDLERS_ID ? handlers : subRuns.get(subPipelineId);
    if (prepared === undefined) throw new Error(`the plan has no sub-pipeline "${subPipelineId}"`);
    return prepared;
  }

  #createContext(subPipelineId: string, actor: RunActor): ParentRunContext {
    const { plan } = this.#prepared;
    return {
      ...this.#createSharedContext(actor),
      journal: new NestedJournal(this.#journal, { sub_pipeline: subPipelineId }),
      keyPath: `${subPipelineId}/`,
      history: this.#history?.ofSubPipeline(subPipelineId),
      onFailure: (failure) => this.failures.push({ sub_pipeline: subPipelineId, ...failure }),
      stores: {
        subPipeline: subPipelineId,
        keys: new Set(plan.subPipelines.get(subPipelineId)?.stores),
        plan: this,
      },
      pipelinePath: [subPipelineId],
    };
  }

  /** Handlers of the plan stand in no sub-pipeline, and may store any key: nobody reads after them. */
  #createHandlersContext(actor: RunActor, event: HandleEvent): ParentRunContext {
    return {
      ...this.#createSharedContext(actor),
      handledPlan: { end: this.#plan, event },
      journal: new NestedJournal(this.#journal, {}),
      keyPath: '',
      history: this.#history?.ofHandlers(),
      onFailure: undefined,
      stores: undefined,
      pipelinePath: [this.#prepared.plan.definition.id],
    };
  }

  /** The part that sub-pipelines and handlers have in common. */
  #createSharedContext(actor: RunActor) {
    return {
      origin: this.#plan,
      actor,
      // A copy for each of many sub-pipelines would take more memory than all else.
      overrides: this.#overrides.fork(),
      onPermanentFailure: undefined,
      nestedRunLimiter: this.nestedRunLimiter,
      heldPool: undefined,
      calledPipelines: undefined,
      callingAttempt: undefined,
    } satisfies Partial<ParentRunContext>;
  }
}
