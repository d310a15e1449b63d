import { resolve } from 'node:path';
import type { WavetrainClient } from '../../client/client.js';
import type { DefinitionOrText, SubmitOptions, SubPipelineDefinitions } from '../../client/requests.js';
import { errorCode, WavetrainError } from '../../common/errors.js';
import { MAX_YAML_LENGTH } from '../../common/limits.js';
import type { Problem } from '../../definition/problems/problem.js';
import type { DefinitionInput } from '../../definition/text/source.js';
import type { PipelineInput } from '../../plans/plan.js';
import type { AcceptedRun } from '../../runs/record.js';
import type { DefinitionSource } from '../../submission/definition-checker.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import type { DefinitionFile, DefinitionFlags } from '../input/load-definition.js';
import { printProblems } from '../input/problems.js';
import type { StopSignals } from '../input/process-events.js';
import { UsageError } from '../input/usage-errors.js';
import { PROGRAM } from '../package-info.js';
import type { FlagsOf, ShellRunCommand } from '../input/shared-options.js';
import type { DisplayFlags } from '../progress/display.js';
import { serverFailureLines, serverFlag } from '../render/run-summary.js';
import { assertNoOwnTools } from '../runs/server-client.js';
import { ServerBackend, type ServerClock } from './server-backend.js';
import type { FormatFailures } from './run-end.js';
import { type DisplayedRun, displayPipeline, displaySubPipelines } from './displayed-run.js';
import { listFilesRead } from './local/local-run.js';
import { checkParams, readFileSubmission, type RunValueFlags, type ShellSubmission } from './submission.js';

interface SubmissionFlags extends DefinitionFlags, RunValueFlags, Pick<DisplayFlags, 'json' | 'quiet'> {
  readonly server?: string | undefined;
}

/** A definition as a server takes it, which reads no files. */
type SentDefinition =
  | { readonly pipeline: DefinitionOrText }
  | { readonly plan: DefinitionOrText; readonly pipelines: SubPipelineDefinitions };

/** A submission that a server has found valid. */
interface ServerSubmission {
  readonly file: DefinitionFile;
  readonly submission: ShellSubmission;
  /** Sends the run, at most once even if the request must be repeated (D36). */
  readonly submit: () => Promise<AcceptedRun>;
  readonly describe: () => Promise<Omit<DisplayedRun, 'backend' | 'filesRead' | 'outputFolder'>>;
}

/**
 * Reads the file of a run, has the server validate it, since the server knows its tools, and prints the problems. Returns the
 * submission, or the exit status of an invalid definition. @param command such as `run`, for examples in hints
 */
export async function checkOnServer(
  flags: SubmissionFlags,
  command: string,
  client: WavetrainClient,
  context: CliContext,
): Promise<ServerSubmission | ExitStatus> {
  const { server } = flags;
  const { file, submission } = await readFileSubmission(flags, context).catch(async (error: unknown) => {
    throw await explainMissingFile(error, flags, client);
  });
  const { inputs, session, plan_concurrency: concurrency } = submission.values;
  const sent = await toSentDefinition(submission.definition);
  const submit = (): Promise<AcceptedRun> =>
    submitToServer(client, sent, submission, { idempotencyKey: context.newId() });
  if ('pipeline' in sent) {
    const { pipeline } = sent;
    const check = await client.validate(pipeline, { inputs, session });
    printReport(file, check, flags, context);
    if (!check.ok) return EXIT.invalid;
    await checkParams(file, submission.values, `${PROGRAM} ${command} ${flags.file}${serverFlag(server)}`);
    const describe = async (): ReturnType<ServerSubmission['describe']> => {
      const graph = await client.graph(pipeline, { inputs, session });
      const waves = graph.waves.map((wave) => wave.map(({ id }) => id));
      return { ...displayPipeline(waves), formatFailures: serverFailureFormatter(server, waves) };
    };
    return { file, submission, submit, describe };
  }
  const check = await client.validatePlan(sent.plan, { pipelines: sent.pipelines, inputs, session });
  printReport(file, check, flags, context);
  if (!check.ok || check.stats === null) return EXIT.invalid;
  const { sub_pipelines: size, plan_concurrency: planned } = check.stats;
  const describe = async (): ReturnType<ServerSubmission['describe']> => ({
    ...(await displaySubPipelines(size, concurrency ?? planned)),
    formatFailures: serverFailureFormatter(server),
  });
  return { file, submission, submit, describe };
}

const PIPELINE_ID = /^\w[\w.-]*$/;

/** Says of a file that is not here that the server has a pipeline with that id, if it does. */
async function explainMissingFile(
  failure: unknown,
  { file, server, tenant }: SubmissionFlags,
  client: WavetrainClient,
): Promise<unknown> {
  const isMissing = errorCode(failure) === 'unreadable_file' && errorCode(errorCause(failure)) === 'ENOENT';
  if (!isMissing || !PIPELINE_ID.test(file)) return failure;
  // A server that cannot be asked has no say in this.
  const named = await client.pipelines.get(file, { tenant_id: tenant }).catch(() => undefined);
  if (named === undefined) return failure;
  return new UsageError(
    `there is no file ${file} here; the server knows a pipeline of that id`,
    `${PROGRAM} pipelines run ${file}${serverFlag(server)} runs it`,
  );
}

