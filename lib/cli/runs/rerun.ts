import type { WavetrainClient } from '../../client/client.js';
import type { RequestError } from '../../client/errors.js';
import type { RerunOptions } from '../../client/requests.js';
import { errorCode, errorMessage } from '../../common/errors.js';
import { joinFirst } from '../../common/text.js';
import type { RerunChanges } from '../../runs/rerun/rerun.js';
import type { AcceptedRerun, RerunningTask, RerunReport, RerunTask } from '../../runs/rerun/rerun-report.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { type DefinitionFile, readDefinition, readValues } from '../input/load-definition.js';
import { detectTerminal } from '../render/terminal.js';
import { formatCount, formatNumber, toSingleLine, wrapLine } from '../render/text.js';
import { assertFlagsFit, type ParsedValues, readRunValues, type RunValueFlags } from '../run/run-flags.js';
import { printReport, sendPlan, toSend } from '../run/submission.js';
import { UsageError } from '../usage-errors.js';
import { nearestPart, type RunReader } from './nearest-task.js';
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
export async function rerun(
  flags: RerunFlags,
  client: WavetrainClient,
  context: CliContext,
): Promise<AcceptedRerun | ExitStatus> {
  const { file, from } = flags;
  const values = await readRunValues(flags, context);
  const definition = file === undefined ? undefined : await readDefinition({ ...flags, file }, context);
  if (definition !== undefined) assertFlagsFit(definition.kind, values);
  const valuesGiven = definition ?? (await readValues(flags, context));
  const changes: RerunOptions = {
    ...(definition && (await toChange(definition))),
    ...collectChanges(values, valuesGiven),
  };
  const request: RerunOptions = { from, ...changes, idempotencyKey: context.newId() };
  const runId = await resolveRunId(client, flags.runId);
  try {
    const accepted = await client.rerun(runId, request);
    const { rerun: report } = accepted;
    if (definition !== undefined && report !== null) {
      printReport(definition, { ok: true, problems: report.warnings }, flags, context);
    }
    const isComplete = from === undefined && Object.keys(changes).length === 0;
    if (report !== null && !isComplete && !flags.json && !flags.quiet) printRerun(report, context);
    return accepted;
  } catch (error) {
    const { detail } = error as RequestError;
    if (
      definition === undefined ||
      errorCode(error) !== 'invalid_definition' ||
      detail?.problems === undefined
    ) {
      throw await explainForShell(error, runId, from, definition, client);
    }
    printReport(definition, { ok: false, problems: detail.problems }, flags, context);
    return EXIT.invalid;
  }
}

/** The changes of values that flags name. */
export function collectChanges(
  { options, params, planConcurrency }: ParsedValues,
  { inputs, session }: Pick<DefinitionFile, 'inputs' | 'session'>,
): Omit<RerunChanges, 'pipeline' | 'plan'> {
  return {
    ...(params && { params }),
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(planConcurrency && { plan_concurrency: planConcurrency }),
  };
}

/** Says with flags what a server says with the fields of its requests, and which name was probably meant. */
export async function explainForShell(
  error: unknown,
  runId: string,
  from: string | undefined,
  definition: DefinitionFile | undefined,
  client: RunReader,
): Promise<unknown> {
  const message = errorMessage(error);
  switch (errorCode(error)) {
    case 'nothing_to_rerun': {
      const kind = definition?.kind ?? (await client.record(runId)).kind;
      const flag = kind === 'plan' ? 'name a sub-pipeline with --from ID' : 'name a task with --from TASK';
      return new UsageError(message.replace('name a task in "from"', flag));
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

/** The definition as a server takes it, which reads no files. */
async function toChange(
  definition: DefinitionFile,
): Promise<Pick<RerunOptions, 'pipeline' | 'plan' | 'pipelines'>> {
  return definition.kind === 'plan'
    ? sendPlan(definition)
    : { pipeline: toSend(definition, definition.text.length) };
}

function printRerun(report: RerunReport, { stderr, env }: CliContext): void {
  const terminal = detectTerminal(stderr, env);
  const lines = rerunReportLines(report).flatMap((line) => wrapLine(line, terminal));
  stderr.write(`${lines.join('\n')}\n`);
}

/** Maximum number of tasks that are named. */
const MAX_NAMED = 12;

const NOT_RUN = 'has not run';
/** The reasons of tasks that run although nothing of them has changed. */
const UNCHANGED = /^(?:has failed$|has items that have not succeeded$|depends on )/;

/** Says what a rerun reuses, and what it runs and why: first what has changed, last what had not run. */
export function rerunReportLines({ reused, runs }: RerunReport): string[] {
  const names = reused.map(formatTask);
  const total = formatCount(reused.length + runs.length, 'task');
  const begun = runs
    .filter(({ reason }) => reason !== NOT_RUN)
    .toSorted((a, b) => Number(UNCHANGED.test(a.reason)) - Number(UNCHANGED.test(b.reason)));
  const hidden = begun.length - MAX_NAMED;
  return [
    `reuses ${formatNumber(reused.length)} of ${total}${names.length === 0 ? '' : `: ${joinFirst(names, MAX_NAMED)}`}`,
    ...begun.slice(0, MAX_NAMED).map((task) => `runs ${formatTask(task)}: ${describeReason(task)}`),
    ...(hidden > 0 ? [`and ${formatNumber(hidden)} more; --json lists all of them`] : []),
    ...notRunLines(runs.filter(({ reason }) => reason === NOT_RUN).map(formatTask)),
  ];
}

/** One line, because after an early failure these are most tasks. */
function notRunLines(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  if (names.length === 1) return [`runs ${names.join()}: ${NOT_RUN}`];
  return [`runs ${formatCount(names.length, 'task')} that had not run: ${joinFirst(names, MAX_NAMED)}`];
}

function describeReason({ reason, reusable_items: items }: RerunningTask): string {
  const why = reason.replace('in "from"', 'with --from');
  return items === 0 ? why : `${why}; reuses up to ${formatCount(items, 'item')}`;
}

function formatTask({ sub_pipeline: subPipeline, task_id: taskId }: RerunTask): string {
  return toSingleLine(subPipeline === undefined ? taskId : `${subPipeline}/${taskId}`);
}
