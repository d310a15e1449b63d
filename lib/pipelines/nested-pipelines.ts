import { problemOfText } from '../definition/placing.js';
import { type Path, type Problem, pointerOf } from '../definition/problem.js';
import { readSource, type Source, sourceWithin } from '../definition/text/source.js';
import { unquotedByEntry } from '../definition/text/unquoted.js';
import { isObject } from '../common/json.js';
import { LONGEST_CALLED_DEFINITION, MOST_NESTED_PIPELINES } from '../common/limits.js';
import { runsPipeline, standsInPlace } from './rules/pipeline-calls.js';
import type { Draft, DraftTask } from './draft.js';
import type { Known } from './check-context.js';
import type { Check, Pipeline } from './pipeline.js';

/** What the check of a definition within a task found. */
interface NestedCheck {
  readonly task: string;
  /** Undefined when it cannot run. */
  readonly pipeline: Pipeline | undefined;
  /** With their place in the definition around it. */
  readonly problems: readonly Problem[];
}

type CheckNested = (source: Source, known: Known) => Check;

/**
 * Checks the definitions that stand within tasks, by the one validator (D8).
 *
 * @param base leads to the definition around them
 */
export function nestedChecks(
  draft: Draft,
  source: Source,
  base: Path,
  known: Known,
  check: CheckNested,
): NestedCheck[] {
  if (known.nesting >= MOST_NESTED_PIPELINES) return [];
  const unquotedIn = unquotedByEntry(source, base, { list: 'tasks', field: ['inputs', 'pipeline'] });
  const sourceOfText = textReader();
  return draft.tasks.filter(runsPipeline).flatMap((task): NestedCheck[] => {
    const { pipeline } = task.literalInputs;
    if (!standsInPlace(pipeline)) return [];
    const at = [...base, ...task.path, 'inputs', 'pipeline'];
    const within = knownWithin(task, known);
    if (typeof pipeline === 'string') {
      const place = source.positionOf(at);
      const text = sourceOfText(pipeline);
      if (text === undefined) return [tooLong(task, { path: pointerOf(at), ...place })];
      const found = check(text, within);
      return [nestedCheck(task, found, at, (problem) => ({ ...problemOfText(problem), ...place }))];
    }
    const part = sourceWithin(source, at, pipeline, unquotedIn(Number(task.path[1])));
    return [nestedCheck(task, check(part, within), at, (problem) => problem)];
  });
}

/** Those that may run, by the id of the task that runs them. */
export function nestedPipelines(checks: readonly NestedCheck[]): ReadonlyMap<string, Pipeline> {
  return new Map(
    checks.flatMap(({ task, pipeline }) => (pipeline === undefined ? [] : [[task, pipeline] as const])),
  );
}

function nestedCheck(
  { id }: DraftTask,
  check: Check,
  at: Path,
  told: (problem: Problem) => Problem,
): NestedCheck {
  const problems = check.problems.map((problem) => ({
    ...told(problem),
    path: `${pointerOf(at)}${problem.path}`,
  }));
  return { task: id, pipeline: check.ok ? check.pipeline : undefined, problems };
}

/**
 * Many tasks may have one text, by an alias: it is read once. Reading takes long, and the run would read no longer one:
 * past so much of it no further text is read.
 */
function textReader(): (text: string) => Source | undefined {
  const known = new Map<string, Source>();
  let left = LONGEST_CALLED_DEFINITION;
  return (text) => {
    const source = known.get(text);
    if (source !== undefined) return source;
    left -= text.length;
    if (left < 0) return undefined;
    const read = readSource(text);
    known.set(text, read);
    return read;
  };
}

function tooLong({ id }: DraftTask, place: Pick<Problem, 'path' | 'line' | 'column'>): NestedCheck {
  const limit = LONGEST_CALLED_DEFINITION / 1024;
  const message = `the texts of pipelines that tasks run may have ${limit} KiB together`;
  const hint = 'write them as maps, or in files';
  return {
    task: id,
    pipeline: undefined,
    problems: [{ code: 'too_large', message, severity: 'error', ...place, hint }],
  };
}

/** It sees all that stands on the blackboard by then, which nobody knows before the run. */
function knownWithin({ id, literalInputs }: DraftTask, { catalog, nesting }: Known): Known {
  const { inputs = {} } = literalInputs;
  return {
    catalog,
    inputs: isObject(inputs) ? Object.keys(inputs) : undefined,
    givenInputs: [],
    inputHint: `give it a default under "inputs", or hand it on: name it in the "inputs" of task "${id}"`,
    session: { has: () => true },
    nesting: nesting + 1,
  };
}
