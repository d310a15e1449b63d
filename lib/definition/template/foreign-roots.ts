import { type Hint, hintRename } from '../problems/hint.js';
import { formatPath, type Segment } from './expressions/expression.js';

interface Names {
  readonly taskIds: ReadonlySet<string>;
  /** Keys of the declared inputs. */
  readonly inputs: ReadonlySet<string>;
}

const TASKS = ['tasks', 'steps', 'jobs', 'needs', 'nodes'];
const ENVIRONMENTS = ['env', 'environment', 'vars', 'variables'];

/**
 * Returns the hint for a template that starts with a word of another product, such as `{{workflow.parameters.x}}` of
 * Argo or `{{needs.a.outputs.x}}` of GitHub; undefined for any other word.
 */
export function hintForForeignRoot(
  root: string,
  path: readonly Segment[],
  { taskIds, inputs }: Names,
): Hint | undefined {
  const suggest = (meant: string): Hint => hintRename(formatPath(root, path), meant);
  if (TASKS.includes(root)) return hintForOutput(path, taskIds, suggest);
  if (ENVIRONMENTS.includes(root)) return 'templates read no environment: declare a param and pass it';
  switch (root) {
    case 'goal':
      return suggest('pipeline.goal');
    case 'inputs': {
      const param = inputs.has('parameters') ? undefined : hintForParameters(path, suggest);
      return param ?? suggest(formatPath('pipeline.inputs', path));
    }
    case 'workflow':
      return hintForParameters(path, suggest);
    case 'error':
    case 'failed_task':
    case 'run_id':
      return path.length > 0 ? undefined : suggest(root === 'run_id' ? 'run.id' : `run.${root}`);
    case 'secret':
      return suggest(formatPath('secrets', path));
    default:
      return undefined;
  }
}

type Suggest = (meant: string) => Hint;

/** `parameters.x` after the root. */
function hintForParameters([first, ...rest]: readonly Segment[], suggest: Suggest): Hint | undefined {
  return first?.name === 'parameters' && rest.length > 0 ? suggest(formatPath('params', rest)) : undefined;
}

/** `a.outputs.parameters.x`, `a.outputs.x` or `a.output.x` after the root. */
function hintForOutput(
  [task, output, ...rest]: readonly Segment[],
  taskIds: ReadonlySet<string>,
  suggest: Suggest,
): Hint | undefined {
  const id = task?.name ?? '';
  const isOutput = output?.name === 'output' || output?.name === 'outputs';
  const [first, ...others] = rest;
  const isWrapped = first?.name === 'parameters' && others.length > 0;
  const fields = isOutput ? (isWrapped ? others : rest) : [];
  if (taskIds.has(id)) return suggest(formatPath(`${id}.output`, fields));
  return isOutput ? `an output is read as {{${formatPath('TASK.output', fields)}}}` : undefined;
}
