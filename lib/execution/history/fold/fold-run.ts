import { HANDLERS_ID } from '../../../../machines/sub-runs.js';
import { type Clock, Timeline } from '../../../common/clock.js';
import type { TaskFailure } from '../../../common/errors.js';
import type { Json, JsonObject } from '../../../common/json/json.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { ItemEvent, LiveEvent, SubPipelineEvent, TaskEvent } from '../../events/event.js';
import { type CountedEvent, isCounted, Journal } from '../../events/journal.js';
import type { Fact, PlacedFact } from '../fact.js';
import { isInsideAttempt } from '../nested-places.js';
import type { ArtifactStore } from '../../invocation/files/artifact-store.js';
import type { PublishedFile } from '../../invocation/files/published-file.js';
import { copyToJsonInSteps } from '../../invocation/json-output.js';
import type { MemoryBudget } from '../../memory-budget.js';
import type { PreparedPlan } from '../../prepare/prepare-plan.js';
import type { PreparedRun } from '../../prepare/prepare-run.js';
import type { RunSummary } from '../../../common/wire/run-summary.js';
import { type EarlierStores, earlierStores, InputRenderer } from '../../run/input-renderer.js';
import { createRunNamespace, type EndOfTasks } from '../../run/run-namespace.js';
import { assertRecord } from '../../session/session.js';
import type { Write } from '../../session/session-overrides.js';
import { StoredValues } from '../../session/stored-values.js';
import { FoldedPipelineRun, FoldedPlanRun, type FoldedParts, FoldedSubRun } from './folded-run.js';
import { FoldedWork } from './folded-work.js';
import type { ReadableWork } from '../../run/readable-run.js';

/** The place of a plan, where its handlers are too. */
const PLAN_PLACE = '';

/** So many facts are folded in less than a millisecond. */
const FACTS_PER_STEP = 500;

interface FoldContext {
  readonly summary: RunSummary;
  /** All facts of the run, in order. */
  readonly facts: readonly Fact[];
  readonly clock: Clock;
  readonly artifacts: ArtifactStore;
  readonly budget: MemoryBudget;
  readonly urlOfRun: (runId: string) => string | null;
}

/** Folds a settled run of a pipeline from its facts, without a machine or a tool, in steps (D74). */
export function* foldPipelineRun(prepared: PreparedRun, context: FoldContext): Steps<FoldedPipelineRun> {
  const work = new FoldedWork({
    ...context,
    prepared,
    subPipeline: undefined,
    createNamespace: (areHandled) => {
      return toNamespace(context, areHandled ? toEnd(context.summary) : undefined);
    },
    createRenderer: (found) =>
      new InputRenderer(
        { prepared, work: found },
        () => ({ session: prepared.session, writes: [] }),
        (bytes) => void context.budget.tryReserve(bytes),
      ),
  });
  const found = yield* foldFacts(context, { find: () => work });
  return new FoldedPipelineRun(prepared, work, toParts(prepared, context, found));
}

/** Reads the blackboard that the caller of a plan has provided; undefined when the plan has one of its own. */
export async function readShared({
  ownsBlackboard,
  blackboard,
  tenantId,
}: PreparedPlan): Promise<JsonObject | undefined> {
  return ownsBlackboard ? undefined : assertRecord(await blackboard.getAll(tenantId));
}

/**
 * Folds a settled run of a plan, in steps.
 *
 * @param shared all values of a blackboard that the caller of the run has provided; undefined when the plan has one of its own
 */
