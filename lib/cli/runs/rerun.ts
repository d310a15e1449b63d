import { Option } from 'clipanion';
import type { WavetrainClient } from '../../client/client.js';
import type { RequestError } from '../../client/errors.js';
import type { RerunOptions } from '../../client/requests.js';
import { errorCode, errorMessage } from '../../common/errors.js';
import { formatCount, formatNumber, joinFirst } from '../../common/text.js';
import type { RerunChanges } from '../../runs/rerun/rerun.js';
import type { FromFailed, NamedInRequest } from '../../runs/rerun/rerun-start.js';
import type {
  AcceptedRerun,
  DependencyStart,
  RerunningTask,
  RerunReport,
  RerunTask,
  StateReason,
} from '../../runs/rerun/rerun-report.js';
import {
  FULL_OPTION,
  VERBOSE_OPTION,
  SERVER_OPTION,
  RUN_ID_DETAILS,
  AS_BEFORE,
  type FlagsOf,
  RUN_ID,
  RunValuesCommand,
  textOption,
  flagOption,
} from '../input/shared-options.js';
import type { CliContext } from '../context.js';
import { PROGRAM } from '../package-info.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { type DefinitionFile, readDefinition, readValues } from '../input/load-definition.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';
import { printReport, toSentDefinition } from '../run/server-submission.js';
import { assertFlagsFit, type FlagValues, readRunValues, toTextSource } from '../run/submission.js';
import { askToGoOn, isTerminal } from '../input/ask.js';
import { UsageError } from '../input/usage-errors.js';
import { nearestPart, type RunReader } from '../run/task-reader.js';
import { assertOnServer } from './kept-run.js';
import { callServer, resolveRunId } from './server-client.js';
import { showAccepted } from './submit.js';

export class RunsRerunCommand extends RunValuesCommand {
  static override paths = [['runs', 'rerun']];
  static override usage = RunValuesCommand.Usage({
    description: 'runs a settled run again: completely, from the point of failure, or with changes',
    details: `${RUN_ID_DETAILS}
      Prints the id of the new run, or watches it with --watch.

      Without --from everything runs again, or with changes (by --file, --params and the other options) only what they
      affect and what has not succeeded; with --from, what it names runs, and whatever has changed or has not succeeded.

      What the options do not change is as it was. The server validates a changed file first, and runs nothing if it has
      errors. A task is reused if its definition, its tool and what it reads are as they were, and so is an item of a
      fan-out. --dry-run says what would be reused and what would run, and runs nothing.

      A server reads its tool files again when they change: a rerun calls the tools that there are now.`,
    examples: [
      ['everything that has not succeeded', '$0 runs rerun 3f9c1a --from failed --watch'],
      [
        'with a changed file: what has changed, and what has not succeeded',
        '$0 runs rerun 3f9c1a --file pipeline.yaml',
      ],
      ['with another param', `$0 runs rerun 3f9c1a --params '{"city": "Oslo"}'`],
      ['a task and its dependents', '$0 runs rerun 3f9c1a --from summary'],
      ['one item of a fan-out and what depends on it', `$0 runs rerun 3f9c1a --from 'fetch[22]'`],
      ['a sub-pipeline of a plan and its dependents', '$0 runs rerun 3f9c1a --from extract'],
      ['what a changed file would run', '$0 runs rerun 3f9c1a --file pipeline.yaml --dry-run'],
    ],
  });

  runId = Option.String(RUN_ID);
  from = textOption`--from <NAME> what runs again: "failed", only what has not succeeded (the default with changes),
    or a task (of a plan, a sub-pipeline, or SUB_PIPELINE/TASK), or items of one, as in 'fetch[22]' or 'fetch[3,7-9]',
    with everything that depends on it`;
  yes = flagOption`--yes make calls again that had succeeded without a question`;
  file = textOption`--file <FILE> the changed pipeline or plan`;
  server = textOption`--server ${SERVER_OPTION}`;
  watch = flagOption`--watch watch the new run, like runs watch`;
  dryRun = flagOption`--dry-run print what would be reused and what would run, and run nothing`;
  json = flagOption`--json print the accepted run as one JSON document; with --watch, print the outputs; with
    --dry-run, what would be reused and run`;
  full = flagOption`--full with --watch: ${FULL_OPTION}`;
  verbose = flagOption`--verbose with --watch: ${VERBOSE_OPTION}`;
  quiet = flagOption`--quiet do not say what is reused, and show no warnings; with --watch, no progress`;

