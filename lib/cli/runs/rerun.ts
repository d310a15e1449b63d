import type { WavetrainClient } from '../../client/client.js';
import type { RequestError } from '../../client/errors.js';
import type { RerunOptions } from '../../client/requests.js';
import { errorCode, errorMessage } from '../../common/errors.js';
import { formatCount, formatNumber, joinFirst } from '../../common/text.js';
import type { NamedInRequest, RerunChanges } from '../../runs/rerun/rerun.js';
import type {
  AcceptedRerun,
  DependencyStart,
  RerunningTask,
  RerunReport,
  RerunTask,
  StateReason,
} from '../../runs/rerun/rerun-report.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { type DefinitionFile, readDefinition, readValues } from '../input/load-definition.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';
import { printReport, toSentDefinition } from '../run/server-backend.js';
import {
  assertFlagsFit,
  type FlagValues,
  readRunValues,
  type RunValueFlags,
  toTextSource,
} from '../run/submission.js';
import { UsageError } from '../input/usage-errors.js';
import { nearestPart, type RunReader } from '../run/task-reader.js';
import { resolveRunId, type RunIdFlags } from './server-client.js';

interface RerunFlags extends RunIdFlags, RunValueFlags {
  readonly from?: string | undefined;
  readonly file?: string | undefined;
  readonly inputs?: string | undefined;
  readonly session?: string | undefined;
  readonly sessionFile?: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/**
 * Has the server run a settled run again, with the changes that the flags name (D60), and prints what it reuses.
 *
 * @returns the accepted run, or the exit status of an invalid definition
 */
export function rerun(
  flags: RerunFlags,
  client: WavetrainClient,
  context: CliContext,
): Promise<AcceptedRerun | ExitStatus> {
  return sendRerun(flags, client, context, async (runId, request, definition) => {
    const accepted = await client.rerun(runId, { ...request, idempotencyKey: context.newId() });
    const { from, ...changes } = request;
    const { rerun: report } = accepted;
    if (report === null) return accepted;
    printWarnings(definition, report, flags, context);
    const isComplete = from === undefined && Object.keys(changes).length === 0;
    if (!isComplete && !flags.json && !flags.quiet)
      printLines(rerunReportLines(report), context.stderr, context);
    return accepted;
  });
}

/** Prints what a rerun would reuse and what it would run, and has nothing run. */
export async function dryRunRerun(
  flags: RerunFlags,
  client: WavetrainClient,
  context: CliContext,
): Promise<ExitStatus> {
  return sendRerun(flags, client, context, async (runId, request, definition) => {
    const report = await client.previewRerun(runId, request);
    printWarnings(definition, report, flags, context);
    if (flags.json) printJson(report, context);
    else printLines(rerunReportLines(report), context.stdout, context);
    return EXIT.done;
  });
}

/** Reads the changes, and explains why the server rejects them. @param send sends them */
async function sendRerun<T>(
  flags: RerunFlags,
  client: WavetrainClient,
  context: CliContext,
  send: (runId: string, request: RerunOptions, definition: DefinitionFile | undefined) => Promise<T>,
): Promise<T | ExitStatus> {
  const { file, from } = flags;
  const values = await readRunValues(flags, context);
  const definition = file === undefined ? undefined : await readDefinition({ ...flags, file }, context);
  if (definition !== undefined) assertFlagsFit(definition.kind, values);
  const valuesGiven = definition ?? (await readValues(flags, context));
  const changes: RerunOptions = {
    ...(definition && (await toSentDefinition(toTextSource(definition)))),
    ...collectChanges(values, valuesGiven),
  };
  const runId = await resolveRunId(client, flags.runId);
  try {
    return await send(runId, { from, ...changes }, definition);
  } catch (error) {
    const { detail } = error as RequestError;
    if (
      definition === undefined ||
      errorCode(error) !== 'invalid_definition' ||
      detail?.problems === undefined
    ) {
      throw await explainForShell(error, { runId, from, runsAll: RUNS_ALL }, definition, client);
    }
    printReport(definition, { ok: false, problems: detail.problems }, flags, context);
    return EXIT.invalid;
  }
}

function printWarnings(
  definition: DefinitionFile | undefined,
  { warnings }: RerunReport,
  flags: RerunFlags,
  context: CliContext,
): void {
  if (definition !== undefined) printReport(definition, { ok: true, problems: warnings }, flags, context);
}

/** The changes of values that flags name. */
export function collectChanges(
  { options, params, plan_concurrency }: FlagValues,
  { inputs, session }: Pick<DefinitionFile, 'inputs' | 'session'>,
): Omit<RerunChanges, 'pipeline' | 'plan'> {
  return {
    ...(params && { params }),
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(plan_concurrency && { plan_concurrency }),
  };
}

/** With this command. */
const RUNS_ALL = 'neither --from nor changes';

interface AskedRerun {
  readonly runId: string;
  readonly from: string | undefined;
  /** With what everything runs again, for people. */
  readonly runsAll: string;
}

/** Says with flags what a server says with the fields of its requests, and which name was probably meant. */
export async function explainForShell(
  error: unknown,
  { runId, from, runsAll }: AskedRerun,
  definition: DefinitionFile | undefined,
  client: RunReader,
): Promise<unknown> {
  const message = errorMessage(error);
  switch (errorCode(error)) {
    case 'nothing_to_rerun': {
      const kind = definition?.kind ?? (await client.record(runId)).kind;
      const part = kind === 'plan' ? 'sub-pipeline with --from ID' : 'task with --from TASK';
      return new UsageError(
        `run ${runId} succeeded, and nothing that its tasks are or read has changed`,
        `name a ${part}, or run everything with ${runsAll}`,
      );
    }
    case 'invalid_request': {
      if (from === undefined) return error;
      const meant = await nearestPart(client, runId, from, definition);
      return meant === undefined ? error : new UsageError(message, `did you mean --from ${meant}?`);
    }
    default:
      return error;
  }
}

function printLines(lines: readonly string[], stream: CliContext['stderr'], { env }: CliContext): void {
  const terminal = detectTerminal(stream, env);
  stream.write(`${lines.flatMap((line) => wrapLine(line, terminal)).join('\n')}\n`);
}

/** Maximum number of tasks that are named. */
const MAX_NAMED = 12;

/** Why a task runs, as far as it matters for the order and the form of the lines. */
type Cause = 'changed' | 'unfinished' | 'not_run';

const CAUSES: Readonly<Record<StateReason, Cause>> = {
  'has items that have not succeeded': 'unfinished',
  'has failed': 'unfinished',
  'was aborted': 'unfinished',
  'has not run': 'not_run',
};
const NOT_RUN: StateReason = 'has not run';
const DEPENDS_ON: DependencyStart = 'depends on "';

function causeOf({ reason }: RerunningTask): Cause {
  if (reason.startsWith(DEPENDS_ON)) return 'unfinished';
  return isStateReason(reason) ? CAUSES[reason] : 'changed';
}

function isStateReason(reason: string): reason is StateReason {
  return Object.hasOwn(CAUSES, reason);
}

/** Says what a rerun reuses, and what it runs and why: first what has changed, last what had not run. */
export function rerunReportLines({ reused, runs }: RerunReport): string[] {
  const names = reused.map(formatTask);
  const total = formatCount(reused.length + runs.length, 'task');
  const withCause = (cause: Cause): RerunningTask[] => runs.filter((task) => causeOf(task) === cause);
  const begun = [...withCause('changed'), ...withCause('unfinished')];
  const hidden = begun.length - MAX_NAMED;
  return [
    `reuses ${formatNumber(reused.length)} of ${total}${names.length === 0 ? '' : `: ${joinFirst(names, MAX_NAMED)}`}`,
    ...begun.slice(0, MAX_NAMED).map((task) => `runs ${formatTask(task)}: ${describeReason(task)}`),
    ...(hidden > 0 ? [`and ${formatNumber(hidden)} more; --json lists all of them`] : []),
    ...notRunLines(withCause('not_run').map(formatTask)),
  ];
}

/** One line, because after an early failure most tasks have not run. */
function notRunLines(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  if (names.length === 1) return [`runs ${names.join()}: ${NOT_RUN}`];
  return [`runs ${formatCount(names.length, 'task')} that had not run: ${joinFirst(names, MAX_NAMED)}`];
}

const NAMED_IN_REQUEST: NamedInRequest = 'is named in "from"';

function describeReason({ reason, reusable_items: items }: RerunningTask): string {
  const why = reason.replace(NAMED_IN_REQUEST, 'is named with --from');
  return items === 0 ? why : `${why}; reuses up to ${formatCount(items, 'item')}`;
}

function formatTask({ sub_pipeline: subPipeline, task_id: taskId }: RerunTask): string {
  return toSingleLine(subPipeline === undefined ? taskId : `${subPipeline}/${taskId}`);
}