export function* foldPlanRun(
  prepared: PreparedPlan,
  context: FoldContext,
  shared: Record<string, Json> | undefined,
): Steps<FoldedPlanRun> {
  const plan = new PlanFold(prepared, context);
  const found = yield* foldFacts(context, {
    find: (place) => plan.find(place)?.work,
    onStatus: (event) => plan.onStatus(event),
    onBegun: (place, at) => plan.onBegun(place, at),
    onSkipped: (place, reason) => void plan.skipped.set(place, reason),
  });
  const { json } = yield* copyToJsonInSteps(shared ?? plan.stored.values, prepared.secrets.masker);
  const subRuns = {
    begun: plan.begun,
    skipped: plan.skipped,
    handlers: plan.handlers,
    failures: plan.failures,
    blackboard: json as JsonObject,
  };
  return new FoldedPlanRun(prepared, subRuns, toParts(prepared, context, found));
}

/** The sub-pipelines of a plan while its facts are folded. */
class PlanFold {
  readonly begun = new Map<string, FoldedSubRun>();
  /** The handlers of the plan; undefined until they begin. */
  handlers: FoldedSubRun | undefined;
  /** Why sub-pipelines were skipped, by their ids. */
  readonly skipped = new Map<string, string>();
  readonly failures: TaskFailure[] = [];
  readonly stored = new StoredValues({}, undefined);
  readonly #prepared: PreparedPlan;
  readonly #context: FoldContext;

  constructor(prepared: PreparedPlan, context: FoldContext) {
    this.#prepared = prepared;
    this.#context = context;
  }

  /** Undefined for a sub-pipeline that the plan does not have. @param id the place of the plan for its handlers */
  find(id: string): FoldedSubRun | undefined {
    if (id === PLAN_PLACE) return this.handlers;
    const found = this.begun.get(id);
    const prepared = this.#prepared.subRuns.get(id);
    if (found !== undefined || prepared === undefined) return found;
    const run = new FoldedSubRun(prepared, this.#createWork(id, prepared));
    this.begun.set(id, run);
    return run;
  }

  #beginHandlers(): FoldedSubRun | undefined {
    const { handlers: prepared } = this.#prepared;
    this.handlers = prepared && new FoldedSubRun(prepared, this.#createHandlersWork(prepared));
    return this.handlers;
  }

  #createHandlersWork(prepared: PreparedRun): FoldedWork {
    return new FoldedWork({
      ...this.#context,
      prepared,
      subPipeline: undefined,
      createNamespace: () => toNamespace(this.#context, toEnd(this.#context.summary)),
      createRenderer: (work) => this.#createRenderer(prepared, work, () => this.handlers),
    });
  }

  #createWork(id: string, prepared: PreparedRun): FoldedWork {
    return new FoldedWork({
      ...this.#context,
      prepared,
      subPipeline: id,
      createNamespace: (areHandled) =>
        toNamespace(this.#context, areHandled ? this.begun.get(id) : undefined),
      createRenderer: (work) => this.#createRenderer(prepared, work, () => this.begun.get(id)),
      onFailure: (failure) => this.failures.push({ sub_pipeline: id, ...failure }),
      onWrites: (writes) => this.#store(writes),
    });
  }

  #createRenderer(
    prepared: PreparedRun,
    work: ReadableWork,
    findRun: () => FoldedSubRun | undefined,
  ): InputRenderer {
    const { session } = this.#prepared;
    const findEarlier = (): EarlierStores => {
      const run = findRun();
      return run === undefined ? { session, writes: [] } : earlierStores(session, this.begun.values(), run);
    };
    const { budget } = this.#context;
    return new InputRenderer({ prepared, work }, findEarlier, (bytes) => void budget.tryReserve(bytes));
  }

  #store(writes: readonly Write[]): void {
    for (const write of writes) this.stored.apply(write);
  }

  onBegun(id: string, at: number): void {
    if (id === PLAN_PLACE) return;
    const run = id === HANDLERS_ID ? this.#beginHandlers() : this.find(id);
    if (run !== undefined) run.startedAt = at;
  }

  onStatus({ sub_pipeline: id, status, time, ...event }: SubPipelineEvent): void {
    // A skipped one has no run.
    const run = status === 'skipped' ? undefined : this.find(id);
    if (run === undefined || status === 'skipped') return;
    run.status = status;
    run.error = event.error ?? null;
    run.errorCode = event.error_code ?? null;
    run.failedTask = event.failed_task ?? null;
    if (status !== 'queued' && status !== 'running') run.finishedAt = Date.parse(time);
  }
}

