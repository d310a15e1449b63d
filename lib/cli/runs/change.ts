import { Option } from 'clipanion';
import { formatCount } from '../../common/text.js';
import type { KeptRuns } from '../../runs/store/shell/kept-runs.js';
import {
  HistoryCommand,
  RUN_ID_DETAILS,
  HISTORY_DETAILS,
  ServerRunCommand,
  flagOption,
  listOption,
  type FlagsOf,
  textOption,
} from '../input/shared-options.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { toIsoTime } from '../../common/clock.js';
import type { RemoveQuery, WavetrainClient } from '../../client/index.js';
import { readChoice, readLabelFilter } from '../input/flags.js';
import { readPointInTime } from '../input/times.js';
import { detectTerminal } from '../render/terminal.js';
import { UsageError } from '../input/usage-errors.js';
import { PROGRAM } from '../package-info.js';
import { describeDraining, serverFlag } from '../render/run-summary.js';
import { assertNotAtWork, assertOnServer, explainElsewhere, findKept, openHistory } from './kept-run.js';
import { findListed, type RunOfList } from './listing/kept-listing.js';
import { type KeptSelection, removeKept, selectKept } from './listing/kept-selection.js';
import { formatRuns } from './listing/run-rows.js';
import { callServer, resolveRunId } from './server-client.js';

export class RunsCancelCommand extends ServerRunCommand {
  static override paths = [['runs', 'cancel']];
  static override usage = ServerRunCommand.Usage({
    description: 'cancels a queued or running run',
    details: RUN_ID_DETAILS,
    examples: [['without waiting for its tools', '$0 runs cancel 3f9c1a --force']],
  });

  force = flagOption`--force also stop the tools in flight`;

  override async execute(): Promise<ExitStatus> {
    await assertOnServer(this, 'runs cancel', () => 'Ctrl-C in its shell cancels it', this.context);
    const record = await callServer(this, this.context, async (client) =>
      client.cancel(await resolveRunId(client, this.runId), { force: this.force }),
    );
    const { run_id, settled } = record;
    const remaining = this.force
      ? 'its tools were asked to stop'
      : `${describeDraining(record)} first (${PROGRAM} runs cancel ${run_id}${serverFlag(this.server)} --force stops the tools)`;
    this.context.stderr.write(`cancelled ${run_id}${settled ? '' : `: ${remaining}`}\n`);
    return EXIT.done;
  }
}

export class RunsContinueCommand extends ServerRunCommand {
  static override paths = [['runs', 'continue']];
  static override usage = ServerRunCommand.Usage({
    description: 'lets a run go on that waits at a breakpoint',
    details: `${RUN_ID_DETAILS}
      Until then runs show RUN_ID --task TASK shows the inputs of the tasks that come next, and what there is so far.`,
    examples: [
      ['to its next breakpoint, or its end', '$0 runs continue 3f9c1a'],
      ['by one wave', '$0 runs continue 3f9c1a --step'],
    ],
  });

  step = flagOption`--step run one wave, and pause again`;

  override async execute(): Promise<ExitStatus> {
    await assertOnServer(this, 'runs continue', () => 'its shell asks how it goes on', this.context);
    const record = await callServer(this, this.context, async (client) => {
      const id = await resolveRunId(client, this.runId);
      return this.step ? client.step(id) : client.continue(id);
    });
    const { run_id, kind, status, settled, progress } = record;
    const wave = kind === 'plan' ? '' : ` with wave ${progress.waves_executed + 1} of ${progress.waves}`;
    const isOver = settled || status !== 'running';
    this.context.stderr.write(isOver ? `${run_id} has ended: ${status}\n` : `${run_id} goes on${wave}\n`);
    return EXIT.done;
  }
}

