import type { Clock } from '../common/clock.js';
import { WavetrainError } from '../common/errors.js';
import { estimateBytesInSteps, type JsonObject } from '../common/json/json.js';
import type { AnyRun, KeptRun, LocalExecutor } from '../execution/local-executor.js';
import type { Fact } from '../execution/history/fact.js';
import { PastFacts } from '../execution/history/past-facts.js';
import { MAX_CRASHES_IN_VAIN } from '../execution/history/run-history.js';
import type { PublishedFile } from '../execution/invocation/files/artifact-store.js';
import {
  createRunId,
  readSubmittedKeys,
  readSubmittedText,
  type WithSubmittedKeys,
} from '../execution/prepare/prepare-run.js';
import {
  canReuse,
  measureSource,
  type PlanRerunSource,
  type RerunSource,
} from '../execution/prepare/rerun-source.js';
import type { CheckedDefinition, PlanInputs, RunInputs } from '../execution/prepare/run-inputs.js';
import type { SubmissionOptions } from './registry-options.js';
import { type SourcePart, writeSource } from './rerun/source-parts.js';
import { EndingLog } from './store/ending-log.js';
import type { MissingRunFiles } from './rerun/missing-run-files.js';
import { StoredSource } from './rerun/stored-source.js';
import type { StoredRunHead } from './store/run-archive.js';
import type { KeptSource, RunStore, StoredFact, StoredSubmission } from './store/run-store.js';

/** A run that is asked for, and what it can reuse of an earlier one. */
export type RequestedRun =
  | {
      readonly kind: 'pipeline';
      inputs: RunInputs & WithSubmittedKeys;
      readonly source?: RerunSource | undefined;
    }
  | {
      readonly kind: 'plan';
      inputs: PlanInputs & WithSubmittedKeys;
      readonly source?: PlanRerunSource | undefined;
      /** The plan of the run that it repeats. */
      readonly earlier?: PlanInputs['plan'] | undefined;
    };

/** Checks a definition that was accepted before. Rejects with its problems when it is not valid any more. */
export type ReviveDefinition = (
  stored: StoredDefinition,
  values: RevivedValues,
) => Promise<CheckedDefinition>;

export type StoredDefinition = Pick<StoredSubmission, 'kind' | 'definition' | 'pipelines'>;

export interface RevivedValues extends Pick<StoredSubmission, 'inputs' | 'session' | 'tenant_id'> {
  /** No tool of the run is called again: some may not be there any more. */
  readonly isForSettledRun: boolean;
  /** True when the version and the catalog of this process have checked the definition before. */
  readonly isChecked: boolean;
}

type RunOrigin = Pick<SubmissionOptions, 'idempotency' | 'trigger' | 'startedBy'>;

/** A run and its number: they count from 1, in the order in which they were accepted. */
export interface CreatedRun {
  readonly run: AnyRun;
  readonly number: number;
}

/** A run that another process has accepted. */
export interface RestoredRun extends CreatedRun {
  /** Gives back the memory of the facts. Call when the run was rebuilt. */
  readonly release: () => void;
}

export interface RestoreContext {
  readonly store: RunStore;
  readonly revive: ReviveDefinition;
  readonly missingFiles: MissingRunFiles;
  /** Takes memory, and returns a function that gives it back. @throws WavetrainError `queue_full` or `memory_full` */
  readonly reserve: (bytes: number) => () => void;
}

/** Creates runs: new ones, which are added to the store if there is one, and those that the store has (D68). */
export class RunFactory {
  readonly #executor: LocalExecutor;
  readonly #clock: Clock;
  readonly #store: RunStore | undefined;
  readonly #checkedBy: string | undefined;
  #created = 0;

  constructor(executor: LocalExecutor, clock: Clock, store: RunStore | undefined, checkedBy?: string) {
    this.#executor = executor;
    this.#clock = clock;
    this.#store = store;
    this.#checkedBy = checkedBy;
  }

