import { problemOfText } from '../definition/placing.js';
import { type Path, type Problem, pointerOf } from '../definition/problem.js';
import { kindOfRoot } from '../definition/schema/root.js';
import { readSource, type Source, sourceOfValue, sourceWithin } from '../definition/text/source.js';
import type { Finding } from '../definition/schema/structure.js';
import { unquotedByEntry } from '../definition/text/unquoted.js';
import { isObject } from '../common/json.js';
import { checkSource } from '../pipelines/check.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { Catalog } from '../tools/catalog.js';
import type { DraftSubPipeline, PlanDraft } from './draft.js';
import type { GivenPipeline } from './plan.js';
import type { KnownKeys } from './rules/keys.js';

/** Where inline pipelines stand: in what was read for the plan, below its root. */
interface Surroundings {
  readonly source: Source;
  readonly base: Path;
  readonly unquotedIn: (index: number) => readonly Path[];
}

export interface KnownOfPipelines extends KnownKeys {
  readonly catalog: Catalog;
  readonly given: ReadonlyMap<string, GivenPipeline>;
  /** Every pipeline must be at hand. */
  readonly complete: boolean;
}

/** What the check of one sub-pipeline's own pipeline found. */
export interface PipelineCheck {
  readonly subPipeline: DraftSubPipeline;
  /** Undefined when it is not at hand, or cannot run. */
  readonly pipeline: Pipeline | undefined;
  readonly file: string | undefined;
  /** To be told in the plan. */
  readonly findings: readonly Finding[];
  /** Of the pipeline, each with its place: in the plan, in its file, or in what was given beside the plan. */
  readonly problems: readonly Problem[];
}

/**
 * Checks the pipeline of each sub-pipeline, wherever it stands, with the one validator (D8, D46).
 *
 * @param base leads to the plan
 */
export function checkPipelines(
  { subPipelines }: PlanDraft,
  source: Source,
  base: Path,
  known: KnownOfPipelines,
): PipelineCheck[] {
  const unquotedIn = unquotedByEntry(source, base, { list: 'sub_pipelines', field: ['pipeline'] });
  return subPipelines.map((subPipeline) => {
    const { id, name, inline } = subPipeline;
    if (inline !== undefined)
      return checkInline(subPipeline, inline.value, { source, base, unquotedIn }, known);
    // What is at hand under an id is for the first that has it.
    return id === name ? checkGiven(subPipeline, known.given.get(id), known) : unchecked(subPipeline);
  });
}

function unchecked(subPipeline: DraftSubPipeline): PipelineCheck {
  return { subPipeline, pipeline: undefined, file: undefined, findings: [], problems: [] };
}

function checkInline(
  subPipeline: DraftSubPipeline,
  value: unknown,
  plan: Surroundings,
  known: KnownOfPipelines,
): PipelineCheck {
  const { file, path } = subPipeline;
  // What is no map is the schema's to report.
  if (!isObject(value)) return unchecked(subPipeline);
  const base = [...plan.base, ...path, 'pipeline'];
  const source = sourceWithin(plan.source, base, value, plan.unquotedIn(Number(path[1])));
  const check = checked(subPipeline, source, [...path, 'pipeline'], known, (problem) => ({
    ...problem,
    path: `${pointerOf(base)}${problem.path}`,
  }));
  return file === undefined ? check : { ...check, findings: [bothGiven(subPipeline), ...check.findings] };
}

function checkGiven(
  subPipeline: DraftSubPipeline,
  given: GivenPipeline | undefined,
  known: KnownOfPipelines,
): PipelineCheck {
  const { id, path, file } = subPipeline;
  const at = file === undefined ? path : [...path, 'file'];
  if (given === undefined || 'missing' in given) {
    const finding = missingPipeline(subPipeline, given, at, known.complete);
    return { ...unchecked(subPipeline), findings: [finding] };
  }
  if ('value' in given) {
    return checked(subPipeline, sourceOfValue(given.value), at, known, besideThePlan(id));
  }
  const source = readSource(given.text);
  if (given.file === undefined) return checked(subPipeline, source, at, known, besideThePlan(id));
  const { file: name } = given;
  return checked(subPipeline, source, at, known, (problem) => ({ ...problem, file: name }), name);
}

function checked(
  subPipeline: DraftSubPipeline,
  source: Source,
  at: Path,
  known: KnownOfPipelines,
  told: (problem: Problem) => Problem,
  file?: string,
): PipelineCheck {
  const nothing = { ...unchecked(subPipeline), file };
  if (kindOfRoot(source.value) === 'plan') return { ...nothing, findings: [nestedPlan(subPipeline, at)] };
  const reads = new Set(subPipeline.reads.map(({ key }) => key));
  const check = checkSource(source, {
    catalog: known.catalog,
    inputs: handedOn(subPipeline, known),
    givenInputs: [],
    inputHint: `give it a default under "inputs", or hand it on: name it in the "inputs" of sub-pipeline "${subPipeline.id}"`,
    session: { has: (key) => reads.has(key) || known.session.has(key) },
    nesting: 0,
  });
  // Of a pipeline that is compared with the plan, the comparison tells which keys nothing stores.
  const problems = check.problems
    .filter(({ code }) => !check.ok || code !== 'session_never_stored')
    .map(told);
  return { ...nothing, pipeline: check.ok ? check.pipeline : undefined, problems };
}

/** Those that the plan does not have are told there: here they count, and so do those that they were meant to be. */
function handedOn({ inputs }: DraftSubPipeline, { inputs: known, suggestions }: KnownKeys): string[] {
  return inputs.flatMap(({ key }) => (known.has(key) ? [key] : [key, ...suggestions.nearest(key, known)]));
}

/** In a map of pipelines by id. */
function besideThePlan(id: string): (problem: Problem) => Problem {
  return (problem) => ({
    ...problemOfText(problem),
    path: `${pointerOf(['pipelines', id])}${problem.path}`,
  });
}

function missingPipeline(
  { id, file }: DraftSubPipeline,
  given: Extract<GivenPipeline, { missing: unknown }> | undefined,
  path: Path,
  complete: boolean,
): Finding {
  if (!complete) {
    const why = given?.missing.message ?? 'it is not at hand';
    const message = `sub-pipeline "${id}" was not compared with its pipeline: ${why}`;
    return { code: 'missing_pipeline', severity: 'warning', message, path };
  }
  const { message, hint } = given?.missing ?? {
    message: `the pipeline ${file === undefined ? '' : `"${file}" `}of sub-pipeline "${id}" is not at hand`,
    hint: 'write it in the plan, under "pipeline", or give it beside the plan',
  };
  return { code: 'missing_pipeline', message, path, ...(hint === undefined ? {} : { hint }) };
}

function nestedPlan({ id }: DraftSubPipeline, path: Path): Finding {
  return {
    code: 'nested_plan',
    message: `sub-pipeline "${id}" is a plan, and a plan holds pipelines only`,
    path,
    hint: 'move its sub-pipelines into this plan',
  };
}

function bothGiven({ id, path }: DraftSubPipeline): Finding {
  return {
    code: 'invalid_value',
    message: `sub-pipeline "${id}" has both "file" and "pipeline"`,
    path: [...path, 'file'],
    hint: 'keep one of them',
  };
}
