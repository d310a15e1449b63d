import type { PipelineDefinition } from '../../definition/schema/schema.js';
import type { JsonObject } from '../../common/json.js';
import { BadUsage } from '../bad-usage.js';
import type { CliContext } from '../context.js';
import { plural } from '../words.js';

type Params = NonNullable<PipelineDefinition['params']>;

const EXAMPLES: Readonly<Record<string, unknown>> = {
  string: 'text',
  integer: 3,
  number: 0.5,
  boolean: true,
  list: [],
  object: {},
};

/**
 * Checks the params given for a run before anything starts, and names everything that is wrong with them, what
 * the pipeline takes and how to give it.
 *
 * @throws BadUsage (a missing required param is bad usage, D40)
 */
export async function checkParams(
  definition: PipelineDefinition,
  given: JsonObject,
  command: string,
  { services }: Pick<CliContext, 'services'>,
): Promise<void> {
  const params = definition.params ?? {};
  if (Object.keys(params).length === 0 && Object.keys(given).length === 0) return;
  const resolved = await services.params(definition, given);
  if (resolved.ok) return;
  const { problems } = resolved;
  const summary =
    problems.length === 1
      ? problems[0]
      : listOf(`${plural(problems.length, 'param')} cannot be used:`, problems);
  throw new BadUsage(
    summary ?? '',
    Object.keys(params).length === 0 ? undefined : howToGive(params, given, command),
  );
}

function howToGive(params: Params, given: JsonObject, command: string): string {
  const example = Object.entries(params)
    .filter(([name, param]) => Object.hasOwn(given, name) || param.default === undefined)
    .map(([name, param]) => [name, exampleOf(param)]);
  const takes = Object.entries(params).map(([name, param]) => describe(name, param));
  const json = JSON.stringify(Object.fromEntries(example)).replaceAll("'", "'\\''");
  return `${listOf('its params:', takes)}\n  as in ${command} --params '${json}'`;
}

function describe(name: string, { type, default: fallback, description }: Params[string]): string {
  const need = fallback === undefined ? 'required' : `default ${JSON.stringify(fallback)}`;
  return `${name} (${type ?? 'string'}, ${need})${description === undefined ? '' : `: ${description}`}`;
}

function exampleOf({ type, enum: choices }: Params[string]): unknown {
  return choices?.[0] ?? EXAMPLES[type ?? 'string'];
}

function listOf(title: string, lines: readonly string[]): string {
  return [title, ...lines.map((line) => `    ${line}`)].join('\n');
}