  protected override unlessGiven(_inNewRun: string, inRerun: string = AS_BEFORE): string {
    return inRerun;
  }

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    await assertOnServer(this, 'runs rerun', (id) => `${PROGRAM} rerun ${id} goes on from there`, context);
    return callServer(this, context, async (client) => {
      const asked = await readRerun(this, client, context);
      const { runId, request, definition } = asked;
      const preview = (): Promise<RerunReport> => client.previewRerun(runId, request);
      const send = async (): Promise<AcceptedRerun | { readonly rerun: RerunReport } | undefined> => {
        if (this.dryRun) return { rerun: await preview() };
        if (!(await confirmRepeats(this, preview, context))) return undefined;
        return client.rerun(runId, { ...request, idempotencyKey: context.newId() });
      };
      const answer = await send().catch((error: unknown) => explainRejection(error, asked, this, client));
      if (answer === undefined) return EXIT.done;
      if (typeof answer === 'number') return answer;
      const { rerun: report } = answer;
      if (report !== null) {
        if (definition !== undefined)
          printReport(definition, { ok: true, problems: report.warnings }, this, context);
        this.#printReused(report, request);
      }
      return 'run_id' in answer ? showAccepted(answer, this, client, context) : EXIT.done;
    });
  }

  #printReused(report: RerunReport, { from, ...changes }: RerunOptions): void {
    const { context, dryRun, json, quiet } = this;
    const { labels: _, ...affecting } = changes;
    const isComplete = from === undefined && Object.keys(affecting).length === 0;
    if (dryRun && json) printJson(report, context);
    else if (dryRun) printLines(rerunReportLines(report), context.stdout, context);
    else if (!isComplete && !json && !quiet) printLines(rerunReportLines(report), context.stderr, context);
  }
}

interface AskedOfServer {
  readonly runId: string;
  readonly request: RerunOptions;
  readonly definition: DefinitionFile | undefined;
}

async function readRerun(
  flags: FlagsOf<RunsRerunCommand>,
  client: WavetrainClient,
  context: CliContext,
): Promise<AskedOfServer> {
  const { file, from } = flags;
  const values = await readRunValues(flags, context);
  const definition = file === undefined ? undefined : await readDefinition({ ...flags, file }, context);
  if (definition !== undefined) assertFlagsFit(definition.kind, values);
  const given = definition ?? (await readValues(flags, context));
  const request: RerunOptions = {
    from,
    ...(definition && (await toSentDefinition(toTextSource(definition)))),
    ...collectChanges(values, given),
  };
  return { runId: await resolveRunId(client, flags.runId), request, definition };
}

/** Prints the problems of an invalid definition, and returns the exit status. Rejects with any other error, explained. */
async function explainRejection(
  error: unknown,
  { runId, request: { from }, definition }: AskedOfServer,
  flags: RunsRerunCommand,
  client: WavetrainClient,
): Promise<ExitStatus> {
  const { problems } = (error as RequestError).detail ?? {};
  if (definition === undefined || errorCode(error) !== 'invalid_definition' || problems === undefined) {
    throw await explainForShell(error, { runId, from, runsAll: RUNS_ALL }, definition, client);
  }
  printReport(definition, { ok: false, problems }, flags, flags.context);
  return EXIT.invalid;
}

