import { isObject, toJsonPointer } from '../common/json/json.js';
import { MAX_CALLED_DEFINITION_LENGTH, MAX_NESTING_DEPTH } from '../common/limits.js';
import { ProblemList, withPositionInMessage } from '../definition/problems/diagnostic.js';
import type { Path, Problem } from '../definition/problems/problem.js';
import {
  type CheckSteps,
  groupUnquotedByEntry,
  nestedSource,
  requestSource,
  type Source,
} from '../definition/text/source.js';
import type { CheckContext } from './check-context.js';
import type { DraftTask, PipelineDraft } from './draft.js';
import type { CheckResult, Pipeline } from './pipeline.js';
import { isPipelineCall, isStaticDefinition } from './rules/pipeline-calls.js';

interface NestedCheck {
  /** The valid pipelines, by the id of the task that runs them. */
  readonly pipelines: ReadonlyMap<string, Pipeline>;
  /** Located in the enclosing definition. */
  readonly problems: readonly Problem[];
}

type CheckSource = (source: Source, context: CheckContext) => CheckSteps<CheckResult>;

/**
 * Checks the inline pipelines of tasks as `checkPipeline` does (D8).
 *
 * @param base leads to the enclosing definition
 * @param check `checkSourceInSteps`, passed in because it calls this function
 */
export function* checkNestedPipelines(
  draft: PipelineDraft,
  source: Source,
  base: Path,
  context: CheckContext,
  check: CheckSource,
): CheckSteps<NestedCheck> {
  const pipelines = new Map<string, Pipeline>();
  const problems = new ProblemList<Problem>();
  if (context.depth >= MAX_NESTING_DEPTH) return { pipelines, problems: [] };
  const unquotedIn = createUnquotedLookup(source, base);
  const readNested = createTextReader();
  for (const task of draft.tasks.filter(isPipelineCall)) {
    if (problems.isFull) break;
    const { pipeline } = task.literalInputs;
    if (!isStaticDefinition(pipeline)) continue;
    const path = [...base, ...task.path, 'inputs', 'pipeline'];
    const pointer = toJsonPointer(path);
    const isText = typeof pipeline === 'string';
    const position = isText ? source.positionOf(path) : undefined;
    const nested = isText
      ? yield* readNested(pipeline)
      : nestedSource(source, path, pipeline, unquotedIn(task));
    if (nested === undefined) {
      problems.add({ ...TOO_LONG, path: pointer, ...position });
      continue;
    }
    const result = yield* check(nested, createNestedContext(task, context));
    if (result.ok) pipelines.set(task.id, result.pipeline);
    for (const problem of result.problems) {
      const located = isText ? { ...withPositionInMessage(problem), ...position } : problem;
      problems.add({ ...located, path: `${pointer}${problem.path}` });
    }
  }
  return { pipelines, problems: problems.list() };
}

/** Finds the unquoted templates in the inline pipeline of a task, of whichever list. */
function createUnquotedLookup(source: Source, base: Path): (task: DraftTask) => readonly Path[] {
  const lookups = new Map<string, (index: number) => readonly Path[]>();
  return ({ list, path }) => {
    let lookup = lookups.get(list);
    if (lookup === undefined) {
      lookup = groupUnquotedByEntry(source, base, { list, field: ['inputs', 'pipeline'] });
      lookups.set(list, lookup);
    }
    return lookup(Number(path[1]));
  };
}

/**
 * Parses each text once, because an alias may give many tasks the same text. Returns undefined when the texts are too
 * long together: parsing is slow, and the run would not parse longer texts either.
 */
function createTextReader(): (text: string) => CheckSteps<Source | undefined> {
  const sources = new Map<string, Source>();
  let left = MAX_CALLED_DEFINITION_LENGTH;
  return function* read(text) {
    const known = sources.get(text);
    if (known !== undefined) return known;
    left -= text.length;
    if (left < 0) return undefined;
    const source = yield* requestSource(text);
    sources.set(text, source);
    return source;
  };
}

const TOO_LONG = {
  code: 'too_large',
  message: `the pipelines that tasks contain as text may have at most ${MAX_CALLED_DEFINITION_LENGTH / 1024} KiB together`,
  severity: 'error',
  hint: 'write them as maps, or in files',
} as const;

/** The nested pipeline sees the whole blackboard of that moment, whose keys are unknown before the run. */
function createNestedContext(
  { id, literalInputs, fields }: DraftTask,
  { catalog, secrets, isChecked, depth, heldPool, paramBudget }: CheckContext,
): CheckContext {
  const { inputs = {} } = literalInputs;
  const { pool } = fields;
  return {
    catalog,
    inputKeys: isObject(inputs) ? Object.keys(inputs) : undefined,
    suppliedInputs: [],
    inputHint: `give it a default under "inputs", or pass it in the "inputs" of task "${id}"`,
    session: { has: () => true },
    secrets,
    isChecked,
    depth: depth + 1,
    heldPool: typeof pool === 'string' ? pool : heldPool,
    paramBudget,
  };
}
