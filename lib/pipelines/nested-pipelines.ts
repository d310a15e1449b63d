import { isObject } from '../common/json.js';
import { MAX_CALLED_DEFINITION_LENGTH, MAX_NESTING_DEPTH } from '../common/limits.js';
import { withPositionInMessage } from '../definition/diagnostic.js';
import { type Path, type Problem, toJsonPointer } from '../definition/problem.js';
import { groupUnquotedByEntry, nestedSource, readSource, type Source } from '../definition/text/source.js';
import type { CheckContext } from './check-context.js';
import type { DraftTask, PipelineDraft } from './draft.js';
import type { CheckResult, Pipeline } from './pipeline.js';
import { isPipelineCall, isStaticDefinition } from './rules/pipeline-calls.js';

/** The result of checking the inline pipeline of one task. */
interface NestedCheck {
  readonly taskId: string;
  /** Undefined when it is not valid. */
  readonly pipeline: Pipeline | undefined;
  /** Located in the enclosing definition. */
  readonly problems: readonly Problem[];
}

type CheckSource = (source: Source, context: CheckContext) => CheckResult;

/**
 * Checks the inline pipelines of tasks with the one validator (D8).
 *
 * @param base leads to the enclosing definition
 * @param check `checkSource`, passed in because it calls this function
 */
export function checkNestedPipelines(
  draft: PipelineDraft,
  source: Source,
  base: Path,
  context: CheckContext,
  check: CheckSource,
): NestedCheck[] {
  if (context.depth >= MAX_NESTING_DEPTH) return [];
  const unquotedIn = groupUnquotedByEntry(source, base, { list: 'tasks', field: ['inputs', 'pipeline'] });
  const readText = createTextReader();
  return draft.tasks.filter(isPipelineCall).flatMap((task): NestedCheck[] => {
    const { pipeline } = task.literalInputs;
    if (!isStaticDefinition(pipeline)) return [];
    const path = [...base, ...task.path, 'inputs', 'pipeline'];
    const nestedContext = createNestedContext(task, context);
    if (typeof pipeline === 'string') {
      const position = source.positionOf(path);
      const text = readText(pipeline);
      if (text === undefined) return [tooLong(task, { path: toJsonPointer(path), ...position })];
      const result = check(text, nestedContext);
      return [
        toNestedCheck(task, result, path, (problem) => ({ ...withPositionInMessage(problem), ...position })),
      ];
    }
    const part = nestedSource(source, path, pipeline, unquotedIn(Number(task.path[1])));
    return [toNestedCheck(task, check(part, nestedContext), path, (problem) => problem)];
  });
}

/** Collects the valid pipelines, by the id of the task that runs them. */
export function collectNestedPipelines(checks: readonly NestedCheck[]): ReadonlyMap<string, Pipeline> {
  return new Map(
    checks.flatMap(({ taskId, pipeline }) => (pipeline === undefined ? [] : [[taskId, pipeline] as const])),
  );
}

function toNestedCheck(
  { id }: DraftTask,
  result: CheckResult,
  path: Path,
  locate: (problem: Problem) => Problem,
): NestedCheck {
  const problems = result.problems.map((problem) => ({
    ...locate(problem),
    path: `${toJsonPointer(path)}${problem.path}`,
  }));
  return { taskId: id, pipeline: result.ok ? result.pipeline : undefined, problems };
}

/**
 * Parses each text once, because an alias may give many tasks the same text. Returns undefined when the texts are too
 * long together: parsing is slow, and the run would not parse longer texts either.
 */
function createTextReader(): (text: string) => Source | undefined {
  const sources = new Map<string, Source>();
  let left = MAX_CALLED_DEFINITION_LENGTH;
  return (text) => {
    const known = sources.get(text);
    if (known !== undefined) return known;
    left -= text.length;
    if (left < 0) return undefined;
    const source = readSource(text);
    sources.set(text, source);
    return source;
  };
}

function tooLong({ id }: DraftTask, location: Pick<Problem, 'path' | 'line' | 'column'>): NestedCheck {
  const limit = MAX_CALLED_DEFINITION_LENGTH / 1024;
  const message = `the pipelines that tasks contain as text may have at most ${limit} KiB together`;
  const hint = 'write them as maps, or in files';
  return {
    taskId: id,
    pipeline: undefined,
    problems: [{ code: 'too_large', message, severity: 'error', ...location, hint }],
  };
}

/** The nested pipeline sees the whole blackboard of that moment, whose keys are unknown before the run. */
function createNestedContext(
  { id, literalInputs }: DraftTask,
  { catalog, depth }: CheckContext,
): CheckContext {
  const { inputs = {} } = literalInputs;
  return {
    catalog,
    inputKeys: isObject(inputs) ? Object.keys(inputs) : undefined,
    suppliedInputs: [],
    inputHint: `give it a default under "inputs", or pass it in the "inputs" of task "${id}"`,
    session: { has: () => true },
    depth: depth + 1,
  };
}
