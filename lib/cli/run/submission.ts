import type { JsonObject } from '../../common/json/json.js';
import { BY_COMMAND_LINE } from '../../common/wire/started-by.js';
import { formatCount } from '../../common/text.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { PipelineDefinition } from '../../definition/schema/schema.js';
import type { ExecutionOptions } from '../../execution/prepare/run-inputs.js';
import type { DefinitionSource } from '../../submission/definition-checker.js';
import type { Submission, SubmittedValues } from '../../submission/submitter.js';
import type { CliContext } from '../context.js';
import {
  type NumberRule,
  readDuration,
  readJsonObject,
  readLabelFlag,
  readNumber,
  readParamFlags,
} from '../input/flags.js';
import { type DefinitionFile, type DefinitionFlags, readDefinition } from '../input/load-definition.js';
import { STANDARD_INPUT } from '../input/read-file.js';
import type { FlagsOf, RunValuesCommand, ShellRunCommand } from '../input/shared-options.js';
import { UsageError } from '../input/usage-errors.js';

/** The flags of `run` that say how to display it. */
export type RunFlags = Pick<
  FlagsOf<ShellRunCommand>,
  'json' | 'full' | 'events' | 'record' | 'inspect' | 'output' | 'partial' | 'verbose' | 'quiet'
>;

/** The flags that say how a run executes and with which values, unparsed. */
export type RunValueFlags = Partial<FlagsOf<RunValuesCommand>> & {
  readonly tenant?: string | undefined;
  readonly breakBefore?: readonly string[] | undefined;
  readonly breakOnFailure?: boolean;
};

export interface ShellSubmission extends Omit<Submission, 'tenantId'> {
  /** Undefined without the flag: then the receiver of the submission chooses. */
  readonly tenantId: string | undefined;
}

/** Reads the file that the flags name, and makes a submission of it and of their values (D73). Rejects with a UsageError. */
export async function readFileSubmission(
  flags: DefinitionFlags & RunValueFlags,
  context: CliContext,
): Promise<{ readonly file: DefinitionFile; readonly submission: ShellSubmission }> {
  const values = await readRunValues(flags, context);
  const file = await readDefinition(flags, context);
  assertFlagsFit(file.kind, values);
  const { inputs, session } = file;
  const submission = {
    definition: toTextSource(file),
    values: { ...values, ...(inputs && { inputs }), ...(session && { session }) },
    tenantId: flags.tenant,
    startedBy: BY_COMMAND_LINE,
  };
  return { file, submission };
}

export function toTextSource({ kind, text, pipelines }: DefinitionFile): DefinitionSource {
  const definition = { text };
  return kind === 'plan' ? { kind, definition, pipelines } : { kind, definition };
}

/** The values of {@link RunValueFlags}. A flag that is absent leaves its field out, so that the default applies. */
export type FlagValues = Pick<SubmittedValues, 'params' | 'breakpoints' | 'labels' | 'plan_concurrency'> & {
  readonly options: ExecutionOptions;
};

/** Reads the values of a run. Rejects with a UsageError for the first flag that cannot be used. */
export async function readRunValues(flags: RunValueFlags, context: CliContext): Promise<FlagValues> {
  const options = readExecutionOptions(flags);
  const concurrency = readNumber('--plan-concurrency', flags.planConcurrency, PLAN_CONCURRENCY);
  if (flags.tenant === '') throw new UsageError('--tenant must not be empty', 'for example --tenant acme');
  const given = await readJsonObject('--params', flags.params, context);
  const params = flags.param === undefined ? given : { ...given, ...readParamFlags(flags.param) };
  const { label, breakBefore = [], breakOnFailure = false } = flags;
  const labels = label && Object.fromEntries(label.map(readLabelFlag));
  return {
    options,
    ...(params && { params }),
    ...(labels && { labels }),
    ...(concurrency && { plan_concurrency: concurrency }),
    ...(hasBreakpoints(flags) && { breakpoints: { before: breakBefore, on_failure: breakOnFailure } }),
  };
}

function hasBreakpoints({ breakBefore = [], breakOnFailure = false }: RunValueFlags): boolean {
  return breakBefore.length > 0 || breakOnFailure;
}

