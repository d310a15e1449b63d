import { didYouMean } from '../suggest.js';
import { formatPath, type Segment } from './expression.js';

interface Names {
  readonly taskIds: ReadonlySet<string>;
  /** Keys of the declared inputs. */
  readonly inputs: ReadonlySet<string>;
}

/**
 * Returns the hint for a template that starts with a word of another product, such as `{{workflow.parameters.x}}` of
 * Argo or `{{needs.a.outputs.x}}` of GitHub; undefined for any other word.
 */
export function hintForForeignRoot(
  root: string,
  path: readonly Segment[],
  { taskIds, inputs }: Names,
): string | undefined {
  switch (root) {
    case 'goal':
      return didYouMean('pipeline.goal');
    case 'inputs':
      return (
        (inputs.has('parameters') ? undefined : hintForParameters(path)) ??
        didYouMean(formatPath('pipeline.inputs', path))
      );
    case 'workflow':
      return hintForParameters(path);
    case 'tasks':
    case 'steps':
    case 'jobs':
    case 'needs':
    case 'nodes':
      return hintForOutput(path, taskIds);
    case 'env':
    case 'environment':
    case 'vars':
    case 'variables':
      return 'templates read no environment: declare a param and pass it';
    case 'secret':
      return didYouMean(formatPath('secrets', path));
    default:
      return undefined;
  }
}

/** `parameters.x` after the root. */
function hintForParameters([first, ...rest]: readonly Segment[]): string | undefined {
  return first?.name === 'parameters' && rest.length > 0 ? didYouMean(formatPath('params', rest)) : undefined;
}

/** `a.outputs.parameters.x`, `a.outputs.x` or `a.output.x` after the root. */
function hintForOutput(
  [task, output, ...rest]: readonly Segment[],
  taskIds: ReadonlySet<string>,
): string | undefined {
  const id = task?.name ?? '';
  const isOutput = output?.name === 'output' || output?.name === 'outputs';
  const [first, ...others] = rest;
  const isWrapped = first?.name === 'parameters' && others.length > 0;
  const fields = isOutput ? (isWrapped ? others : rest) : [];
  if (taskIds.has(id)) return didYouMean(formatPath(`${id}.output`, fields));
  return isOutput ? `an output is read as {{${formatPath('TASK.output', fields)}}}` : undefined;
}
