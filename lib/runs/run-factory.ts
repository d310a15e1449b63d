import type { Clock } from '../common/clock.js';
import { errorMessage, WavetrainError } from '../common/errors.js';
import type { JsonObject } from '../common/json.js';
import { warnHost } from '../common/warnings.js';
import type { RunTrigger } from '../execution/run/base-run.js';
import type { AnyRun, KeptRun, LocalExecutor } from '../execution/local-executor.js';
import type { Fact } from '../execution/history/fact.js';
import { PastFacts } from '../execution/history/past-facts.js';
import { MAX_CRASHES_IN_VAIN } from '../execution/history/run-history.js';
import type { PublishedFile } from '../execution/invocation/artifact-store.js';
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
import type { PlanInputs, RunInputs } from '../execution/run-inputs.js';
import type { IdempotencyKey } from './idempotency.js';
import { type SourcePart, writeSource } from './rerun/source-parts.js';
import { StandIns } from './rerun/stand-ins.js';
import { StoredSource } from './rerun/stored-source.js';
import type { KeptSource, RunStore, StoredFact, StoredRun, StoredSubmission } from './store/run-store.js';

/** A run that is asked for, and what it can reuse of an earlier one. */
export type RequestedRun =
  | {
      readonly kind: 'pipeline';
      readonly trigger?: RunTrigger | undefined;
      readonly inputs: RunInputs & WithSubmittedKeys;
      readonly source?: RerunSource | undefined;
    }
  | {
      readonly kind: 'plan';
      readonly trigger?: RunTrigger | undefined;
      readonly inputs: PlanInputs & WithSubmittedKeys;
      readonly source?: PlanRerunSource | undefined;
      /** The plan of the run that it repeats. */
      readonly earlier?: PlanInputs['plan'] | undefined;
    };

/** Checks a definition that was accepted before. Rejects with its problems when it is not valid any more. */
export interface ReviveDefinitions {
  pipeline(definition: JsonObject, values: SubmittedValues): Promise<RunInputs['pipeline']>;
  plan(
    definition: JsonObject,
    pipelines: Readonly<Record<string, JsonObject>>,
    values: SubmittedValues,
  ): Promise<PlanInputs['plan']>;
}

interface SubmittedValues extends Pick<StoredSubmission, 'inputs' | 'session' | 'tenant_id'> {
  /** No tool of the run is called again: some may not be there any more. */
  readonly hasSettled: boolean;
}

/** A run and its number: they count from 1, in the order in which they were accepted. */
export interface CreatedRun {
  readonly run: AnyRun;
  readonly number: number;
}

/** A run that another process has accepted. */
export interface RestoredRun extends CreatedRun {
  readonly idempotency: IdempotencyKey | undefined;
}

/** Creates runs: new ones, which are added to the store if there is one, and those that the store has (D68). */
export class RunFactory {
  readonly #executor: LocalExecutor;
  readonly #clock: Clock;
  readonly #store: RunStore | undefined;
  #created = 0;

  constructor(executor: LocalExecutor, clock: Clock, store: RunStore | undefined) {
    this.#executor = executor;
    this.#clock = clock;
    this.#store = store;
  }

