import {
  type DataSource,
  defineTool,
  type InputDeclarations,
  type InputsOf,
  type ToolContext,
  type ToolDeclaration,
} from '../../../tool.js';
import type { OutputDeclaration, ReturnOf } from '../../../schemas/output.js';

const OUTPUT: OutputDeclaration = {
  name: 'data',
  description: 'status: "success", source, and what the source has found',
  type: 'object',
};

/** A source as authors declare it: its inputs are further inputs of the task, with the metadata and checks of a tool. */
export interface SourceDeclaration<
  M extends InputDeclarations,
  O extends OutputDeclaration = OutputDeclaration,
> extends ToolDeclaration<M, O> {
  /** Finds the data, with `context.fetch`, `context.files` or what the author likes; errors are those of a tool. */
  readonly fetch: (inputs: InputsOf<M>, context: ToolContext) => ReturnOf<O>;
}

/**
 * Defines a source that tasks read with the tool `fetch_data` (D49). A tool file exports it as it exports a tool.
 *
 *     export const rates = defineSource({
 *       name: 'rates', description: 'Exchange rates', inputs: { day: { type: 'string', required: true, description: 'a date' } },
 *       fetch: async ({ day }, context) => JSON.parse((await context.fetch(`https://rates.example/${day}`)).bytes.toString()),
 *     });
 *
 * @throws TypeError when the name is not made of lower-case letters, digits and `_`, or an input is called `source`, and
 * for a mistake in the declaration, as defineTool does
 */
export function defineSource<
  const M extends InputDeclarations,
  const O extends OutputDeclaration = OutputDeclaration,
>({ fetch, ...declaration }: SourceDeclaration<M, O>): DataSource {
  if (typeof fetch !== 'function')
    throw new TypeError(`the source "${declaration.name}" cannot be defined: it has no function "fetch"`);
  return sourceOf<M>({ version: String(fetch), ...declaration, run: fetch });
}

/** Like {@link defineSource}, for a declaration whose function is called `run`, as it is in a catalog. */
export function sourceOf<const M extends InputDeclarations>({
  output = OUTPUT,
  ...declaration
}: ToolDeclaration<M> & { readonly run: SourceDeclaration<M>['fetch'] }): DataSource {
  const { name, inputs } = declaration;
  if (Object.hasOwn(inputs ?? {}, 'source'))
    throw new TypeError(
      `the source "${name}" cannot have an input "source": in a task, that is the name of the source`,
    );
  return { ...defineTool({ ...declaration, output }), kind: 'source' };
}
