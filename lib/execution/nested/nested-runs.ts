import { createHash } from 'node:crypto';
import { JsonWriter } from '../../common/json/json-writer.js';
import type { EventLoopBudget } from '../../../machines/ports.js';
import type { RunStatus } from '../../../machines/types.js';
import {
  describeFailedTask,
  errorMessage,
  findCause,
  RUN_TIMEOUT,
  type TaskFailure,
  ToolError,
  WavetrainError,
} from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { MAX_NESTING_DEPTH } from '../../common/limits.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { ModelAccess } from '../../models/models.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { assertPipelineCall } from '../../tools/builtin/run-pipeline.js';
import type { PipelineCall, PipelineOutcome } from '../../tools/tool.js';
import { eventLoopBudget, nextSlice } from '../run/event-loop-budget.js';
import { NESTED_BYTES } from '../history/fact.js';
import { NestedJournal } from '../events/journal.js';
import { copyToJson } from '../invocation/json-output.js';
import {
  freezeValuesInSteps,
  mergeObjects,
  type PreparedRun,
  prepareRunInSteps,
} from '../prepare/prepare-run.js';
import { STOPPED } from '../invocation/call.js';
import type { CallingAttempt, InvocationServices, ParentRunContext, StoppableRun } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';
import { CalledPipelines } from './called-pipelines.js';
import { NestedRunBudget, NestedRunLimiter } from './nested-run-limiter.js';

const CANCELLED = 'the pipeline was cancelled';

/** Memory of a reference to a value that is already in memory. */
const REFERENCE_BYTES = 64;

/** The part of a nested run that the calling run uses. */
interface NestedRun extends StoppableRun {
  readonly status: RunStatus;
  readonly failures: readonly TaskFailure[];
  readonly error: string | null;
  /** Set when the time of the run was over. */
  readonly timeoutError: string | null;
  readonly result: PipelineOutcome | null;
  /** The values that the tasks of the run stored, in order. */
  readonly writes: readonly Write[];
  begin(): Promise<void>;
}

export type CreateNestedRun = (
  prepared: PreparedRun,
  budget: NestedRunBudget,
  parent: ParentRunContext,
  models: ModelAccess,
) => NestedRun;

/**
 * The nested runs of one run: pipelines that its tasks run (D49). Each reads the session of the calling run, has a
 * blackboard of its own, and adds its writes to the attempt that called it. No nested run outlives that attempt.
 */
export class NestedRuns {
  readonly #services: InvocationServices;
  readonly #eventLoopBudget: EventLoopBudget;
  readonly #createRun: CreateNestedRun;
  readonly #limiter: NestedRunLimiter;
  readonly #pipelines: CalledPipelines;
  readonly #pipelinePath: readonly string[];
  readonly #active = new Set<NestedRun>();
  /** Why no further pipeline runs; undefined while others may. */
  #refusal: string | undefined;

  constructor(services: InvocationServices, createRun: CreateNestedRun) {
    const { parent, budget, dependencies, prepared } = services;
    this.#services = services;
    this.#eventLoopBudget = eventLoopBudget.forTenant(prepared.tenantId);
    this.#createRun = createRun;
    this.#limiter = parent?.nestedRunLimiter ?? new NestedRunLimiter(budget, dependencies.maxNestedPipelines);
    this.#pipelines =
      parent?.calledPipelines ??
      new CalledPipelines(
        dependencies.stepRunner,
        prepared.pipeline.checkNestedPipeline,
        prepared.tenantId,
        this.#limiter,
      );
    this.#pipelinePath = parent?.pipelinePath ?? [prepared.pipeline.definition.id];
  }

