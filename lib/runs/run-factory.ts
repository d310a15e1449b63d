import type { Clock } from '../common/clock.js';
import type { JsonObject } from '../common/json/json.js';
import { PastFacts } from '../execution/history/past-facts.js';
import type { PublishedFile } from '../execution/invocation/files/published-file.js';
import type { AnyRun, ExecutionRequest, LocalExecutor } from '../execution/local-executor.js';
import { createRunId, readSubmittedKeys, readSubmittedText } from '../execution/prepare/prepare-run.js';
import { canReuse, measureSource } from '../execution/prepare/rerun-source.js';
import { readRunGroup, type RunGroup } from '../execution/prepare/run-group.js';
import type { PlanInputs, RunInputs } from '../execution/prepare/run-inputs.js';
import type { ConcurrencyGroups } from './queue/concurrency-groups.js';
import type { RegistryOptions, SubmissionObserver, SubmissionOptions } from './registry-options.js';
import { type SourcePart, writeSource } from './rerun/source-parts.js';
import { EndingLog } from './store/ending-log.js';
import type { KeptSource, RunStore, StoredSubmission } from './store/run-store.js';

/** A run that is asked for, and what it can reuse of an earlier one. */
export type RequestedRun = ExecutionRequest & {
  /** The plan of the run that it repeats; undefined for a pipeline. */
  readonly earlier?: PlanInputs['plan'] | undefined;
};

export interface RunOrigin
  extends Pick<SubmissionOptions, 'idempotency' | 'trigger' | 'startedBy' | 'address' | 'isOfFolder'> {
  readonly group?: RunGroup | undefined;
}

/** A run and its number: they count from 1, in the order in which they were accepted. */
export interface CreatedRun {
  readonly run: AnyRun;
  readonly number: number;
}

type FactoryOptions = Pick<RegistryOptions, 'checkedBy' | 'submissions'>;

/** Creates the runs that are accepted now, and adds them to the store if there is one (D68). */
export class RunFactory {
  readonly #executor: LocalExecutor;
  readonly #clock: Clock;
  readonly #store: RunStore | undefined;
  readonly #options: FactoryOptions;
  #created = 0;

  constructor(
    executor: LocalExecutor,
    clock: Clock,
    store: RunStore | undefined,
    options: FactoryOptions = {},
  ) {
    this.#executor = executor;
    this.#clock = clock;
    this.#store = store;
    this.#options = options;
  }

  /**
   * Creates a run that is accepted now. Throws as `LocalExecutor.createRun`, and `busy`.
   *
   * @param groups of those with `max_running`; undefined for a run that is not held to it
   */
  create(
    requested: RequestedRun,
    tenantId: string,
    from: Omit<RunOrigin, 'group'>,
    groups?: ConcurrencyGroups,
  ): CreatedRun {
    const group = groups && readRunGroup(requested);
    if (group !== undefined) groups?.assertRoom(tenantId, group);
    const origin: RunOrigin = { ...from, group };
    const store = this.#store;
    if (store === undefined) {
      const created = this.#executor.create(requested);
      setOrigin(created, origin);
      announce(created, origin, this.#options.submissions);
      return { run: created, number: ++this.#created };
    }
    // Lists find the runs of a day by their numbers, so that times never go back.
    const createdAt = Math.max(this.#clock.now(), store.lastCreatedAt);
    const id = createRunId(createdAt);
    const past = { id, createdAt, isRestored: false, facts: PastFacts.of([]) };
    const log = new EndingLog(store.log(id, tenantId), store.archive);
    const run = this.#executor.create(requested, { log, past });
    setOrigin(run, origin);
    log.run = run;
    const number = store.lastNumber + 1;
    const started = { ...origin, startedBy: run.startedBy };
    const submission = toSubmission(requested, tenantId, started, this.#options.checkedBy?.());
    const source = toKeptSource(requested, run, this.#executor);
    store.add({ id, number, createdAt, submission }, source);
    announce(run, origin, this.#options.submissions);
    return { run, number };
  }
}

/** Returns the submission of a request as it is kept, as JSON. */
function toSubmission(
  { kind, inputs: given, source }: RequestedRun,
  tenantId: string,
  { idempotency, trigger, startedBy, isOfFolder, group }: RunOrigin,
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
    ...(isOfFolder === true && { is_of_folder: true }),
    ...(group && { group }),
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

/** Says who has asked for a run, and which secrets it reads. */
function announce(run: AnyRun, { address }: RunOrigin, observer: SubmissionObserver | undefined): void {
  if (observer === undefined) return;
  const { id, tenantId, definitionId, startedBy, rerunOf } = run;
  const submitted = {
    run_id: id,
    tenant_id: tenantId,
    pipeline_id: definitionId,
    started_by: startedBy,
    rerun_of: rerunOf,
    address,
  };
  observer.onSubmitted(submitted);
  const { secrets } = run.prepared;
  const names = Object.keys(secrets.values ?? {});
  if (names.length > 0) observer.onSecrets(submitted, names);
  secrets.onAdded = (added) => observer.onSecrets(submitted, added);
}

/** Call before anybody can see the run. */
export function setOrigin(run: AnyRun, { trigger, startedBy, isOfFolder = false, group }: RunOrigin): void {
  run.isOfFolder = isOfFolder;
  run.group = group ?? null;
  run.trigger = trigger ?? null;
  if (startedBy !== undefined) run.startedBy = startedBy;
}
