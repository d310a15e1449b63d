import type { JsonObject } from '../../common/json.js';
import type { PipelineDefinition } from '../../definition/schema/schema.js';
import type { ExecutionOptions } from '../../execution/run-inputs.js';
import type { CliContext } from '../context.js';
import { type NumberRule, readNumber } from '../input/flags.js';
import type { DefinitionFlags } from '../input/loaded-definition.js';
import { plural } from '../render/text.js';
import { BadUsage } from '../usage-errors.js';

/** The flags of `run`, as they were given. */
export interface RunFlags extends DefinitionFlags {
  readonly json: boolean;
  readonly timeout?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly planConcurrency?: string | undefined;
  readonly jitter?: string | undefined;
  readonly retryBaseDelay?: string | undefined;
  readonly maxRetryDelay?: string | undefined;
  readonly events?: string | undefined;
  readonly tenant?: string | undefined;
  readonly verbose: boolean;
  readonly quiet: boolean;
}

const TIMEOUT: NumberRule = { least: 0, above: true, unit: 'seconds', example: '30' };
const DELAY: NumberRule = { least: 0, unit: 'seconds', example: '0.5' };
const PLAN_CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'sub-pipelines at once', example: '2' };
const JITTER: NumberRule = { least: 0, most: 1, unit: 'a fraction of the delay', example: '0.2' };
const CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'items at once', example: '8' };

/**
 * The ExecutionOptions that the flags give; what no flag names is left to the defaults.
 *
 * @throws BadUsage for the first flag that is no number or out of range.
 */
export function readRunOptions(flags: RunFlags): ExecutionOptions {
  const given = {
    per_task_timeout: readNumber('--timeout', flags.timeout, TIMEOUT),
    fan_out_concurrency: readNumber('--concurrency', flags.concurrency, CONCURRENCY),
    backoff_jitter: readNumber('--jitter', flags.jitter, JITTER),
    retry_base_delay: readNumber('--retry-base-delay', flags.retryBaseDelay, DELAY),
    max_retry_delay: readNumber('--max-retry-delay', flags.maxRetryDelay, DELAY),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** How many sub-pipelines of a plan may run together (D45). Throws BadUsage for what is no such number. */
export function readPlanConcurrency({ planConcurrency }: RunFlags): number | undefined {
  return readNumber('--plan-concurrency', planConcurrency, PLAN_CONCURRENCY);
}

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