export class RunsDeleteCommand extends HistoryCommand {
  static override paths = [['runs', 'delete']];
  static override usage = ServerRunCommand.Usage({
    description: 'deletes settled runs from the server, or from the history of this folder',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      --older-than, --pipeline, --status, --label and --text select runs that have ended; of several, all must match. In
      the history of a folder, runs stay that are in the file of another shell at work, or whose files a rerun may use.`,
    examples: [
      ['by the end of its id', '$0 runs delete 3f9c1a'],
      ['what this folder has kept', '$0 runs delete --all'],
      ['runs that settled 90 days ago or earlier', '$0 runs delete --older-than 90d'],
      ['failed runs of one pipeline', '$0 runs delete --pipeline report --status failed'],
      ['how many that would be', '$0 runs delete --pipeline report --status failed --dry-run'],
    ],
  });

  runId = Option.String({ name: 'RUN_ID', required: false });
  all = flagOption`--all delete all runs of the history of this folder, but those that are at work`;
  olderThan = textOption`--older-than <TIME> only runs that settled earlier: how long ago (12h, 90d), or a
    date or time of ISO 8601`;
  pipeline = textOption`--pipeline <ID> only runs of this pipeline or plan`;
  status = textOption`--status <STATUS> only runs that succeeded, failed or were cancelled`;
  label = listOption`--label <NAME=VALUE> only runs with this label; can be repeated: a run must have all of them`;
  text = textOption`--text <TEXT> only runs with this text, as runs list --text finds them`;
  tenant = textOption`--tenant <ID> only runs of this tenant`;
  dryRun = flagOption`--dry-run print how many runs would be deleted, and the newest of them, and delete none`;

  override async execute(): Promise<ExitStatus> {
    const { context, runId, all, server, store, envFile } = this;
    const selected = readSelection(this, context.clock.now());
    if ([runId !== undefined, all, selected !== undefined].filter(Boolean).length !== 1) {
      throw new UsageError(
        'write the id of a run, --all, or which runs: --older-than 90d, --pipeline, --status, --label, --text',
      );
    }
    if (this.dryRun && runId !== undefined) {
      throw new UsageError(
        '--dry-run is for --all and the filters',
        `${PROGRAM} runs show ${runId} shows the run`,
      );
    }
    if (selected !== undefined) return this.#removeSelected(selected);
    const history = await openHistory(this, context);
    if (runId === undefined) {
      if (history === undefined) throw new UsageError(NO_HISTORY, OF_SERVER);
      const leaving = findDeletable(history);
      if (this.dryRun) return this.#previewKept({ leaving, inUse: 0, needed: 0 }, history);
      await history.remove(leaving);
      context.stderr.write(`deleted ${formatCount(leaving.length, 'run')} of ${history.path}\n`);
      return EXIT.done;
    }
    const kept = history && findKept({ server, store, envFile, runId }, history);
    if (history !== undefined && kept !== undefined) {
      assertNotAtWork(kept, history);
      assertNotNeeded(kept.id, history);
      await history.remove([kept.id]);
      context.stderr.write(`deleted ${kept.id}\n`);
      return EXIT.done;
    }
    const deleted = await callServer(this, context, async (client) => {
      const id = await resolveRunId(client, runId);
      await client.remove(id);
      return id;
    }).catch(async (error: unknown) => {
      throw await explainElsewhere(error, { server, store, envFile, runId }, context);
    });
    context.stderr.write(`deleted ${deleted}\n`);
    return EXIT.done;
  }

  async #removeSelected(selected: RemoveQuery): Promise<ExitStatus> {
    const history = await openHistory(this, this.context);
    const { stderr } = this.context;
    if (history !== undefined) {
      if (this.dryRun) return this.#previewKept(selectKept(selected, history), history);
      const { deleted, ...staying } = await removeKept(selected, history);
      stderr.write(`deleted ${formatCount(deleted, 'run')} of ${history.path}\n`);
      this.#printStaying('left', staying);
      return EXIT.done;
    }
    if (this.dryRun) {
      const { count, newest } = await callServer(this, this.context, (client) =>
        findOnServer(selected, client),
      );
      return this.#printPreview(count, newest, '');
    }
    let deleted = 0;
    const isAlive = detectTerminal(stderr, this.context.env).interactive;
    await callServer(this, this.context, async (client) => {
      for await (const count of client.removeAll(selected)) {
        deleted += count;
        if (isAlive) stderr.write(`\rdeleted ${formatCount(deleted, 'run')} `);
      }
    });
    stderr.write(`${isAlive ? '\r' : ''}deleted ${formatCount(deleted, 'run')}\n`);
    return EXIT.done;
  }

  #previewKept({ leaving, ...staying }: KeptSelection, history: KeptRuns): ExitStatus {
    const newest = leaving.slice(0, MOST_SHOWN).flatMap((id) => findListed(id, history) ?? []);
    this.#printPreview(leaving.length, newest, ` of ${history.path}`);
    this.#printStaying('would leave', staying);
    return EXIT.done;
  }

  #printPreview(count: number, newest: readonly RunOfList[], place: string): ExitStatus {
    const { stdout, stderr, env, clock } = this.context;
    if (newest.length > 0)
      stdout.write(`${formatRuns(newest, detectTerminal(stdout, env), clock.now()).join('\n')}\n`);
    const listed = count > newest.length ? `, of which these are the newest ${newest.length}` : '';
    stderr.write(`would delete ${formatCount(count, 'run')}${place}${listed}\n`);
    return EXIT.done;
  }

  #printStaying(left: string, { inUse, needed }: Pick<KeptSelection, 'inUse' | 'needed'>): void {
    const { stderr } = this.context;
    if (inUse > 0)
      stderr.write(`${left} ${formatCount(inUse, 'run')} in files that other shells have in use\n`);
    if (needed > 0) stderr.write(`${left} ${formatCount(needed, 'run')} whose files reruns may use\n`);
  }
}

const ENDS = ['succeeded', 'failed', 'cancelled'] as const;

/** So many runs are shown of those that would be deleted. */
const MOST_SHOWN = 5;

/** The largest page of a server. */
const RUNS_PER_PAGE = 500;

interface FoundOnServer {
  readonly count: number;
  readonly newest: readonly RunOfList[];
}

/** Finds the runs of a server that a query would delete. */
async function findOnServer(
  { finished_before: before, ...filters }: RemoveQuery,
  client: WavetrainClient,
): Promise<FoundOnServer> {
  const beforeMs = before === undefined ? Number.POSITIVE_INFINITY : Date.parse(before);
  const newest: RunOfList[] = [];
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    // A run that was submitted later has not settled earlier.
    const page = await client.list({ ...filters, created_before: before, limit: RUNS_PER_PAGE, cursor });
    const selected = page.runs.filter(
      ({ settled, finished_at: end }) => settled && end !== null && Date.parse(end) < beforeMs,
    );
    count += selected.length;
    newest.push(...selected.slice(0, MOST_SHOWN - newest.length));
    if (page.next_cursor === null) return { count, newest };
    cursor = page.next_cursor;
  }
}

/** @throws UsageError for what is no time, status or label, and for an empty text, which every run has */
function readSelection(
  flags: Pick<FlagsOf<RunsDeleteCommand>, 'olderThan' | 'pipeline' | 'status' | 'label' | 'text' | 'tenant'>,
  now: number,
): RemoveQuery | undefined {
  const { olderThan, pipeline, status, label, text, tenant } = flags;
  if ([olderThan, pipeline, status, label, text].every((filter) => filter === undefined)) return undefined;
  if (text === '') throw new UsageError('--text must not be empty');
  const before = readPointInTime('--older-than', olderThan, now);
  return {
    finished_before: before === undefined ? undefined : toIsoTime(before),
    pipeline_id: pipeline,
    status: readChoice('--status', status, ENDS),
    label: readLabelFilter(label),
    text,
    tenant_id: tenant,
  };
}

const NO_HISTORY = '--all is for the history of a folder, and there is none here';
const OF_SERVER = 'for runs of a server, write which: --older-than 90d, --pipeline, --status';

/** The runs of the history but those that are at work, and those whose files they may use. */
function findDeletable(history: KeptRuns): string[] {
  const ids = history.ids();
  const atWork = ids.filter((id) => history.isAtWork(id));
  const staying = new Set([...atWork, ...[...history.sourcesOf(atWork).values()].flat()]);
  return ids.filter((id) => !staying.has(id));
}

/** @throws UsageError for a run whose files another one may use */
function assertNotNeeded(id: string, history: KeptRuns): void {
  const found = [...history.sourcesOf(history.ids())].find(([, sources]) => sources.includes(id));
  if (found === undefined) return;
  const [user] = found;
  throw new UsageError(
    `run ${id} has files that its rerun ${user} may use`,
    'delete that one first, or --all',
  );
}
