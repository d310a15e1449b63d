import type { JsonObject } from '../../common/json/json.js';
import { formatCount } from '../../common/text.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { PipelineDefinition } from '../../definition/schema/schema.js';
import type { Breakpoints, ExecutionOptions } from '../../execution/run-inputs.js';
import type { CliContext } from '../context.js';
import { type NumberRule, readJsonObject, readNumber } from '../input/flags.js';
import { STANDARD_INPUT } from '../input/read-file.js';
import { UsageError } from '../input/usage-errors.js';

/** The flags of `run` that say how to display it. */
export interface RunFlags {
  readonly json: boolean;
  readonly events?: string | undefined;
  readonly record?: string | undefined;
  readonly inspect?: string | boolean | undefined;
  readonly output?: string | undefined;
  readonly partial: boolean;
  readonly verbose: boolean;
  readonly quiet: boolean;
}

/** How `--inspect` shows a run: `wait` begins it when its page is open. */
export type InspectMode = 'show' | 'wait';

/**
 * Reads `--inspect`; undefined without it.
 *
 * @throws UsageError for a mode that there is not
 */
export function readInspectMode({ inspect = false }: Pick<RunFlags, 'inspect'>): InspectMode | undefined {
  if (inspect === false) return undefined;
  if (inspect === true) return 'show';
  if (inspect === 'wait') return inspect;
  throw new UsageError(
    `--inspect=${inspect} is not known`,
    'write --inspect, or --inspect=wait to wait for the page',
  );
}

/** The flags that say how a run executes and with which values, unparsed. */
export interface RunValueFlags {
  readonly params?: string | undefined;
  readonly tenant?: string | undefined;
  readonly timeout?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly planConcurrency?: string | undefined;
  readonly jitter?: string | undefined;
  readonly retryBaseDelay?: string | undefined;
  readonly maxRetryDelay?: string | undefined;
  readonly noCache?: boolean | undefined;
  readonly breakBefore?: readonly string[] | undefined;
  readonly breakOnFailure?: boolean | undefined;
}

/** The values of {@link RunValueFlags}, parsed. */
export interface ParsedValues {
  readonly options: ExecutionOptions;
  readonly params: JsonObject | undefined;
  readonly planConcurrency: number | undefined;
  /** Undefined for a run that never pauses. */
  readonly breakpoints: Breakpoints | undefined;
}

/**
 * Reads the values of a run. Rejects with a UsageError for the first flag that cannot be used.
 */
export async function readRunValues(flags: RunValueFlags, context: CliContext): Promise<ParsedValues> {
  const options = readExecutionOptions(flags);
  const planConcurrency = readNumber('--plan-concurrency', flags.planConcurrency, PLAN_CONCURRENCY);
  if (flags.tenant === '') throw new UsageError('--tenant must not be empty', 'for example --tenant acme');
  const params = await readJsonObject('--params', flags.params, context);
  return { options, params, planConcurrency, breakpoints: readBreakpoints(flags) };
}

/** True when a run may pause. */
export function hasBreakpoints(flags: RunValueFlags): boolean {
  return readBreakpoints(flags) !== undefined;
}

/** The flags that may say `-` or `@-`, and then read standard input. */
interface InputFlags extends RunValueFlags {
  readonly file: string;
  readonly inputs?: string | undefined;
  readonly session?: string | undefined;
  readonly sessionFile?: string | undefined;
  readonly envFile?: string | undefined;
}

/**
 * Checks that a paused run can ask on standard input how it goes on.
 *
 * @throws UsageError when the file or a value is read from there
 */
export function assertCanAsk(flags: InputFlags): void {
  const { file, params, inputs, session, sessionFile, envFile } = flags;
  const texts = [params, inputs, session].map((json) => json?.replace(/^@/, ''));
  if (![file, sessionFile, envFile, ...texts].includes(STANDARD_INPUT) || !hasBreakpoints(flags)) return;
  throw new UsageError(
    'a run with breakpoints asks on standard input how it goes on, so nothing else can be read from there',
    'put it into a file, and name the file',
  );
}

function readBreakpoints({
  breakBefore = [],
  breakOnFailure = false,
}: RunValueFlags): Breakpoints | undefined {
  if (breakBefore.length === 0 && !breakOnFailure) return undefined;
  return { before: breakBefore, on_failure: breakOnFailure };
}