  /** Creates a run that is accepted now. Throws as `LocalExecutor.createRun`. */
  create(requested: RequestedRun, tenantId: string, idempotency: IdempotencyKey | undefined): CreatedRun {
    const store = this.#store;
    if (store === undefined) {
      return { run: createRequestedRun(this.#executor, requested), number: ++this.#created };
    }
    const createdAt = this.#clock.now();
    const id = createRunId(createdAt);
    const past = { id, createdAt, isRestored: false, facts: PastFacts.of([]) };
    const run = createRequestedRun(this.#executor, requested, { log: store.log(id, tenantId), past });
    const number = store.lastNumber + 1;
    const submission = toSubmission(requested, tenantId, idempotency);
    const source = toKeptSource(requested, run, this.#executor);
    store.add({ id, number, createdAt, submission }, source);
    return { run, number };
  }

  /**
   * Creates the runs of the store again, those that have not settled first. Warns of each that this version of
   * Wavetrain, its tools or its settings do not accept any more: it stays in the store. One that was not accepted, because
   * a process ended before what it may reuse was kept, is removed.
   */
  async *restore(store: RunStore, revive: ReviveDefinitions): AsyncIterable<RestoredRun> {
    const standIns = new StandIns(this.#executor);
    const seen = new Set<string>();
    for await (const stored of store.runs()) {
      const { id, number, submission } = stored;
      if (seen.has(id)) continue;
      seen.add(id);
      standIns.keep(id);
      try {
        const run = await this.#createAgain(store, stored, revive, standIns);
        if (run === undefined) store.remove(id);
        else yield { run, number, idempotency: submission.idempotency };
      } catch (error) {
        warnHost(`run ${id} cannot be rebuilt: ${errorMessage(error)}`);
      }
    }
    standIns.forget();
  }

  /** Resolves with undefined for a rerun that was not accepted. */
  async #createAgain(
    store: RunStore,
    { id, createdAt, submission }: StoredRun,
    revive: ReviveDefinitions,
    standIns: StandIns,
  ): Promise<AnyRun | undefined> {
    const { rerun, tenant_id: tenantId } = submission;
    const { stepRunner } = this.#executor;
    const { parts, facts } = separate(await store.facts(id));
    const past = await stepRunner.run(PastFacts.readInSteps(facts), tenantId);
    const hasSettled = past.settledAt !== undefined;
    const requested = await toRequestedRun(submission, revive, hasSettled);
    if (past.crashesInVain >= 2 * MAX_CRASHES_IN_VAIN) {
      throw new WavetrainError(
        'internal',
        `the process ended ${past.crashesInVain} times when it was rebuilt`,
      );
    }
    const kept = { log: store.log(id, tenantId), past: { id, createdAt, isRestored: true, facts: past } };
    if (rerun === undefined) return createRequestedRun(this.#executor, requested, kept);
    const source = await stepRunner.run(StoredSource.read(rerun.run_id, parts), tenantId);
    if (!source.isComplete && !store.isOptional) return undefined;
    const findEarlier = await reviveEarlier(source, { ...submission, hasSettled }, revive);
    standIns.create(rerun.run_id, source.files);
    const reused = { ...requested, source: source.toRunSource(requested.kind) } as RequestedRun;
    const run = createRequestedRun(this.#executor, reused, kept);
    source.complete(run, findEarlier);
    return run;
  }
}

/** Creates a run, queued. Throws as `LocalExecutor.createRun`. */
function createRequestedRun(executor: LocalExecutor, requested: RequestedRun, kept?: KeptRun): AnyRun {
  const run =
    requested.kind === 'plan'
      ? executor.createPlanRun(requested.inputs, requested.source, undefined, kept)
      : executor.createRun(requested.inputs, requested.source, undefined, kept);
  run.trigger = requested.trigger ?? null;
  return run;
}

/** What is kept of a request, as JSON. */
function toSubmission(
  { kind, trigger, inputs: given, source }: RequestedRun,
  tenantId: string,
  idempotency: IdempotencyKey | undefined,
): StoredSubmission {
  const { params, inputs, session, options, breakpoints, collect_events } = given as RunInputs;
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
    ...(collect_events !== undefined && { collect_events }),
    ...(plan_concurrency !== undefined && { plan_concurrency }),
    tenant_id: tenantId,
    submitted_keys: readSubmittedKeys(given),
    ...(idempotency && { idempotency }),
    ...(trigger && { trigger }),
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
  return {
    definition: plan.definition as unknown as JsonObject,
    pipelines: Object.fromEntries(pipelines),
  };
}

/** Makes a request of what was kept of one, without what it can reuse. Rejects as `revive` does. */
async function toRequestedRun(
  submission: StoredSubmission,
  revive: ReviveDefinitions,
  hasSettled: boolean,
): Promise<RequestedRun> {
  const {
    kind,
    definition,
    pipelines = {},
    rerun: _rerun,
    idempotency: _key,
    trigger,
    submitted_keys,
    ...values
  } = submission;
  const inputs = { ...values, submittedKeys: submitted_keys };
  const revived = { ...values, hasSettled };
  return kind === 'plan'
    ? { kind, trigger, inputs: { ...inputs, plan: await revive.plan(definition, pipelines, revived) } }
    : { kind, trigger, inputs: { ...inputs, pipeline: await revive.pipeline(definition, revived) } };
}

/** What a rerun can reuse, as it is kept; undefined for another run. */
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
  values: SubmittedValues,
  revive: ReviveDefinitions,
): Promise<(subPipeline: string | undefined) => RunInputs['pipeline'] | undefined> {
  if (plan !== undefined) {
    const { subPipelines } = await revive.plan(plan.definition, plan.pipelines, values);
    return (id) => (id === undefined ? undefined : subPipelines.get(id)?.pipeline);
  }
  const pipeline = definition && (await revive.pipeline(definition, values));
  return () => pipeline;
}
