import { type Path, type Problem, pointerOf } from '../definition/problem.js';
import { type Source, sourceWithin } from '../definition/source.js';
import type { Finding } from '../definition/structure.js';
import { isObject } from '../json.js';
import { MOST_NESTED_PIPELINES } from '../limits.js';
import type { Draft, DraftTask } from './draft.js';
import type { Known } from './known.js';
import type { Check } from './pipeline.js';

/** The tool whose task runs the pipeline that it is given (D49). */
const RUNS_PIPELINES = 'run_pipeline';

/** A task that runs a pipeline may store whatever that one stores. */
export function runsPipeline({ tool }: DraftTask): boolean {
  return tool === RUNS_PIPELINES;
}

/** What can be told of the calls themselves: each names one pipeline, and none too deep. */
export function callFindings(draft: Draft, nesting: number): Finding[] {
  return draft.tasks.filter(runsPipeline).flatMap(({ id, path, literalInputs }): Finding[] => {
    const at = [...path, 'inputs'];
    const [file, pipeline] = [literalInputs['file'], literalInputs['pipeline']];
    if (file === undefined && pipeline === undefined) {
      const message = `task "${id}" names no pipeline to run`;
      return [{ code: 'missing_input', message, path, hint: 'give it "file" or "pipeline"' }];
    }
    if (file !== undefined && pipeline !== undefined) {
      const message = `task "${id}" has both "file" and "pipeline"`;
      return [{ code: 'invalid_input', message, path: [...at, 'file'], hint: 'keep one of them' }];
    }
    if (nesting < MOST_NESTED_PIPELINES || !isObject(pipeline)) return [];
    const message = `pipelines may run each other ${MOST_NESTED_PIPELINES} deep, and this goes deeper`;
    return [{ code: 'too_deep', message, path: [...at, 'pipeline'] }];
  });
}

/**
 * Checks the definitions that stand within tasks, by the one validator (D8): their problems have their place in the
 * definition around them.
 *
 * @param base leads to the definition around them
 */
export function nestedProblems(
  draft: Draft,
  source: Source,
  base: Path,
  known: Known,
  check: (source: Source, known: Known) => Check,
): Problem[] {
  if (known.nesting >= MOST_NESTED_PIPELINES) return [];
  const unquoted = unquotedByTask(source, base);
  return draft.tasks.filter(runsPipeline).flatMap((task) => {
    const { pipeline } = task.literalInputs;
    if (!isObject(pipeline)) return [];
    const at = [...base, ...task.path, 'inputs', 'pipeline'];
    const part = sourceWithin(source, at, pipeline, unquoted.get(task.path[1] ?? '') ?? []);
    const { problems } = check(part, knownWithin(task, known));
    return problems.map((problem) => ({ ...problem, path: `${pointerOf(at)}${problem.path}` }));
  });
}

/** It sees all that stands on the blackboard by then, which nobody knows before the run. */
function knownWithin({ id, literalInputs }: DraftTask, { catalog, nesting }: Known): Known {
  const { inputs = {} } = literalInputs;
  return {
    catalog,
    inputs: isObject(inputs) ? Object.keys(inputs) : undefined,
    inputHint: `give it a default under "inputs", or hand it on: name it in the "inputs" of task "${id}"`,
    session: { has: () => true },
    nesting: nesting + 1,
  };
}

/** Where templates stand unquoted in the definition within each task, from its own root; found in one pass. */
function unquotedByTask({ unquoted }: Source, base: Path): ReadonlyMap<string | number, Path[]> {
  const byTask = new Map<string | number, Path[]>();
  for (const path of unquoted) {
    const [list, index, inputs, input, ...rest] = path.slice(base.length);
    if (list !== 'tasks' || index === undefined || inputs !== 'inputs' || input !== 'pipeline') continue;
    const known = byTask.get(index);
    if (known === undefined) byTask.set(index, [rest]);
    else known.push(rest);
  }
  return byTask;
}
