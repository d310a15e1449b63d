import { matchesLabels } from '../../common/wire/labels.js';
import { toIsoTime } from '../../common/clock.js';
import { LISTING_LIMITS } from '../../common/limits.js';
import { formatCount } from '../../common/text.js';
import type { KeptRuns } from '../../runs/store/shell/kept-runs.js';
import {
  matchesStartedBy,
  readStartedBy,
  type RunTrigger,
  STARTED_BY_KINDS,
  type StartedByFilter,
} from '../../common/wire/started-by.js';
import { type FlagsOf, HistoryCommand, listOption, textOption, flagOption } from '../input/shared-options.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readChoice, readLabelFilter, readNumber } from '../input/flags.js';
import { readPointInTime } from '../input/times.js';
import { printJson, printNote } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { PROGRAM } from '../package-info.js';
import { UsageError } from '../input/usage-errors.js';
import { explainFirst, openHistory } from './kept-run.js';
import { createRunFinder, findListed, type RunOfList } from './listing/kept-listing.js';
import { formatRuns, INTERRUPTED, PAUSED } from './listing/run-rows.js';
import { callServer, listNewestRuns, type RunList } from './server-client.js';

type ListFlags = FlagsOf<RunsListCommand>;

/** A shell has no queue, and whether it waits at a breakpoint, only its terminal shows. */
const KEPT_STATUSES = ['running', 'succeeded', 'failed', 'cancelled', INTERRUPTED] as const;
const SERVER_STATUSES = ['queued', 'running', PAUSED, 'succeeded', 'failed', 'cancelled'] as const;
const DEFAULT_LIMIT = 20;
const LIMIT = { least: 1, whole: true, unit: 'runs', example: '50' } as const;

export class RunsListCommand extends HistoryCommand {
  static override paths = [['runs', 'list']];
  static override usage = HistoryCommand.Usage({
    description: 'lists the runs of this folder or of a server, newest first',
    details: `
      Without --server and WAVETRAIN_SERVER it lists what wavetrain run has kept in the folder .wavetrain, if there is
      one: a run is "interrupted" when its process ended before it had settled. If a server requires an API key, set
      WAVETRAIN_API_KEY.

      With --text or --label, while a run waits, and on a terminal of 120 columns or more, a line ends with the goal of the
      run, with its error, or with what it waits for.`,
    examples: [
      ['the newest runs', '$0 runs list'],
      ['failed runs', '$0 runs list --status failed'],
      ['failed runs of a team', '$0 runs list --status failed --label team=billing'],
      ['what mentions a customer, in the last two hours', '$0 runs list --text acme --since 2h'],
      ['runs of one day', '$0 runs list --since 2026-01-31 --until 2026-02-01 --all'],
      ['all run ids', "$0 runs list --all --json | jq -r '.runs[].run_id'"],
    ],
  });

  status = textOption`--status <STATUS> only runs that are running, succeeded, failed or cancelled; of a server also
    queued or paused (at a breakpoint), of this folder also interrupted`;
  pipeline = textOption`--pipeline <ID> only runs of this pipeline or plan`;
  tenant = textOption`--tenant <ID> only runs of this tenant`;
  label = listOption`--label <NAME=VALUE> only runs with this label; can be repeated: a run must have all of them`;
  trigger = textOption`--trigger <TRIGGER> only runs that a schedule, or a webhook, of a server has started`;
  startedBy = textOption`--started-by <WHO> only runs that were started so: key, anonymous, schedule, webhook, mcp,
    cli or library; with a name, as in key:ci`;
  text = textOption`--text <TEXT> only runs with this text in the id of their pipeline, their goal, their error or a
    label (as in team:billing), in capital or small letters, or, from six characters on, at the beginning or end of their id`;
  since = textOption`--since <TIME> only runs that were submitted at this time or later: how long ago (90m, 2h, 3d,
    1w), or a date or time of ISO 8601 (without a zone, in that of this machine)`;
  until = textOption`--until <TIME> only runs that were submitted earlier than this, written like --since`;
  limit = textOption`--limit <N> maximum number of runs; default 20`;
  all = flagOption`--all list every run that is kept`;
  json = flagOption`--json print the runs as one JSON document`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const limit = readNumber('--limit', this.limit, LIMIT) ?? DEFAULT_LIMIT;
    if (this.all && this.limit !== undefined) throw new UsageError('give --limit or --all, not both');
    readChoice('--status', this.status, [...SERVER_STATUSES, INTERRUPTED]);
    const period = readPeriod(this, context.clock.now());
    const most = this.all ? Number.POSITIVE_INFINITY : limit;
    const history = await openHistory(this, context);
    const {
      runs,
      hasMore,
      migrating = 0,
    } = history === undefined
      ? await listServerRuns(this, period, most, context).catch(async (error: unknown) => {
          throw await explainFirst(error, this, undefined, context);
        })
      : listKeptRuns(this, period, history, most);
    if (migrating > 0) printMigrating(migrating, context);
    if (this.json) {
      printJson({ runs }, context);
      return EXIT.done;
    }
    const terminal = detectTerminal(context.stdout, context.env);
    const isSearch = this.text !== undefined || this.label !== undefined;
    const lines = formatRuns(runs, terminal, context.clock.now(), isSearch);
    context.stdout.write(`${lines.join('\n')}\n`);
    if (runs.length === 0 && SHORT_ID.test(this.text ?? '')) printShortId(this.text ?? '', context);
    if (hasMore) printNote(`${history === undefined ? 'the server' : history.path} ${HAS_MORE}`, context);
    return EXIT.done;
  }
}

