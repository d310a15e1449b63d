import type { JsonObject } from '../../common/json.js';
import type { LocalExecutor, KeptRun, AnyRun } from '../../execution/local-executor.js';
import type { PlanRerunSource, RerunSource } from '../../execution/prepare/rerun-source.js';
import { readSubmittedKeys, type WithSubmittedKeys } from '../../execution/prepare/prepare-run.js';
import type { PlanInputs, RunInputs } from '../../execution/run-inputs.js';
import type { AskedRerun } from '../rerun/rerun.js';
import type { IdempotencyKey } from '../idempotency.js';
import type { StoredSubmission } from './run-store.js';

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

/** Creates a run, queued. Throws as `LocalExecutor.createRun`. */
export function createRequestedRun(executor: LocalExecutor, run: RequestedRun, kept?: KeptRun): AnyRun {
  return run.kind === 'plan'
    ? executor.createPlanRun(run.inputs, run.source, undefined, kept)
    : executor.createRun(run.inputs, run.source, undefined, kept);
}

/** What is kept of a request, as JSON. */
export function toSubmission(
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

/** Makes a request of what was kept of one. Rejects as `revive` does. */
export async function toRequestedRun(
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
