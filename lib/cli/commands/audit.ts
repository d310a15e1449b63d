import {
  AUDIT_ACTIONS,
  AUDIT_OBJECT_KINDS,
  AUDIT_RESULTS,
  AUDIT_WHO_KINDS,
} from '../../common/wire/audit-kinds.js';
import type { AuditEntry } from '../../audit/audit-entry.js';
import type { WavetrainClient } from '../../client/client.js';
import type { AuditListQuery } from '../../client/requests.js';
import { delay } from '../../common/clock.js';
import { formatStartedBy } from '../../common/wire/started-by.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readChoice, readNumber } from '../input/flags.js';
import { untilSignal } from '../input/process-events.js';
import { flagOption, ServerCommand, textOption } from '../input/shared-options.js';
import { readTimeFlag } from '../input/times.js';
import { UsageError } from '../input/usage-errors.js';
import { printJson, printNote } from '../render/stdout.js';
import { type Column, formatColumns, tenantColumns } from '../render/table.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { toSingleLine } from '../render/text.js';
import { callServer } from '../runs/server-client.js';

const DEFAULT_LIMIT = 20;
const LIMIT = { least: 1, whole: true, unit: 'entries', example: '50' } as const;
const MAX_PAGE_SIZE = 500;

/** Between two looks of --follow for new entries. */
export const AUDIT_LOOK_MS = 2000;

export class AuditCommand extends ServerCommand {
  static override paths = [['audit']];
  static override usage = ServerCommand.Usage({
    description: 'lists who did what on a server, newest first',
    details: `
      Each line says when who did what to which object, from which address, and with which result: runs that were
      submitted, cancelled, rerun and deleted, saved files, paused schedules, secrets that runs were given, and refused
      attempts. Repeated refused attempts are one line with their number. It needs a key with the scope "admin" in
      WAVETRAIN_API_KEY; a server without keys lists it on its own machine only.`,
    examples: [
      ['the newest entries', '$0 audit'],
      ['who has deleted runs today', '$0 audit --action delete --since 24h'],
      ['what one key has done', '$0 audit --who key:ci --all'],
      ['refused attempts, as they come', '$0 audit --result refused --follow'],
      ['all entries for another program', "$0 audit --all --json | jq '.entries[]'"],
    ],
  });

  who = textOption`--who <WHO> only entries of these: ${AUDIT_WHO_KINDS.join(', ')}; with a name, as in key:ci`;
  action = textOption`--action <ACTION> only entries of this action: ${AUDIT_ACTIONS.join(', ')}, a refused attempt at anything
    else`;
  object = textOption`--object <OBJECT> only entries about these: ${AUDIT_OBJECT_KINDS.join(', ')}; with an id, as in run:ID`;
  result = textOption`--result <RESULT> only entries with this result: ${AUDIT_RESULTS.join(', ')}`;
  tenant = textOption`--tenant <ID> only entries of this tenant`;
  since = textOption`--since <TIME> only entries of this time or later: how long ago (90m, 2h, 3d, 1w), or a date or time of
    ISO 8601 (without a zone, in that of this machine)`;
  until = textOption`--until <TIME> only entries earlier than this, written like --since`;
  limit = textOption`--limit <N> maximum number of entries; default 20`;
  all = flagOption`--all list every entry that is kept`;
  json = flagOption`--json print the entries as one JSON document; with --follow one document per line`;
  follow = flagOption`--follow go on with new entries as they come, the newest last, until Ctrl-C`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const limit = readNumber('--limit', this.limit, LIMIT) ?? DEFAULT_LIMIT;
    if (this.all && this.limit !== undefined) throw new UsageError('give --limit or --all, not both');
    if (this.follow && this.until !== undefined) {
      throw new UsageError('--follow goes on with new entries, so it does not go with --until');
    }
    const query = readQuery(this, context.clock.now());
    const most = this.all ? Number.POSITIVE_INFINITY : limit;
    return callServer(this, context, (client) =>
      this.follow
        ? follow(client, query, most, this.json, context)
        : list(client, query, most, this.json, context),
    );
  }
}

type Flags = Pick<AuditCommand, 'who' | 'action' | 'object' | 'result' | 'tenant' | 'since' | 'until'>;

/** @throws UsageError for a kind, an action, a result or a time that does not exist */
function readQuery(flags: Flags, now: number): AuditListQuery {
  readChoice('--who', flags.who?.split(':', 1)[0], AUDIT_WHO_KINDS);
  readChoice('--object', flags.object?.split(':', 1)[0], AUDIT_OBJECT_KINDS);
  return {
    who: flags.who,
    object: flags.object,
    action: readChoice('--action', flags.action, AUDIT_ACTIONS),
    result: readChoice('--result', flags.result, AUDIT_RESULTS),
    tenant_id: flags.tenant,
    from: readTimeFlag('--since', flags.since, now),
    to: readTimeFlag('--until', flags.until, now),
  };
}

