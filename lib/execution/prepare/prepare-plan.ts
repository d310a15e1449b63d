import type { Blackboard } from '../../blackboard/blackboard.js';
import { MemoryBlackboard } from '../../blackboard/memory.js';
import type { Clock } from '../../common/clock.js';
import { messageOf, WavetrainError } from '../../common/errors.js';
import { type JsonObject, setOwn } from '../../common/json.js';
import type { Plan, SubPipeline } from '../../plans/plan.js';
import type { ExecutionOptions, PlanInputs } from '../run-inputs.js';
import { frozen, merged, newRunId, prepare, tenantOf } from './prepare.js';
import type { PlanOrigin, PreparedRun } from './prepared-run.js';

/** What the run of a sub-pipeline takes beside what it was given: its actors, session and records. Measured. */
const SUB_RUN_BYTES = 10_000;

/**
 * Checks what a plan run is given, for all of its sub-pipelines: none begins before all of them may.
 *
 * @throws WavetrainError `invalid_params`, `invalid_inputs` or `invalid_options`
 */
export function preparePlan(
  run: PlanInputs,
  origin: PlanOrigin | undefined,
  blackboard: Blackboard | undefined,
  clock: Clock,
): PreparedPlan {
  const { plan } = run;
  const { definition } = plan;
  const inputs = frozen('inputs', merged(definition.inputs ?? {}, run.inputs ?? {}));
  const session = frozen('session', run.session ?? {});
  const board = blackboard ?? new MemoryBlackboard();
  const isOurs = blackboard === undefined;
  const id = newRunId(clock.now());
  const subRuns = [...plan.subPipelines.values()].map((one): [string, PreparedRun] => {
    const subRun = prepareSubRun(one, { ...run, inputs: inputs.json }, origin, board, clock);
    return [one.id, { ...subRun, id, session: session.json, isOurs }];
  });
  return {
    id,
    plan,
    tenantId: tenantOf(run),
    inputs: inputs.json,
    session: session.json,
    given: { ...run.options },
    concurrency: concurrencyOf(run),
    waves: sumOf(subRuns, ({ pipeline }) => pipeline.waves.length),
    tasks: sumOf(subRuns, ({ pipeline }) => pipeline.tasks.size),
    subRuns: new Map(subRuns),
    // That of the plan holds its pipelines.
    weight: plan.weight + inputs.weight + session.weight + sumOf(subRuns, ownWeight),
    collectEvents: run.collect_events ?? false,
    blackboard: board,
    isOurs,
    origin,
  };
}

function prepareSubRun(
  { id, pipeline, inputs: keys }: SubPipeline,
  { inputs = {}, options, tenant_id }: PlanInputs,
  origin: PlanOrigin | undefined,
  blackboard: Blackboard,
  clock: Clock,
): PreparedRun {
  const forwarded: JsonObject = {};
  for (const key of keys) {
    if (Object.hasOwn(inputs, key)) setOwn(forwarded, key, inputs[key]);
  }
  const given = {
    inputs: forwarded,
    ...(options && { options }),
    ...(tenant_id !== undefined && { tenant_id }),
  };
  try {
    return prepare({ pipeline, ...given }, origin?.subRuns.get(id), blackboard, clock);
  } catch (cause) {
    if (!(cause instanceof WavetrainError) || cause.code === 'invalid_options') throw cause;
    throw new WavetrainError(cause.code, `sub-pipeline "${id}": ${messageOf(cause)}`, { cause });
  }
}

function concurrencyOf({ plan, plan_concurrency: given }: PlanInputs): number {
  const concurrency = given ?? plan.definition.plan_concurrency ?? 1;
  if (Number.isInteger(concurrency) && concurrency > 0) return concurrency;
  throw new WavetrainError(
    'invalid_options',
    `plan_concurrency must be a whole number above 0; it is ${JSON.stringify(concurrency)}`,
  );
}

function sumOf(subRuns: readonly [string, PreparedRun][], figure: (run: PreparedRun) => number): number {
  return subRuns.reduce((sum, [, run]) => sum + figure(run), 0);
}

function ownWeight({ weight, pipeline }: PreparedRun): number {
  return SUB_RUN_BYTES + weight - pipeline.weight;
}

/** Plan inputs that were checked, for the plan and for each of its sub-pipelines. */
export interface PreparedPlan {
  readonly id: string;
  readonly plan: Plan;
  readonly tenantId: string;
  /** As they were given, for a rerun. */
  readonly inputs: JsonObject;
  readonly session: JsonObject;
  readonly given: ExecutionOptions;
  readonly concurrency: number;
  /** Of all its pipelines together. */
  readonly waves: number;
  readonly tasks: number;
  /** By sub-pipeline id, in declared order. */
  readonly subRuns: ReadonlyMap<string, PreparedRun>;
  /** What it takes in memory, in bytes, roughly. */
  readonly weight: number;
  readonly collectEvents: boolean;
  readonly blackboard: Blackboard;
  /** It was made for this run. */
  readonly isOurs: boolean;
  /** The run that this one repeats in part (D35). */
  readonly origin: PlanOrigin | undefined;
}