/** @throws UsageError for a flag of the other kind of definition */
export function assertFlagsFit(kind: DefinitionKind, { params, planConcurrency }: ParsedValues): void {
  if (kind === 'plan' && params !== undefined) {
    throw new UsageError(
      '--params is for pipelines: plans have no params',
      `write --inputs '{"key": "value"}'; the plan passes its inputs on to its sub-pipelines`,
    );
  }
  if (kind === 'pipeline' && planConcurrency !== undefined) {
    throw new UsageError(
      '--plan-concurrency is for plans',
      'write --concurrency to limit the items of one fan-out in flight',
    );
  }
}

const PLAN_CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'sub-pipelines at once', example: '2' };
const TIMEOUT: NumberRule = { least: 0, above: true, unit: 'seconds', example: '30' };
const CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'items at once', example: '8' };
const JITTER: NumberRule = { least: 0, most: 1, unit: 'a fraction of the delay', example: '0.2' };
const DELAY: NumberRule = { least: 0, unit: 'seconds', example: '0.5' };

/**
 * Reads the ExecutionOptions from the flags. An option without a flag is absent, so its default applies.
 *
 * @throws UsageError for the first flag that is not a number or out of range
 */
function readExecutionOptions(flags: RunValueFlags): ExecutionOptions {
  const options = {
    per_task_timeout: readNumber('--timeout', flags.timeout, TIMEOUT),
    fan_out_concurrency: readNumber('--concurrency', flags.concurrency, CONCURRENCY),
    backoff_jitter: readNumber('--jitter', flags.jitter, JITTER),
    retry_base_delay: readNumber('--retry-base-delay', flags.retryBaseDelay, DELAY),
    max_retry_delay: readNumber('--max-retry-delay', flags.maxRetryDelay, DELAY),
    cache: flags.noCache === true ? false : undefined,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

type Params = NonNullable<PipelineDefinition['params']>;

/**
 * Checks the values of `--params` against the pipeline's params before anything starts.
 *
 * @param command the command line so far, for the example in the hint
 * @throws UsageError that names every problem, the params that the pipeline takes and how to pass them (D40)
 */
export async function checkParams(
  definition: PipelineDefinition,
  values: JsonObject,
  command: string,
): Promise<void> {
  const params = definition.params ?? {};
  const hasParams = Object.keys(params).length > 0;
  if (!hasParams && Object.keys(values).length === 0) return;
  const { resolveParams } = await import('../lazy/validation.js');
  const resolved = resolveParams(definition, values);
  if (resolved.ok) return;
  const { problems } = resolved;
  const message =
    problems.length === 1
      ? problems.join()
      : indentBelow(`${formatCount(problems.length, 'param')} cannot be used:`, problems);
  throw new UsageError(message, hasParams ? describeParams(params, values, command) : undefined);
}

function describeParams(params: Params, values: JsonObject, command: string): string {
  const example = Object.entries(params)
    .filter(([name, param]) => Object.hasOwn(values, name) || param.default === undefined)
    .map(([name, param]) => [name, createExample(param)]);
  const descriptions = Object.entries(params).map(([name, param]) => describeParam(name, param));
  const json = JSON.stringify(Object.fromEntries(example)).replaceAll("'", "'\\''");
  return `${indentBelow('its params:', descriptions)}\n  try: ${command} --params '${json}'`;
}

function describeParam(name: string, { type, default: fallback, description }: Params[string]): string {
  const need = fallback === undefined ? 'required' : `default ${JSON.stringify(fallback)}`;
  return `${name} (${type ?? 'string'}, ${need})${description === undefined ? '' : `: ${description}`}`;
}

const EXAMPLES: Readonly<Record<string, unknown>> = {
  string: 'text',
  integer: 3,
  number: 0.5,
  boolean: true,
  list: [],
  object: {},
};

function createExample({ type, enum: choices }: Params[string]): unknown {
  return choices?.[0] ?? EXAMPLES[type ?? 'string'];
}

function indentBelow(title: string, lines: readonly string[]): string {
  return [title, ...lines.map((line) => `    ${line}`)].join('\n');
}