async function list(
  client: WavetrainClient,
  query: AuditListQuery,
  most: number,
  json: boolean,
  context: CliContext,
): Promise<ExitStatus> {
  const { entries, hasMore } = await readNewest(client, query, most);
  if (json) {
    printJson({ entries }, context);
    return EXIT.done;
  }
  const terminal = detectTerminal(context.stdout, context.env);
  const lines =
    entries.length === 0 ? [terminal.style.dim('no entries found')] : formatEntries(entries, terminal);
  context.stdout.write(`${lines.join('\n')}\n`);
  if (hasMore) printNote(HAS_MORE, context);
  return EXIT.done;
}

const HAS_MORE = 'the server has more entries: --limit N lists N of them, --all lists every entry';

interface NewestEntries {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

/** @param after the id of an entry: only newer ones are read */
async function readNewest(
  client: WavetrainClient,
  query: AuditListQuery,
  most: number,
  after = 0,
): Promise<NewestEntries> {
  const entries: AuditEntry[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(most - entries.length, MAX_PAGE_SIZE);
    const page = await client.audit({ ...query, limit, cursor });
    const newer = page.entries.filter(({ id }) => Number(id) > after);
    entries.push(...newer);
    const next =
      newer.length < page.entries.length || Number(page.next_cursor) <= after ? null : page.next_cursor;
    if (next === null) return { entries, hasMore: false };
    if (entries.length >= most) return { entries, hasMore: true };
    cursor = next;
  }
}

/** Prints the newest entries, and then those that come, until a signal. */
async function follow(
  client: WavetrainClient,
  query: AuditListQuery,
  most: number,
  json: boolean,
  context: CliContext,
): Promise<ExitStatus> {
  const terminal = detectTerminal(context.stdout, context.env);
  let last = 0;
  let isFirst = true;
  await untilSignal(context.processEvents, async (signal) => {
    for (let room = most; ; room = Number.POSITIVE_INFINITY) {
      const { entries } = await readNewest(client, { ...query, signal }, room, last);
      if (entries.length > 0) {
        last = Number(entries[0]?.id);
        const ordered = entries.toReversed();
        const lines = json ? ordered.map((entry) => JSON.stringify(entry)) : formatEntries(ordered, terminal);
        // The headings stand above the first ones alone.
        context.stdout.write(`${(json || isFirst ? lines : lines.slice(1)).join('\n')}\n`);
        isFirst = false;
      }
      await delay(AUDIT_LOOK_MS, { clock: context.clock, signal });
    }
  });
  return EXIT.interrupted;
}

/** One line for each entry, below one of headings. */
function formatEntries(entries: readonly AuditEntry[], terminal: Terminal): string[] {
  const columns: Column<AuditEntry>[] = [
    { heading: 'TIME (UTC)', cell: ({ time }) => time.slice(0, 19).replace('T', ' ') },
    { heading: 'WHO', cell: ({ who }) => toSingleLine(formatStartedBy(who)) },
    { heading: 'ACTION', cell: ({ action }) => action },
    { heading: 'RESULT', cell: formatResult },
    { heading: 'ADDRESS', cell: ({ address }) => address ?? '-', dispensable: 1 },
    ...tenantColumns(entries, 2),
  ];
  const last: Column<AuditEntry> = { heading: 'OBJECT', cell: formatObject };
  const { style } = terminal;
  const paint = (line: string, { result }: AuditEntry): string =>
    result === 'ok' ? line : (result === 'refused' ? style.yellow : style.red)(line);
  return formatColumns({ rows: entries, columns, last, paint }, terminal);
}

/** As in `refused 401 x12`, of twelve attempts. */
function formatResult({ result, status, count }: AuditEntry): string {
  return [
    result,
    ...(status === null ? [] : [status]),
    ...(result !== 'ok' && count > 1 ? [`x${count}`] : []),
  ].join(' ');
}

/** As in `run 0198… (pipeline hello)`. */
function formatObject({ object, details, count, code, action }: AuditEntry): string {
  const name = object.id === null ? object.kind : `${object.kind} ${object.id}`;
  const parts = Object.entries(details).map(([key, values]) => `${key} ${values.join(', ')}`);
  if (action === 'delete' && object.kind === 'runs') parts.unshift(`${count} deleted`);
  if (code !== null) parts.unshift(code);
  return toSingleLine(parts.length === 0 ? name : `${name} (${parts.join('; ')})`);
}