  /** Creates a run that is accepted now. Throws as `LocalExecutor.createRun`. */
  create(requested: RequestedRun, tenantId: string, origin: RunOrigin): CreatedRun {
    const store = this.#store;
    if (store === undefined) {
      return { run: createRequestedRun(this.#executor, requested, origin), number: ++this.#created };
    }
    // Lists find the runs of a day by their numbers, so that times never go back.
    const createdAt = Math.max(this.#clock.now(), store.lastCreatedAt);
    const id = createRunId(createdAt);
    const past = { id, createdAt, isRestored: false, facts: PastFacts.of([]) };
    const log = new EndingLog(store.log(id, tenantId), store.archive);
    const run = createRequestedRun(this.#executor, requested, origin, { log, past });
    log.run = run;
    const number = store.lastNumber + 1;
    const started = { ...origin, startedBy: run.startedBy };
    const submission = toSubmission(requested, tenantId, started, this.#checkedBy);
    const source = toKeptSource(requested, run, this.#executor);
    store.add({ id, number, createdAt, submission }, source);
    return { run, number };
  }

  /**
   * Creates a run of the store again. Resolves with undefined for one that was not accepted, because a process ended before
   * what it may reuse was kept. Rejects when this version of Wavetrain, its tools or its settings do not accept it any more,
   * and with `queue_full` or `memory_full` when there is no memory for it.
   */
  async restore(head: StoredRunHead, context: RestoreContext): Promise<RestoredRun | undefined> {
    const { store } = context;
    const { id, number, tenantId } = head;
    const { stepRunner } = this.#executor;
    const stored = await store.facts(id);
    const release = context.reserve(await stepRunner.run(estimateBytesInSteps(stored), tenantId));
    try {
      const run = await this.#createAgain(head, stored, context);
      if (run !== undefined) return { run, number, release };
    } catch (error) {
      release();
      throw error;
    }
    release();
    return undefined;
  }

  async #createAgain(
    { id, createdAt, tenantId }: StoredRunHead,
    stored: readonly StoredFact[],
    { store, revive, missingFiles, reserve }: RestoreContext,
  ): Promise<AnyRun | undefined> {
    const { stepRunner } = this.#executor;
    const { parts, facts } = separate(stored);
    const past = await stepRunner.run(PastFacts.readInSteps(facts), tenantId);
    assertNoCrashLoop(past);
    const submission = await store.submission(id);
    if (submission === undefined) return undefined;
    const state = { isForSettledRun: past.settledAt !== undefined, isChecked: this.#hasChecked(submission) };
    // The run takes memory of its own for what it was given: it is not counted twice.
    reserve(await stepRunner.run(estimateBytesInSteps(submission), tenantId))();
    const requested = await toRequestedRun(submission, revive, state);
    const log = new EndingLog(store.log(id, tenantId), store.archive);
    const kept = { log, past: { id, createdAt, isRestored: true, facts: past } };
    const { rerun } = submission;
    const origin = readOrigin(submission);
    if (rerun === undefined) return (log.run = createRequestedRun(this.#executor, requested, origin, kept));
    const source = await stepRunner.run(StoredSource.read(rerun.run_id, parts), tenantId);
    if (!source.isComplete && !store.isOptional) return undefined;
    const findEarlier = await reviveEarlier(source, { ...submission, ...state, isChecked: false }, revive);
    missingFiles.create(rerun.run_id, source.files);
    const reused = { ...requested, source: source.toRunSource(requested.kind) } as RequestedRun;
    const run = createRequestedRun(this.#executor, reused, origin, kept);
    log.run = run;
    source.complete(run, findEarlier);
    return run;
  }

  #hasChecked({ checked_by: checkedBy }: StoredSubmission): boolean {
    return this.#checkedBy !== undefined && checkedBy === this.#checkedBy;
  }
}

/** @throws WavetrainError `internal` for a run whose rebuilding has ended the process again and again */
function assertNoCrashLoop({ crashesInVain }: PastFacts): void {
  if (crashesInVain < 2 * MAX_CRASHES_IN_VAIN) return;
  throw new WavetrainError('internal', `the process ended ${crashesInVain} times when it was rebuilt`);
}

/** Creates a run, queued. Throws as `LocalExecutor.createRun`. */
function createRequestedRun(
  executor: LocalExecutor,
  requested: RequestedRun,
  { trigger, startedBy }: RunOrigin,
  kept?: KeptRun,
): AnyRun {
  const run =
    requested.kind === 'plan'
      ? executor.createPlanRun(requested.inputs, requested.source, undefined, kept)
      : executor.createRun(requested.inputs, requested.source, undefined, kept);
  run.trigger = trigger ?? null;
  if (startedBy !== undefined) run.startedBy = startedBy;
  return run;
}

/** Earlier versions have kept only what of the folder has started a run. */
function readOrigin({ trigger, started_by, definition }: StoredSubmission): RunOrigin {
  if (started_by !== undefined) return { trigger, startedBy: started_by };
  if (trigger === undefined) return { startedBy: { kind: 'anonymous', name: null } };
  const { id } = definition;
  return { trigger, startedBy: { kind: trigger, name: typeof id === 'string' ? id : null } };
}

/** Returns the submission of a request as it is kept, as JSON. */
function toSubmission(
  { kind, inputs: given, source }: RequestedRun,
  tenantId: string,
  { idempotency, trigger, startedBy }: RunOrigin,
  checkedBy: string | undefined,
): StoredSubmission {
  const { params, inputs, session, options, breakpoints, labels, collect_events } = given as RunInputs;
  const { plan_concurrency } = given as PlanInputs;
  const submittedText = readSubmittedText(given);
  return {
    kind,
    ...(kind === 'plan'
      ? describePlan(given.plan)
      : { definition: given.pipeline.definition as unknown as JsonObject }),
    ...(submittedText !== undefined && { submitted_text: submittedText }),
    ...(params && { params }),
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(options && { options }),
    ...(breakpoints && { breakpoints }),
    ...(labels && { labels }),
    ...(collect_events !== undefined && { collect_events }),
    ...(plan_concurrency !== undefined && { plan_concurrency }),
    tenant_id: tenantId,
    submitted_keys: readSubmittedKeys(given),
    ...(idempotency && { idempotency }),
    ...(trigger && { trigger }),
    ...(startedBy && { started_by: startedBy }),
    ...(checkedBy !== undefined && { checked_by: checkedBy }),
    ...(source && { rerun: { run_id: source.runId } }),
  };
}

/** The pipelines of a plan may come from files: it is checked again with what they were. */
function describePlan(
  plan: PlanInputs['plan'],
): Required<Pick<StoredSubmission, 'definition' | 'pipelines'>> {
  const pipelines = [...plan.subPipelines].map(([id, { pipeline }]): [string, JsonObject] => [
    id,
    pipeline.definition as unknown as JsonObject,
  ]);
  return { definition: plan.definition as unknown as JsonObject, pipelines: Object.fromEntries(pipelines) };
}

/** Makes a request of what was kept of one, without what it can reuse. Rejects as `revive` does. */
async function toRequestedRun(
  submission: StoredSubmission,
  revive: ReviveDefinition,
  state: Pick<RevivedValues, 'isForSettledRun' | 'isChecked'>,
): Promise<RequestedRun> {
  const {
    kind,
    definition,
    pipelines,
    rerun: _rerun,
    idempotency: _key,
    trigger: _trigger,
    started_by: _startedBy,
    submitted_keys,
    checked_by: _checkedBy,
    command: _command,
    ...values
  } = submission;
  const inputs = { ...values, submittedKeys: submitted_keys };
  const revived = await revive(
    { kind, definition, ...(pipelines && { pipelines }) },
    { ...values, ...state },
  );
  return revived.kind === 'plan'
    ? { kind: 'plan', inputs: { ...inputs, plan: revived.plan } }
    : { kind: 'pipeline', inputs: { ...inputs, pipeline: revived.pipeline } };
}

/** Returns the parts that a rerun can reuse, as they are kept; undefined for a run that is no rerun. */
function toKeptSource(requested: RequestedRun, run: AnyRun, executor: LocalExecutor): KeptSource | undefined {
  const { source } = requested;
  if (source === undefined) return undefined;
  const files = canReuse(source) ? executor.storedFilesOf(source.runId) : [];
  const sources = 'subRuns' in source ? [...source.subRuns.values()] : [source];
  const bytes = sources.reduce((sum, each) => sum + measureSource(each), 0);
  return { bytes, parts: writeParts(requested, run.prepared, files) };
}

function* writeParts(
  requested: RequestedRun,
  prepared: AnyRun['prepared'],
  files: readonly PublishedFile[],
): Iterable<SourcePart> {
  if (files.length > 0) yield { part: 'files', files };
  if (requested.kind === 'plan') {
    const { earlier, inputs, source } = requested;
    if (earlier !== undefined && earlier !== inputs.plan) yield { part: 'plan', ...describePlan(earlier) };
    for (const [id, subRun] of 'subRuns' in prepared ? prepared.subRuns : []) {
      const subSource = source?.subRuns.get(id);
      if (subSource !== undefined) yield* writeSource(subSource, subRun, id);
    }
  } else if (requested.source !== undefined && !('subRuns' in prepared)) {
    yield* writeSource(requested.source, prepared);
  }
  yield { part: 'complete' };
}

/** Divides what is kept of a run: the parts of what it may reuse come first. */
function separate(kept: readonly StoredFact[]): { readonly parts: SourcePart[]; readonly facts: Fact[] } {
  const parts: SourcePart[] = [];
  for (const each of kept) {
    if (!('part' in each)) break;
    parts.push(each);
  }
  return { parts, facts: kept.slice(parts.length) as Fact[] };
}

/** Checks the definitions that the earlier run of a rerun had, where they are others. Rejects as `revive` does. */
async function reviveEarlier(
  { plan, definition }: StoredSource,
  values: RevivedValues,
  revive: ReviveDefinition,
): Promise<(subPipeline: string | undefined) => RunInputs['pipeline'] | undefined> {
  const stored: StoredDefinition | undefined =
    plan === undefined ? definition && { kind: 'pipeline', definition } : { kind: 'plan', ...plan };
  const revived = stored && (await revive(stored, values));
  if (revived?.kind === 'plan') {
    const { subPipelines } = revived.plan;
    return (id) => (id === undefined ? undefined : subPipelines.get(id)?.pipeline);
  }
  return () => revived?.pipeline;
}