function toEnd({ status, error, error_code: errorCode, failed_task: failedTask }: RunSummary): EndOfTasks {
  return { status, error, errorCode, failedTask };
}

function toNamespace(
  { summary, urlOfRun }: FoldContext,
  end: Parameters<typeof createRunNamespace>[2],
): JsonObject {
  const { run_id: id, trigger, started_by: startedBy } = summary;
  return createRunNamespace({ id, trigger, startedBy }, urlOfRun(id), end);
}

/** The facts of the run as a whole. */
interface RunFacts {
  readonly events: LiveEvent[];
  readonly counted: CountedEvent[];
  readonly files: PublishedFile[];
}

/** The pipelines of a run while its facts are folded. */
interface FoldTarget {
  /** Undefined for a place whose facts do not count. */
  readonly find: (place: string) => FoldedWork | undefined;
  readonly onStatus?: (event: SubPipelineEvent) => void;
  readonly onBegun?: (place: string, at: number) => void;
  readonly onSkipped?: (place: string, reason: string) => void;
}

/** Hands each fact of a pipeline to its work, in order, and collects those of the run as a whole. */
function* foldFacts({ facts }: FoldContext, target: FoldTarget): Steps<RunFacts> {
  const found: RunFacts = { events: [], counted: [], files: [] };
  const isLost = findLost(facts);
  for (const [position, fact] of facts.entries()) {
    if (position % FACTS_PER_STEP === FACTS_PER_STEP - 1) yield;
    if (fact.kind === 'event') yield* foldEvent(fact.event, found, target);
    else if (fact.kind === 'files') found.files.push(...fact.files);
    else if ('place' in fact && !isInsideAttempt(fact.place) && !isLost(position)) foldPlaced(fact, target);
  }
  return found;
}

function* foldEvent(
  event: LiveEvent,
  { events, counted }: RunFacts,
  { find, onStatus }: FoldTarget,
): Steps<void> {
  events.push(event);
  if (isCounted(event)) counted.push(event);
  if ('within' in event && event.within !== undefined) return;
  if (event.kind === 'sub_pipeline') onStatus?.(event);
  else if (event.kind === 'item') find(placeOf(event))?.addItem(event);
  else if (event.kind === 'start') {
    const work = find(placeOf(event));
    if (work !== undefined) yield* work.begin(event);
  }
}

function foldPlaced(fact: PlacedFact, { find, onBegun, onSkipped }: FoldTarget): void {
  if (fact.kind === 'begun') onBegun?.(fact.place, fact.at);
  else if (fact.kind === 'decided') {
    if (fact.reason !== undefined) onSkipped?.(fact.place, fact.reason);
  } else find(fact.place)?.add(fact);
}

function placeOf({ sub_pipeline: subPipeline = '' }: TaskEvent | ItemEvent): string {
  return subPipeline;
}

/** Returns a function that says of the position of a fact whether the run has diverged from it, and gone on without it. */
function findLost(facts: readonly Fact[]): (position: number) => boolean {
  const divergences = facts.flatMap((fact, position) =>
    fact.kind === 'diverged' ? [{ from: fact.from, to: position }] : [],
  );
  return (position) => divergences.some(({ from, to }) => from <= position && position < to);
}

function toParts(
  prepared: { readonly id: string; readonly collectEvents: boolean },
  { summary, budget, artifacts, clock }: FoldContext,
  { events, counted, files }: RunFacts,
): FoldedParts {
  const journal = new Journal(prepared.id, new Timeline(clock), prepared.collectEvents, budget);
  journal.restore(counted);
  artifacts.restore(prepared.id, budget, files, () => undefined);
  return { summary, journal, budget, artifacts, events };
}
