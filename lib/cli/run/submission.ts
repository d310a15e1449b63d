import type { WavetrainClient } from '../../client/client.js';
import type { DefinitionOrText, SubPipelineDefinitions } from '../../client/requests.js';
import { WavetrainError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { MAX_YAML_LENGTH } from '../../common/limits.js';
import type { Problem } from '../../definition/problems/problem.js';
import type { PipelineDefinition } from '../../definition/schema/schema.js';
import type { PipelineInput } from '../../plans/plan.js';
import type { PlanReport } from '../../plans/report.js';
import type { AcceptedRun } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { type DefinitionFile, type DefinitionFlags, readDefinition } from '../input/load-definition.js';
import { printProblems } from '../input/problems.js';
import { PROGRAM } from '../package-info.js';
import { PipelineRunView } from '../progress/run-view.js';
import { serverFailureLines, serverFlag } from '../render/run-summary.js';
import type { DisplayedRun } from './execute-run.js';
import {
  assertFlagsFit,
  checkParams,
  readRunValues,
  type RunValueFlags,
  type ParsedValues,
} from './run-flags.js';

interface SubmissionFlags extends DefinitionFlags, RunValueFlags {
  readonly server?: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** A run that a server has validated and that is ready to be sent to it. */
export interface PreparedSubmission {
  readonly definition: DefinitionFile;
  /** Sends the run, at most once even if the request must be repeated (D36). */
  readonly submit: () => Promise<AcceptedRun>;
  /** Describes how the terminal displays the run. */
  readonly describe: () => Promise<Omit<DisplayedRun, 'backend' | 'filesRead' | 'outputFolder'>>;
}

/**
 * Reads a pipeline or plan and has the server validate it, since the server knows its tools. Prints the problems.
 *
 * @param command such as `run`, for examples in hints
 * @returns the run, or the exit status of an invalid definition
 */
export async function prepareSubmission(
  flags: SubmissionFlags,
  command: string,
  client: WavetrainClient,
  context: CliContext,
): Promise<PreparedSubmission | ExitStatus> {
  const values = await readRunValues(flags, context);
  const definition = await readDefinition(flags, context);
  assertFlagsFit(definition.kind, values);
  const { inputs, session } = definition;
  const common = {
    options: values.options,
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(flags.tenant !== undefined && { tenant_id: flags.tenant }),
    ...(values.breakpoints && { breakpoints: values.breakpoints }),
  };
  const key = { idempotencyKey: context.newId() };
  if (definition.kind === 'pipeline') {
    const pipeline = toSend(definition, definition.text.length);
    const check = await client.validate(pipeline, { inputs, session });
    printReport(definition, check, flags, context);
    if (!check.ok) return EXIT.invalid;
    const commandLine = `${PROGRAM} ${command} ${flags.file}${serverFlag(flags.server)}`;
    const params = await readParams(definition, values, commandLine);
    return {
      definition,
      submit: () => client.submit({ pipeline, ...common, params }, key),
      describe: () => describePipeline(pipeline, { inputs, session }, flags.server, client),
    };
  }
  const sent = await sendPlan(definition);
  const check = await client.validatePlan(sent.plan, { pipelines: sent.pipelines, inputs, session });
  printReport(definition, check, flags, context);
  if (!check.ok || check.stats === null) return EXIT.invalid;
  const { stats } = check;
  const { planConcurrency } = values;
  const request = { ...sent, ...common, ...(planConcurrency && { plan_concurrency: planConcurrency }) };
  return {
    definition,
    submit: () => client.submitPlan(request, key),
    describe: () => describePlan(stats, planConcurrency, flags.server),
  };
}

/** Prints the problems that a server has found. */
export function printReport(
  definition: DefinitionFile,
  { ok, problems }: { readonly ok: boolean; readonly problems: readonly Problem[] },
  { json, quiet }: Pick<SubmissionFlags, 'json' | 'quiet'>,
  context: CliContext,
): void {
  if (ok && (json || quiet)) return;
  const located = problems.map((problem) => hintAtServer(locateInFile(problem, definition)));
  printProblems({ ...definition, check: { ok, problems: located } }, context);
}

const SERVER_TOOLS_HINT = `the server has no such tool: GET /pipelines/tools lists its tools; ${PROGRAM} serve --tools FILE adds your own`;

/**
 * Replaces a server's hint at `wavetrain tools` and `--tools`, which is true of its own process only. A similar name
 * stays the hint.
 */
function hintAtServer(problem: Problem): Problem {
  const { code, hint } = problem;
  return code === 'unknown_tool' && hint?.includes('--tools') === true
    ? { ...problem, hint: SERVER_TOOLS_HINT }
    : problem;
}

const PATH_IN_PIPELINE = /^\/pipelines\/([^/]+)(.*)$/s;
const POSITION_IN_PIPELINE = /^line (\d+), column (\d+) of its text: (.*)$/s;

/** A server knows the pipelines of a plan by their ids only: names the file instead. */
function locateInFile(problem: Problem, { pipelines }: DefinitionFile): Problem {
  const [, id = '', path = ''] = PATH_IN_PIPELINE.exec(problem.path) ?? [];
  const input = pipelines.get(id);
  if (input === undefined || !('file' in input) || input.file === undefined) return problem;
  const located = { ...problem, path, file: input.file };
  const [, line, column, message] = POSITION_IN_PIPELINE.exec(problem.message) ?? [];
  if (message === undefined) return located;
  return { ...located, line: Number(line), column: Number(column), message };
}

/** The params of a pipeline that the server has found valid: a mistake in them is explained as for a run here. */
async function readParams(
  { source }: DefinitionFile,
  { params = {} }: ParsedValues,
  command: string,
): Promise<JsonObject> {
  const { findRoot } = await import('../lazy/validation.js');
  const root = findRoot(source.value, 'pipeline');
  if (root.ok) await checkParams(root.definition as PipelineDefinition, params, command);
  return params;
}

/**
 * Texts have line numbers in problems; those that are too long for a server are sent as JSON.
 *
 * @param length of all texts that are sent together
 */
export function toSend(
  { text, source }: Pick<DefinitionFile, 'text' | 'source'>,
  length: number,
): DefinitionOrText {
  const { value } = source;
  return length > MAX_YAML_LENGTH && typeof value === 'object' && value !== null ? value : text;
}

interface SentPlan {
  readonly plan: DefinitionOrText;
  readonly pipelines: SubPipelineDefinitions;
}

/** Rejects with `invalid_definition` when a pipeline cannot be read: the server reads no files. */
export async function sendPlan(definition: DefinitionFile): Promise<SentPlan> {
  const texts = new Map<string, string>();
  const missing: string[] = [];
  for (const [id, input] of definition.pipelines) {
    if ('text' in input) texts.set(id, input.text);
    else if ('missing' in input) missing.push(describeMissing(input.missing));
    else if ('unreadable' in input) missing.push(describeMissing(input.unreadable));
  }
  if (missing.length > 0) throw new WavetrainError('invalid_definition', missing.join('\n'));
  const length = [...texts.values()].reduce((sum, text) => sum + text.length, definition.text.length);
  const { readSource } = await import('../lazy/validation.js');
  const pipelines = [...texts].map(([id, text]) => [id, toSend({ text, source: readSource(text) }, length)]);
  return { plan: toSend(definition, length), pipelines: Object.fromEntries(pipelines) };
}

function describeMissing({ message, hint }: Extract<PipelineInput, { missing: unknown }>['missing']): string {
  return hint === undefined ? message : `${message}\n  ${hint}`;
}

type RunDisplay = Awaited<ReturnType<PreparedSubmission['describe']>>;

async function describePipeline(
  pipeline: DefinitionOrText,
  values: { readonly inputs: JsonObject | undefined; readonly session: JsonObject | undefined },
  server: string | undefined,
  client: WavetrainClient,
): Promise<RunDisplay> {
  const graph = await client.graph(pipeline, values);
  const waves = graph.waves.map((wave) => wave.map(({ id }) => id));
  return {
    hasParallelWaves: false,
    createView: () => new PipelineRunView(waves),
    formatFailures: (record, terminal, details) =>
      serverFailureLines(record, terminal, details, server, waves),
    listOutputs: () => waves.flat(),
  };
}

async function describePlan(
  { sub_pipelines, plan_concurrency }: NonNullable<PlanReport['stats']>,
  planConcurrency: number | undefined,
  server: string | undefined,
): Promise<RunDisplay> {
  const { PlanRunView } = await import('../progress/plan-view.js');
  return {
    hasParallelWaves: sub_pipelines > 1 && (planConcurrency ?? plan_concurrency) > 1,
    createView: () => new PlanRunView(sub_pipelines),
    formatFailures: (record, terminal, details) => serverFailureLines(record, terminal, details, server),
    listOutputs: undefined,
  };
}