function errorCause(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function submitToServer(
  client: WavetrainClient,
  sent: SentDefinition,
  { values, tenantId }: ShellSubmission,
  options: SubmitOptions,
): Promise<AcceptedRun> {
  const given = { ...values, ...(tenantId !== undefined && { tenant_id: tenantId }) };
  return 'pipeline' in sent
    ? client.submit({ ...given, ...sent }, options)
    : client.submitPlan({ ...given, ...sent }, options);
}

/**
 * Makes of a definition what a server takes. Texts have line numbers in problems; those that are together too long for a
 * server are sent as JSON. Rejects with `invalid_definition` when a pipeline of a plan cannot be read.
 */
export async function toSentDefinition(source: DefinitionSource): Promise<SentDefinition> {
  const pipelines = source.kind === 'plan' ? [...(source.pipelines ?? [])] : [];
  const parts: [string, DefinitionInput][] = [];
  const missing: string[] = [];
  for (const [id, input] of pipelines) {
    if ('missing' in input) missing.push(describeMissing(input.missing));
    else if ('unreadable' in input) missing.push(describeMissing(input.unreadable));
    else parts.push([id, input]);
  }
  if (missing.length > 0) throw new WavetrainError('invalid_definition', missing.join('\n'));
  const inputs = [source.definition, ...parts.map(([, input]) => input)];
  const length = inputs.reduce((sum, input) => sum + ('text' in input ? input.text.length : 0), 0);
  const { readSource } = await import('../lazy/validation.js');
  const send = (input: DefinitionInput): DefinitionOrText => {
    if ('text' in input && length <= MAX_YAML_LENGTH) return input.text;
    const value = 'text' in input ? readSource(input.text).value : input.value;
    if (typeof value === 'object' && value !== null) return value;
    return 'text' in input ? input.text : JSON.stringify(value);
  };
  const definition = send(source.definition);
  if (source.kind === 'pipeline') return { pipeline: definition };
  return { plan: definition, pipelines: Object.fromEntries(parts.map(([id, input]) => [id, send(input)])) };
}

function describeMissing({ message, hint }: Extract<PipelineInput, { missing: unknown }>['missing']): string {
  return hint === undefined ? message : `${message}\n  ${hint}`;
}

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

/** Replaces a server's hint at `wavetrain tools` and `--tools`, which is true of its own process only. */
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

/** @throws UsageError for a flag that only a run of this process has */
export function assertFlagsFitServer(flags: ServerRunFlags): void {
  const { model, store, record, inspect, allowCommands } = flags;
  if (model !== undefined) {
    throw new UsageError(
      '--model does not go with --server',
      'a server has its own models: set WAVETRAIN_MODEL in its environment, or write "model" in the task',
    );
  }
  if (store !== undefined) {
    throw new UsageError(
      '--store does not go with --server',
      'a server keeps its own runs: start it with SERVICE_STORE=FILE',
    );
  }
  if (allowCommands !== undefined) {
    throw new UsageError(
      '--allow-commands does not go with --server',
      'the operator of a server allows programs: SERVICE_COMMANDS=git,python3 in its environment',
    );
  }
  const flag = record !== undefined ? '--record' : inspect !== undefined ? '--inspect' : undefined;
  if (flag !== undefined) {
    throw new UsageError(
      `${flag} does not go with --server`,
      `a server records its own runs: ${PROGRAM} inspect RUN_ID shows one, and ${PROGRAM} runs recording RUN_ID downloads it`,
    );
  }
  assertNoOwnTools(flags);
}

type ServerRunFlags = FlagsOf<ShellRunCommand> & SubmissionFlags;

/** Prepares the run of a file on a server, which is displayed as if it ran here. Returns it, or the exit status of an invalid definition. */
export async function prepareServerRun(
  flags: ServerRunFlags,
  client: WavetrainClient,
  signals: StopSignals,
  context: CliContext & { readonly clock: ServerClock },
): Promise<DisplayedRun | ExitStatus> {
  const { artifacts, server = '', json, quiet } = flags;
  const checked = await checkOnServer(flags, 'run', client, context);
  if (typeof checked === 'number') return checked;
  const { file, submission, submit, describe } = checked;
  const outputFolder = artifacts === undefined ? undefined : resolve(context.cwd, artifacts);
  const options = { submit, signals, server, announce: !(json || quiet), outputFolder };
  return {
    backend: new ServerBackend(client, context.clock, options),
    filesRead: listFilesRead(flags, file, context),
    outputFolder,
    mayPause: submission.values.breakpoints !== undefined,
    ...(await describe()),
  };
}

/** @param waves the task ids of each wave of a pipeline, if they are known */
export function serverFailureFormatter(
  server: string | undefined,
  waves?: readonly (readonly string[])[],
): FormatFailures {
  return (record, terminal, details) => serverFailureLines(record, terminal, details, server, waves);
}
