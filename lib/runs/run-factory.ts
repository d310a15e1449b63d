import type { Clock } from '../common/clock.js';
import { errorMessage } from '../common/errors.js';
import type { JsonObject } from '../common/json.js';
import { warnHost } from '../common/warnings.js';
import { type AnyRun, type KeptRun, type LocalExecutor, runNotFound } from '../execution/local-executor.js';
import { PastFacts } from '../execution/history/past-facts.js';
import { createRunId, readSubmittedKeys, type WithSubmittedKeys } from '../execution/prepare/prepare-run.js';
import type { PlanRerunSource, RerunSource } from '../execution/prepare/rerun-source.js';
import type { PlanInputs, RunInputs } from '../execution/run-inputs.js';
import type { IdempotencyKey } from './idempotency.js';
import { type AskedRerun, collectAgain, type Rerun } from './rerun/rerun.js';
import type { PastRun, RunStore, StoredSubmission } from './store/run-store.js';

/** A run that is asked for, and what it can reuse of an earlier one. */
export type RequestedRun =
  | {
      readonly kind: 'pipeline';
      readonly inputs: RunInputs & WithSubmittedKeys;
      readonly source?: RerunSource | undefined;
      readonly asked?: AskedRerun | undefined;
    }
  | {
      readonly kind: 'plan';
      readonly inputs: PlanInputs & WithSubmittedKeys;
      readonly source?: PlanRerunSource | undefined;
      readonly asked?: AskedRerun | undefined;
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

type SubmittedValues = Pick<StoredSubmission, 'inputs' | 'session' | 'tenant_id'>;

/** A run and its number: they count from 1, in the order in which they were accepted. */
export interface CreatedRun {
  readonly run: AnyRun;
  readonly number: number;
}

/** A run that another process has accepted. */
interface RestoredRun extends CreatedRun {
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
    store.add({ id, number, createdAt, submission }, run.prepared.sizeBytes);
    return { run, number };
  }

  /**
   * Creates the runs of the store again, in the order in which they were accepted. Those that had settled must be rebuilt
   * before the next one is asked for, which may be a rerun of them. Warns of each that this version of Wavetrain, its tools or its settings do not accept any more: it stays in the store.
   */
  async *restore(store: RunStore, revive: ReviveDefinitions): AsyncIterable<RestoredRun> {
    const restored = new Map<string, AnyRun>();
    const removed: AnyRun[] = [];
    for await (const stored of store.runs()) {
      const { id, number, isRemoved, submission } = stored;
      try {
        const run = await this.#createAgain(store, stored, revive, restored);
        restored.set(id, run);
        if (!isRemoved) yield { run, number, idempotency: submission.idempotency };
        else {
          await run.rebuild();
          removed.push(run);
        }
      } catch (error) {
        warnHost(`run ${id} cannot go on: ${errorMessage(error)}`);
      }
    }
    // What reruns have of them, they keep.
    for (const { id, budget } of removed) {
      this.#executor.forget(id);
      budget.close();
    }
  }

  async #createAgain(
    store: RunStore,
    { id, createdAt, submission }: PastRun,
    revive: ReviveDefinitions,
    restored: ReadonlyMap<string, AnyRun>,
  ): Promise<AnyRun> {
    const { rerun, tenant_id: tenantId } = submission;
    const [requested, read] = await Promise.all([toRequestedRun(submission, revive), store.facts(id)]);
    const facts = await this.#executor.stepRunner.run(PastFacts.readInSteps(read), tenantId);
    const earlier = rerun && restored.get(rerun.run_id);
    if (rerun !== undefined && earlier === undefined) throw runNotFound(rerun.run_id);
    const reused = rerun && earlier && (await this.#collectAgain(earlier, rerun, requested));
    const kept = { log: store.log(id, tenantId), past: { id, createdAt, isRestored: true, facts } };
    return createRequestedRun(this.#executor, { ...requested, ...reused } as RequestedRun, kept);
  }

  /** What a rerun can reuse of the run that it repeats. */
  async #collectAgain(
    earlier: AnyRun,
    { run_id: _, ...asked }: NonNullable<StoredSubmission['rerun']>,
    { inputs }: RequestedRun,
  ): Promise<Pick<Rerun, 'source' | 'asked'>> {
    const steps = collectAgain(earlier, asked, inputs);
    return { source: await this.#executor.stepRunner.run(steps, earlier.tenantId), asked };
  }
}

/** Creates a run, queued. Throws as `LocalExecutor.createRun`. */
function createRequestedRun(executor: LocalExecutor, run: RequestedRun, kept?: KeptRun): AnyRun {
  return run.kind === 'plan'
    ? executor.createPlanRun(run.inputs, run.source, undefined, kept)
    : executor.createRun(run.inputs, run.source, undefined, kept);
}

/** What is kept of a request, as JSON. */
function toSubmission(
  { kind, inputs: given, source, asked }: RequestedRun,
  tenantId: string,
  idempotency: IdempotencyKey | undefined,
): StoredSubmission {
  const { params, inputs, session, options, breakpoints, collect_events } = given as RunInputs;
  return {
    kind,
    ...(kind === 'plan'
      ? describePlan(given)
      : { definition: given.pipeline.definition as unknown as JsonObject }),
    ...(params && { params }),
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(options && { options }),
    ...(breakpoints && { breakpoints }),
    ...(collect_events !== undefined && { collect_events }),
    tenant_id: tenantId,
    submitted_keys: readSubmittedKeys(given),
    ...(idempotency && { idempotency }),
    ...(source && asked && { rerun: { ...asked, run_id: source.runId } }),
  };
}

/** The pipelines of a plan may come from files: it is checked again with what they were. */
function describePlan({
  plan,
  plan_concurrency,
}: PlanInputs): Pick<StoredSubmission, 'definition' | 'pipelines' | 'plan_concurrency'> {
  const pipelines = [...plan.subPipelines].map(([id, { pipeline }]): [string, JsonObject] => [
    id,
    pipeline.definition as unknown as JsonObject,
  ]);
  return {
    definition: plan.definition as unknown as JsonObject,
    pipelines: Object.fromEntries(pipelines),
    ...(plan_concurrency !== undefined && { plan_concurrency }),
  };
}

/** Makes a request of what was kept of one. Rejects as `revive` does. */
async function toRequestedRun(
  submission: StoredSubmission,
  revive: ReviveDefinitions,
): Promise<RequestedRun> {
  const { kind, definition, pipelines = {}, rerun, idempotency: _, submitted_keys, ...values } = submission;
  const inputs = { ...values, submittedKeys: submitted_keys };
  const runId = rerun?.run_id;
  if (kind === 'plan') {
    const plan = await revive.plan(definition, pipelines, inputs);
    return {
      kind,
      inputs: { ...inputs, plan },
      source: runId === undefined ? undefined : { runId, subRuns: NONE },
    };
  }
  const pipeline = await revive.pipeline(definition, inputs);
  return {
    kind,
    inputs: { ...inputs, pipeline },
    source: runId === undefined ? undefined : emptySource(runId),
  };
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/** Of a run that is not kept any more. */
function emptySource(runId: string): RerunSource {
  return {
    runId,
    given: undefined,
    givenBytes: 0,
    forced: NONE,
    failed: new Set(),
    outcomes: NONE,
    items: NONE,
    changedKeys: new Set(),
  };
}