/** Checks that a paused run can ask how it goes on. @throws UsageError when something else is read from standard input */
export function assertCanAsk(flags: DefinitionFlags & RunValueFlags): void {
  const { file, params, inputs, session, sessionFile, envFile } = flags;
  const texts = [params, inputs, session].map((json) => json?.replace(/^@/, ''));
  if (![file, sessionFile, envFile, ...texts].includes(STANDARD_INPUT) || !hasBreakpoints(flags)) return;
  throw new UsageError(
    'a run with breakpoints asks on standard input how it goes on, so nothing else can be read from there',
    'put it into a file, and name the file',
  );
}

/** @throws UsageError for a flag of the other kind of definition */
export function assertFlagsFit(kind: DefinitionKind, values: FlagValues): void {
  if (kind === 'plan' && values.params !== undefined) {
    throw new UsageError(
      '--params is for pipelines: plans have no params',
      `write --inputs '{"key": "value"}'; the plan passes its inputs on to its sub-pipelines`,
    );
  }
  if (kind === 'pipeline' && values.plan_concurrency !== undefined) {
    throw new UsageError(
      '--plan-concurrency is for plans',
      'write --concurrency to limit the items of one fan-out in flight',
    );
  }
}

const PLAN_CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'sub-pipelines at once', example: '2' };
const TIMEOUT: NumberRule = { least: 0, above: true, unit: 'seconds, or as in 5m', example: '30' };
const CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'items at once', example: '8' };
const JITTER: NumberRule = { least: 0, most: 1, unit: 'a fraction of the delay', example: '0.2' };
const DELAY: NumberRule = { least: 0, unit: 'seconds, or as in 5m', example: '0.5' };

/** Reads the options of the execution. One without a flag is absent, so its default applies. @throws UsageError */
function readExecutionOptions(flags: RunValueFlags): ExecutionOptions {
  const options = {
    per_task_timeout: readDuration('--timeout', flags.timeout, TIMEOUT),
    fan_out_concurrency: readNumber('--concurrency', flags.concurrency, CONCURRENCY),
    backoff_jitter: readNumber('--jitter', flags.jitter, JITTER),
    retry_base_delay: readDuration('--retry-base-delay', flags.retryBaseDelay, DELAY),
    max_retry_delay: readDuration('--max-retry-delay', flags.maxRetryDelay, DELAY),
    cache: flags.noCache === true ? false : undefined,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** The declarations of params, of a definition that was checked here or by a server. */
type Params = Readonly<Record<string, Param>>;

type Param = Pick<
  NonNullable<PipelineDefinition['params']>[string],
  'type' | 'default' | 'description' | 'enum'
>;

/**
 * Checks `--params` against the params of a valid pipeline before anything starts. @throws UsageError that names every problem,
 * the params that the pipeline takes and how to pass them (D40)
 */
export async function checkParams(
  { kind, source }: DefinitionFile,
  { params: values = {} }: SubmittedValues,
  command: string,
): Promise<void> {
  if (kind === 'plan') return;
  const { findRoot, resolveParams } = await import('../lazy/validation.js');
  const root = findRoot(source.value, kind);
  if (!root.ok) return;
  const definition = root.definition as PipelineDefinition;
  const params = definition.params ?? {};
  const hasParams = Object.keys(params).length > 0;
  if (!hasParams && Object.keys(values).length === 0) return;
  const resolved = resolveParams(definition, values);
  if (resolved.ok) return;
  const { problems } = resolved;
  const message =
    problems.length === 1
      ? problems.join()
      : indentBelow(`${formatCount(problems.length, 'param')} cannot be used:`, problems);
  throw new UsageError(message, hasParams ? describeParams(params, values, command) : undefined);
}

/** Describes the params that a definition takes, and how they are passed. @param values the params that were given */
export function describeParams(params: Params, values: JsonObject, command: string): string {
  const example = Object.entries(params)
    .filter(([name, param]) => Object.hasOwn(values, name) || param.default === undefined)
    .map(([name, param]) => [name, createExample(param)]);
  const descriptions = Object.entries(params).map(([name, param]) => describeParam(name, param));
  const json = JSON.stringify(Object.fromEntries(example)).replaceAll("'", "'\\''");
  return `${indentBelow('its params:', descriptions)}\n  try: ${command} --params '${json}'`;
}

/** As in `city (string, required): where it is`. */
export function describeParam(name: string, { type, default: fallback, description }: Param): string {
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

function createExample({ type, enum: choices }: Param): unknown {
  return choices?.[0] ?? EXAMPLES[type ?? 'string'];
}

function indentBelow(title: string, lines: readonly string[]): string {
  return [title, ...lines.map((line) => `    ${line}`)].join('\n');
}
