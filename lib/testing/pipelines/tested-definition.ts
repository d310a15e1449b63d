import type { Problem } from '../../definition/problems/problem.js';
import { detectKind, type DefinitionKind } from '../../definition/schema/root.js';
import type { CheckSteps, Source } from '../../definition/text/source.js';
import { requestSource } from '../../definition/text/source.js';
import type { CheckedDefinition } from '../../execution/prepare/run-inputs.js';
import { createCheckContext } from '../../pipelines/check-context.js';
import { checkSourceInSteps } from '../../pipelines/check.js';
import type { Pipeline, RunValues, Task } from '../../pipelines/pipeline.js';
import { checkPlanSourceInSteps } from '../../plans/check.js';
import type { PipelineInput, Plan } from '../../plans/plan.js';
import type { Catalog } from '../../tools/catalog.js';

/** A pipeline or a plan that tests run, with the names of its parts as tests write them. */
export interface TestedDefinition {
  readonly kind: DefinitionKind;
  readonly checked: CheckedDefinition;
  /** With handlers: `TASK`, or `SUB_PIPELINE/TASK` in a plan. */
  readonly tasks: ReadonlyMap<string, Task>;
  readonly handlers: ReadonlySet<string>;
  /** The sub-pipelines of a plan. */
  readonly parts: readonly string[];
  /** Names of the pools that its tasks name. */
  readonly pools: ReadonlySet<string>;
}

/** The text of a definition, and the pipelines of a plan that are not in it. */
export interface DefinitionSources {
  readonly source: Source;
  readonly pipelines: ReadonlyMap<string, PipelineInput>;
}

export type TestedCheck =
  | { readonly ok: true; readonly tested: TestedDefinition }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks the definition of tests with the one validator (D8), with the values that its cases give. */
export function* checkTestedInSteps(
  { source, pipelines }: DefinitionSources,
  catalog: Catalog,
  values: RunValues,
): CheckSteps<TestedCheck> {
  if (detectKind(source.value) === 'plan') {
    const check = yield* checkPlanSourceInSteps(source, { ...values, catalog, pipelines, complete: true });
    if (!check.ok || check.plan === undefined) return { ok: false, problems: check.problems };
    return { ok: true, tested: describePlan(check.plan) };
  }
  const check = yield* checkSourceInSteps(source, createCheckContext({ ...values, catalog }));
  return check.ok
    ? { ok: true, tested: describePipeline(check.pipeline) }
    : { ok: false, problems: check.problems };
}

/** The values of a definition, and of the pipelines of a plan that are in other files: they name the tools. */
export function* readDefinitionValues({ source, pipelines }: DefinitionSources): CheckSteps<unknown[]> {
  const values: unknown[] = [source.value];
  for (const pipeline of pipelines.values()) {
    if ('text' in pipeline) values.push((yield* requestSource(pipeline.text)).value);
    else if ('value' in pipeline) values.push(pipeline.value);
  }
  return values;
}

function describePipeline(pipeline: Pipeline): TestedDefinition {
  const { allTasks, handlers } = pipeline;
  return {
    kind: 'pipeline',
    checked: { kind: 'pipeline', pipeline },
    tasks: allTasks,
    handlers: new Set(handlers?.tasks.keys()),
    parts: [],
    pools: poolsOf(allTasks.values()),
  };
}

function describePlan(plan: Plan): TestedDefinition {
  const ofParts = [...plan.subPipelines.values()].flatMap(({ id, pipeline }) =>
    Array.from(pipeline.allTasks, ([task, value]): [string, Task] => [`${id}/${task}`, value]),
  );
  const ofPlan = plan.handlers?.allTasks ?? new Map<string, Task>();
  const tasks = new Map([...ofParts, ...ofPlan]);
  return {
    kind: 'plan',
    checked: { kind: 'plan', plan },
    tasks,
    handlers: new Set(ofPlan.keys()),
    parts: [...plan.subPipelines.keys()],
    pools: poolsOf(tasks.values()),
  };
}

function poolsOf(tasks: Iterable<Task>): ReadonlySet<string> {
  return new Set([...tasks].flatMap(({ pool }) => pool ?? []));
}