  /** Runs a pipeline for an attempt. Rejects with a ToolError when it cannot run, fails or is cancelled. */
  async run(call: PipelineCall, attempt: CallingAttempt, models: ModelAccess): Promise<PipelineOutcome> {
    assertPipelineCall(call);
    this.#assertCanBegin(attempt);
    const count = attempt.countCall();
    const budget = new NestedRunBudget(this.#services.budget, this.#limiter);
    try {
      return await this.#runWithin(budget, call, { attempt, count }, models);
    } finally {
      budget.close();
    }
  }

  /** Prevents further runs, and lets active ones end with their wave (rule 12): some in later slices, as they may be thousands. */
  async cancel(force: boolean): Promise<void> {
    const isFirst = this.#refusal === undefined;
    // The attempts are stopped too, some of them in later slices: what each says must not depend on that.
    if (isFirst || force) this.#refusal = force ? STOPPED : CANCELLED;
    if (!isFirst) return;
    for (const run of this.#active) {
      run.cancel(false);
      if (this.#eventLoopBudget.exhausted()) await nextSlice(this.#eventLoopBudget);
    }
  }

  /** Releases what further runs would need. Call when the calling run has settled. */
  close(): void {
    if (this.#services.parent?.calledPipelines === undefined) this.#pipelines.clear();
  }

  async #runWithin(
    budget: NestedRunBudget,
    call: PipelineCall,
    { attempt, count }: { readonly attempt: CallingAttempt; readonly count: number },
    models: ModelAccess,
  ): Promise<PipelineOutcome> {
    const pipeline = await this.#pipelines.load(call, attempt.files);
    assertNoPools(pipeline, this.#findHeldPool(attempt));
    const pipelinePath = [...this.#pipelinePath, call.file ?? pipeline.definition.id];
    assertDepth(pipelinePath);
    // Reading a session with many keys takes long, and so does copying it.
    if (this.#eventLoopBudget.exhausted()) await nextSlice(this.#eventLoopBudget);
    const session = await this.#readSession(pipeline, call.session ?? {});
    let isRetryable = true;
    const onPermanentFailure = (): void => {
      isRetryable = false;
    };
    if (this.#eventLoopBudget.exhausted()) await nextSlice(this.#eventLoopBudget);
    this.#assertCanBegin(attempt);
    const { prepared, inputBytes } = await this.#prepare(pipeline, call, session);
    const isKept = this.#services.history !== undefined;
    const fingerprint = isKept ? await this.#createFingerprint(prepared) : '';
    // Other nested runs may have begun while this one was prepared.
    if (this.#eventLoopBudget.exhausted()) await nextSlice(this.#eventLoopBudget);
    this.#assertCanBegin(attempt);
    if (isKept) this.#services.journal.budget.reserve(NESTED_BYTES);
    budget.reserveFor(pipeline, inputBytes);
    // Another process may have run the pipeline for the same attempt (D68).
    const history = this.#services.history?.ofNested(attempt, count, fingerprint);
    const context = this.#createContext(attempt, count, { pipelinePath, onPermanentFailure, history });
    const run = this.#createRun(prepared, budget, context, models);
    // Before anything else is awaited: an attempt may end at any moment.
    attempt.addNestedRun(run);
    this.#active.add(run);
    void run.begin();
    await run.settled;
    await history?.replayedIfLast;
    this.#active.delete(run);
    attempt.deleteNestedRun(run);
    if (run.result === null) throw toToolError(run, pipeline, isRetryable, this.#refusal);
    attempt.addWrites(run.writes);
    return run.result;
  }

  /**
   * Reads the session values that the calling run's tasks see, or those that the pipeline `reads` (D3). Reads all of them
   * when a template will fail because a key is missing: its message lists the existing ones (D13).
   */
  async #readSession(
    { definition: { reads }, contract }: Pipeline,
    own: Readonly<Record<string, unknown>>,
  ): Promise<JsonObject> {
    const { session } = this.#services;
    if (reads !== undefined) return session.readMany(reads);
    if (contract.readsUnknownKey) return session.readShared();
    // Each item of a fan-out would copy the whole session, so read only the keys that templates use.
    const values = await session.readMany([...contract.reads.keys()]);
    const exists = (key: string): boolean =>
      Object.hasOwn(values, key) || Object.hasOwn(own, key) || contract.stores.has(key);
    const isIncomplete = [...contract.reads].some(([key, { hasFallback }]) => !hasFallback && !exists(key));
    return isIncomplete ? session.readShared() : values;
  }

  #assertCanBegin(attempt: CallingAttempt): void {
    if (this.#refusal !== undefined) throw ToolError.nonRetryable(this.#refusal);
    if (attempt.isOver) throw ToolError.nonRetryable('the attempt has ended; it cannot run another pipeline');
  }

  /**
   * Checks the inputs of a nested run in slices, as `prepareRun` does. `inputBytes` is the memory that they add to what is
   * already in memory. Rejects with a ToolError, not retryable.
   */
  async #prepare(
    pipeline: Pipeline,
    call: PipelineCall,
    outerSession: JsonObject,
  ): Promise<PreparedNestedRun> {
    const { stepRunner } = this.#services.dependencies;
    const steps = prepareNestedRun(this.#services.prepared, pipeline, call, outerSession);
    try {
      return await stepRunner.run(steps, this.#services.prepared.tenantId);
    } catch (cause) {
      throw ToolError.nonRetryable(`pipeline "${pipeline.definition.id}": ${errorMessage(cause)}`, cause);
    }
  }

  /** Hashes a pipeline and what it is given. Values may be long, and the same one given many times. */
  async #createFingerprint({ pipeline, params, inputs }: PreparedRun): Promise<string> {
    const hash = createHash('sha256');
    const writer = new JsonWriter([pipeline.definition, params, inputs]);
    for (let chunk = writer.next(); chunk !== ''; chunk = writer.next()) {
      hash.update(chunk);
      if (this.#eventLoopBudget.exhausted()) await nextSlice(this.#eventLoopBudget);
    }
    return hash.digest('base64url');
  }

  /** The pool of which an attempt has a place, or a task around this run. */
  #findHeldPool({ task_id: taskId }: CallingAttempt): string | undefined {
    const { prepared, parent } = this.#services;
    return prepared.pipeline.allTasks.get(taskId)?.pool ?? parent?.heldPool;
  }

  #createContext(
    callingAttempt: CallingAttempt,
    count: number,
    own: Pick<ParentRunContext, 'pipelinePath' | 'onPermanentFailure' | 'history'>,
  ): ParentRunContext {
    const { journal, keyPath, parent, origin } = this.#services;
    const { task_id: taskId, item_index: item } = callingAttempt;
    const caller = item === null ? taskId : `${taskId}[${item}]`;
    return {
      ...own,
      origin,
      actor: undefined,
      journal: new NestedJournal(journal, { within: [caller] }),
      // The same for every attempt: what the pipeline does for one, another one need not do again.
      keyPath: `${keyPath}${caller}.${count}/`,
      overrides: undefined,
      onFailure: undefined,
      stores: parent?.stores,
      nestedRunLimiter: this.#limiter,
      heldPool: this.#findHeldPool(callingAttempt),
      calledPipelines: this.#pipelines,
      callingAttempt,
    };
  }
}

/** Calls that wait for places within places could wait for each other (D81). @throws ToolError, not retryable */
function assertNoPools(
  { definition: { id }, tasks, handlers }: Pipeline,
  heldPool: string | undefined,
): void {
  if (heldPool === undefined) return;
  for (const task of [...tasks.values(), ...(handlers?.tasks.values() ?? [])]) {
    if (task.pool === undefined) continue;
    throw ToolError.nonRetryable(
      `pipeline "${id}" runs in a place of pool "${heldPool}", so that its task "${task.id}" cannot have a pool`,
    );
  }
}

function assertDepth(pipelinePath: readonly string[]): void {
  if (pipelinePath.length - 1 <= MAX_NESTING_DEPTH) return;
  throw ToolError.nonRetryable(
    `pipelines may be nested ${MAX_NESTING_DEPTH} deep, and this goes deeper: ${pipelinePath.join(' > ')}`,
  );
}

interface PreparedNestedRun {
  readonly prepared: PreparedRun;
  readonly inputBytes: number;
}

/** @throws WavetrainError as `prepareRun` */
function* prepareNestedRun(
  { id, tenantId, options, submittedOptions, secrets }: PreparedRun,
  pipeline: Pipeline,
  { params = {}, inputs = {}, session: givenSession = {} }: PipelineCall,
  outerSession: JsonObject,
): Steps<PreparedNestedRun> {
  const run = { pipeline, params, inputs, tenant_id: tenantId };
  const prepared = yield* prepareRunInSteps(run, undefined, undefined, id, secrets);
  const ownSession = (yield* freezeValuesInSteps('session', givenSession)).json;
  const session = yield* mergeSessions(outerSession, ownSession);
  const inputBytes =
    (yield* measureCopy(prepared.params, params)) +
    (yield* measureCopy(prepared.inputs, inputs)) +
    (yield* measureCopy(ownSession, givenSession)) +
    (session === outerSession ? 0 : REFERENCE_BYTES * Object.keys(session).length);
  return { prepared: { ...prepared, options, submittedOptions, session }, inputBytes };
}

/** Returns the outer session itself when the call adds nothing, so that many runs share it. */
function* mergeSessions(outer: JsonObject, own: JsonObject): Steps<JsonObject> {
  if (Object.isFrozen(outer) && Object.keys(own).length === 0) return outer;
  return Object.freeze((yield* mergeObjects(outer, own)) as JsonObject);
}

const MEASURED_PER_STEP = 200;

/** Measures what a copy adds to memory: a reference for what was not copied; texts count, as this call may have rendered them. */
function* measureCopy(copy: JsonObject, original: JsonObject): Steps<number> {
  let bytes = 0;
  let count = 0;
  for (const key of Object.keys(copy)) {
    const value = copy[key];
    const isShared = typeof value === 'object' && value === original[key];
    bytes += key.length + REFERENCE_BYTES + (isShared ? 0 : copyToJson(value).sizeBytes);
    if (++count % MEASURED_PER_STEP === 0) yield;
  }
  return bytes;
}

function toToolError(
  run: NestedRun,
  { definition }: Pipeline,
  retryable: boolean,
  refusal = CANCELLED,
): ToolError {
  if (run.status === 'cancelled') return ToolError.nonRetryable(refusal);
  const { timeoutError } = run;
  if (timeoutError !== null) {
    const timedOut = new WavetrainError(RUN_TIMEOUT, timeoutError);
    return new ToolError(`pipeline "${definition.id}": ${timeoutError}`, { cause: timedOut });
  }
  const cause = findCause(run.failures);
  const reason =
    cause === undefined ? (run.error ?? 'stopped') : `${describeFailedTask(cause)}: ${cause.error}`;
  return new ToolError(`pipeline "${definition.id}": ${reason}`, { retryable });
}