export function collectChanges(
  { options, params, labels, plan_concurrency }: FlagValues,
  { inputs, session }: Pick<DefinitionFile, 'inputs' | 'session'>,
): Omit<RerunChanges, 'pipeline' | 'plan'> {
  return {
    ...(params && { params }),
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(labels && { labels }),
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

const MAX_NAMED = 12;

/** Why a task runs, as far as it matters for the order and the form of the lines. */
type Cause = 'changed' | 'unfinished' | 'not_run';

const CAUSES: Readonly<Record<StateReason, Cause>> = {
  'has items that are named in "from"': 'changed',
  'has items that are named in "from" or have not succeeded': 'changed',
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
export function rerunReportLines(report: RerunReport): string[] {
  const { reused, runs, skips = [] } = report;
  const names = reused.map(formatTask);
  const total = formatCount(reused.length + runs.length + skips.length, 'task');
  const withCause = (cause: Cause): RerunningTask[] => runs.filter((task) => causeOf(task) === cause);
  const begun = [...withCause('changed'), ...withCause('unfinished')];
  const hidden = begun.length - MAX_NAMED;
  return [
    `reuses ${formatNumber(reused.length)} of ${total}${names.length === 0 ? '' : `: ${joinFirst(names, MAX_NAMED)}`}`,
    ...begun.slice(0, MAX_NAMED).map((task) => `runs ${formatTask(task)}: ${describeReason(task)}`),
    ...(hidden > 0 ? [`and ${formatNumber(hidden)} more; --json lists all of them`] : []),
    ...notRunLines(withCause('not_run').map(formatTask)),
    ...skipLines(skips),
    ...repeatLines(report),
    ...decidedLines(runs.filter(({ decided_anew: isDecided }) => isDecided === true).map(formatTask)),
  ];
}

function repeatLines(report: RerunReport): string[] {
  const repeats = describeRepeats(report);
  return repeats === undefined ? [] : [`makes again ${repeats}`];
}

function skipLines(skips: NonNullable<RerunReport['skips']>): string[] {
  const hidden = skips.length - MAX_NAMED;
  return [
    ...skips.slice(0, MAX_NAMED).map((task) => `skips ${formatTask(task)}: ${toSingleLine(task.reason)}`),
    ...(hidden > 0 ? [`and ${formatNumber(hidden)} more; --json lists all of them`] : []),
  ];
}

function decidedLines(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [`decides anew, by conditions, whether to skip ${joinFirst(names, MAX_NAMED)}`];
}

/** One line, because after an early failure most tasks have not run. */
function notRunLines(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  if (names.length === 1) return [`runs ${names.join()}: ${NOT_RUN}`];
  return [`runs ${formatCount(names.length, 'task')} that had not run: ${joinFirst(names, MAX_NAMED)}`];
}

const FROM_FAILED: FromFailed = 'failed';
const NAMED_IN_REQUEST: NamedInRequest = 'named in "from"';

function describeReason({ reason, reusable_items: reused, items }: RerunningTask): string {
  const why = reason.replace(NAMED_IN_REQUEST, 'named with --from');
  if (items === undefined) return reused === 0 ? why : `${why}; reuses up to ${formatCount(reused, 'item')}`;
  const calls = Math.max(0, items - reused);
  return `${why}; ${calls === items ? '' : `${formatNumber(calls)} of `}${formatCount(items, 'call')}`;
}

/** The calls of a rerun that had succeeded and are made again, in words; undefined when there are none. */
function describeRepeats({ runs }: RerunReport): string | undefined {
  const repeating = runs.filter(({ repeats }) => repeats > 0);
  const total = repeating.reduce((sum, { repeats }) => sum + repeats, 0);
  if (total === 0) return undefined;
  const names = joinFirst(
    repeating.map((task) => `${formatNumber(task.repeats)} of ${formatTask(task)}`),
    MAX_NAMED,
  );
  return `${formatCount(total, 'call')} that had succeeded: ${names}`;
}

interface RepeatFlags {
  readonly from?: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
}

/**
 * Asks a person at a terminal before calls are repeated that had succeeded, when `--from` names what runs again. Resolves with
 * false for a no.
 */
export async function confirmRepeats(
  { from, yes, json, quiet }: RepeatFlags,
  preview: () => Promise<RerunReport>,
  context: CliContext,
): Promise<boolean> {
  const isNamed = from !== undefined && from !== FROM_FAILED;
  if (!isNamed || yes || json || quiet || !isTerminal(context)) return true;
  // The rerun itself says why it cannot be.
  const report = await preview().catch(() => undefined);
  const repeats = report && describeRepeats(report);
  if (repeats === undefined) return true;
  return askToGoOn(`This makes ${repeats}. Run it again?`, context);
}

function formatTask({ sub_pipeline: subPipeline, task_id: taskId }: RerunTask): string {
  return toSingleLine(subPipeline === undefined ? taskId : `${subPipeline}/${taskId}`);
}