/** Enough of an id for the commands on a run, but not for a search. */
const SHORT_ID = /^[0-9a-f]{4,5}$/i;

function printShortId(text: string, context: CliContext): void {
  const line = `--text searches ids from ${LISTING_LIMITS.idPartLength} characters on; ${PROGRAM} runs show ${text} finds a run by 4`;
  printNote(line, context);
}

function printMigrating(runs: number, context: CliContext): void {
  const are = runs === 1 ? 'is' : 'are';
  const line = `${formatCount(runs, 'run')} of an earlier version ${are} still being brought over`;
  printNote(line, context);
}

/** When the runs were submitted, in milliseconds since 1970; undefined for no bound. */
interface Period {
  readonly since: number | undefined;
  /** The end of the period: the runs were submitted earlier. */
  readonly until: number | undefined;
}

/** @throws UsageError for what is no time, and when no time is in between */
function readPeriod(flags: Pick<ListFlags, 'since' | 'until'>, now: number): Period {
  const since = readPointInTime('--since', flags.since, now);
  const until = readPointInTime('--until', flags.until, now);
  if (since === undefined || until === undefined || since < until) return { since, until };
  throw new UsageError(
    `--since ${flags.since} is not before --until ${flags.until}, so no run is in between`,
    `--since is ${toIsoTime(since)}, --until is ${toIsoTime(until)}`,
  );
}

async function listServerRuns(
  flags: ListFlags,
  { since, until }: Period,
  most: number,
  context: CliContext,
): Promise<ListedRuns> {
  const status = findStatus(flags, SERVER_STATUSES, 'a server');
  const query = {
    status,
    pipeline_id: flags.pipeline,
    tenant_id: flags.tenant,
    trigger: readTrigger(flags),
    started_by: readStartedByFlag(flags) && flags.startedBy,
    label: readLabelFilter(flags.label),
    text: flags.text,
    created_after: since === undefined ? undefined : toIsoTime(since),
    created_before: until === undefined ? undefined : toIsoTime(until),
  };
  return callServer(flags, context, (client) => listNewestRuns(client, query, most));
}

type ListedRuns = RunList<RunOfList>;

/** Lists the runs of the history, without rebuilding them, or reading what those that have settled were given. */
function listKeptRuns(
  flags: Pick<ListFlags, 'status' | 'pipeline' | 'tenant' | 'label' | 'trigger' | 'startedBy' | 'text'>,
  { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY }: Period,
  history: KeptRuns,
  most: number,
): ListedRuns {
  const { pipeline, tenant, text } = flags;
  const trigger = readTrigger(flags);
  const startedBy = readStartedByFlag(flags);
  const labels = readLabelFilter(flags.label) ?? [];
  const finds = text === undefined ? undefined : createRunFinder(text);
  const status = findStatus(flags, KEPT_STATUSES, history.path);
  const runs: RunOfList[] = [];
  for (const id of history.ids()) {
    const listed = findListed(id, history);
    if (listed === undefined) continue;
    if (status !== undefined && listed.status !== status) continue;
    if (pipeline !== undefined && listed.pipeline_id !== pipeline) continue;
    if (tenant !== undefined && listed.tenant_id !== tenant) continue;
    if (trigger !== undefined && listed.trigger !== trigger) continue;
    if (startedBy !== undefined && !matchesStartedBy(startedBy, listed.started_by)) continue;
    if (!matchesLabels(labels, listed.labels)) continue;
    const createdAt = Date.parse(listed.created_at);
    if (createdAt < since || createdAt >= until) continue;
    if (finds?.(listed) === false) continue;
    if (runs.length === most) return { runs, hasMore: true };
    runs.push(listed);
  }
  return { runs, hasMore: false };
}

const HAS_MORE = 'has more runs: --limit N lists N of them, --all lists every run';

/** Reads `--status`. @param place where the runs are. @throws UsageError for a status that no run has there */
function findStatus<S extends string>(
  { status }: Pick<ListFlags, 'status'>,
  valid: readonly S[],
  place: string,
): S | undefined {
  const found = valid.find((one) => one === status);
  if (status === undefined || found !== undefined) return found;
  throw new UsageError(
    `no run of ${place} is ever ${status}`,
    `there, --status is one of ${valid.join(', ')}`,
  );
}

const TRIGGERS = ['schedule', 'webhook'] as const;

/** @throws UsageError for what is no trigger */
function readTrigger({ trigger }: Pick<ListFlags, 'trigger'>): RunTrigger | undefined {
  const found = TRIGGERS.find((one) => one === trigger);
  if (trigger === undefined || found !== undefined) return found;
  throw new UsageError(`--trigger must be ${TRIGGERS.join(' or ')}, not "${trigger}"`);
}

/** @throws UsageError for an unknown kind */
function readStartedByFlag({ startedBy }: Pick<ListFlags, 'startedBy'>): StartedByFilter | undefined {
  if (startedBy === undefined) return undefined;
  const filter = readStartedBy(startedBy);
  if (filter !== undefined) return filter;
  throw new UsageError(
    `--started-by must be one of ${STARTED_BY_KINDS.join(', ')}, not "${startedBy}"`,
    'a name may follow, as in --started-by key:ci',
  );
}
