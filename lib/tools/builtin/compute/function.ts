import { runLongWork } from '../../../common/scheduling/run-in-slices.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import {
  type ComputeFunction,
  defineTool,
  type InputDeclarations,
  type InputsOf,
  type ToolContext,
  type ToolDeclaration,
} from '../../tool.js';
import type { OutputDeclaration, ReturnOf } from '../../schemas/output.js';

/**
 * Defines a function that tasks call with the tool `compute` (D49). Its declaration is like that of a tool: it gives the
 * metadata, the validation of the arguments, as written and as resolved, and the types of `run`.
 *
 * @throws TypeError when the name is not made of lower-case letters, digits and `_`, or an argument is called `function`,
 * and for a mistake in the declaration, as defineTool does
 */
export function defineFunction<
  const M extends InputDeclarations,
  const O extends OutputDeclaration = OutputDeclaration,
>(
  declaration: ToolDeclaration<M, O> & {
    readonly run: (inputs: InputsOf<M>, context: ToolContext) => ReturnOf<O>;
  },
): ComputeFunction {
  if (Object.hasOwn(declaration.inputs ?? {}, 'function'))
    throw new TypeError(
      `the function "${declaration.name}" cannot have an argument "function": in a task, that is the name of the function`,
    );
  return { ...defineTool(declaration), kind: 'function' };
}

/** Steps that a call does before others have their turn. */
const STEPS_AT_ONCE = 4;

/** Does short work at once, and the rest of long work with a pause after every step. */
export function runWithPausesIfLong<T>(context: ToolContext, work: Steps<T>): T | Promise<T> {
  for (let i = 0; i < STEPS_AT_ONCE; i++) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
  return runLongWork(context, () => work);
}
