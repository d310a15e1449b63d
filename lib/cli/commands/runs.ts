import { Command, Option } from 'clipanion';
import type { WavetrainClient } from '../../client/client.js';
import type { AcceptedRun } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import type { DisplayFlags } from '../progress/display.js';
import { describeDraining, serverFlag } from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { checkOnServer } from '../run/server-backend.js';
import { showArtifacts } from '../runs/files/artifacts.js';
import { deleteRuns } from '../runs/delete.js';
import { assertOnServer } from '../runs/kept-run.js';
import { listRuns } from '../runs/list.js';
import { dryRunRerun, rerun } from '../runs/rerun.js';
import { callServer, resolveRunId, type ServerFlags } from '../runs/server-client.js';
import { showTask } from '../runs/show-task.js';
import { showRun } from '../runs/show.js';
import { followRun, printSettledRun, watchRun } from '../runs/watch.js';
import { UsageError } from '../input/usage-errors.js';
import {
  AS_BEFORE,
  HistoryCommand,
  RunFileCommand,
  RunValuesCommand,
  SERVER_OPTION,
  ServerCommand,
  VERBOSE_OPTION,
} from '../input/shared-options.js';

export const RUN_ID = { name: 'RUN_ID', required: true } as const;

export const RUN_ID_DETAILS = `
  RUN_ID is the id of a run, or its last 4 or more characters (ids begin with the time, so their start is often the
  same). If the server requires an API key, set WAVETRAIN_API_KEY.
`;

export const HISTORY_DETAILS = `
  Without --server and WAVETRAIN_SERVER, a run that wavetrain run has kept in the folder .wavetrain needs no server.
`;

const OUTPUTS_JSON_OPTION =
  'print the outputs (for a plan, the result) as one JSON document, and no progress';
const WATCH_QUIET_OPTION = 'show no progress';

export class RunsSubmitCommand extends RunFileCommand {
  static override paths = [['runs', 'submit']];
  static override usage = Command.Usage({
    description: 'submits a pipeline or a plan to a server and prints the run id',
    details: `
      The server validates the file and runs it with its own tools. The pipelines of a plan are read from files in its
      folder and sent with it. With --watch the command shows the run until it settles, and exits with its status; Ctrl-C
      stops watching, and the run continues. If the server requires an API key, set WAVETRAIN_API_KEY.

      wavetrain run FILE --server URL runs a file on a server like a run of this process: Ctrl-C cancels the run.
    `,
    examples: [
      ['submit a file', '$0 runs submit pipeline.yaml'],
      ['with params, and watch it', `$0 runs submit pipeline.yaml --params '{"city": "Oslo"}' --watch`],
    ],
  });

  server = Option.String('--server', { description: SERVER_OPTION });
  watch = Option.Boolean('--watch', false, { description: 'watch the run, like runs watch' });
  json = Option.Boolean('--json', false, {
    description: 'print the accepted run as one JSON document; with --watch, print the outputs',
  });
  verbose = Option.Boolean('--verbose', false, { description: `with --watch: ${VERBOSE_OPTION}` });
  quiet = Option.Boolean('--quiet', false, { description: 'show no warnings; with --watch, no progress' });

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    return callServer(this, context, async (client) => {
      const submission = await checkOnServer(this, 'runs submit', client, context);
      if (typeof submission === 'number') return submission;
      return showAccepted(await submission.submit(), this, client, context);
    });
  }
}

/** Prints a run that a server has accepted, or watches it. */
async function showAccepted(
  accepted: AcceptedRun,
  flags: DisplayFlags & Pick<ServerFlags, 'server'> & { readonly watch: boolean },
  client: WavetrainClient,
  context: CliContext,
): Promise<ExitStatus> {
  if (flags.watch) {
    context.stderr.write(`submitted ${accepted.run_id}\n`);
    const record = await followRun(client, accepted.run_id, flags, context);
    return record === undefined ? EXIT.interrupted : printSettledRun(record, flags, context);
  }
  if (flags.json) printJson(accepted, context);
  else context.stdout.write(`${accepted.run_id}\n`);
  return EXIT.done;
}

export class RunsListCommand extends HistoryCommand {
  static override paths = [['runs', 'list']];
  static override usage = Command.Usage({
    description: 'lists the runs of this folder or of a server, newest first',
    details: `
      Without --server and WAVETRAIN_SERVER it lists what wavetrain run has kept in the folder .wavetrain, if there is
      one: a run is "interrupted" when its process ended before it had settled. If a server requires an API key, set
      WAVETRAIN_API_KEY.`,
    examples: [
      ['the newest runs', '$0 runs list'],
      ['failed runs', '$0 runs list --status failed'],
      ['what mentions a customer, in the last two hours', '$0 runs list --text acme --since 2h'],
      ['runs of one day', '$0 runs list --since 2026-01-31 --until 2026-02-01 --all'],
      ['all run ids', "$0 runs list --all --json | jq -r '.runs[].run_id'"],
    ],
  });

  status = Option.String('--status', {
    description:
      '<STATUS> only runs that are running, succeeded, failed or cancelled; of a server also queued or paused (at a breakpoint), of this folder also interrupted',
  });
  pipeline = Option.String('--pipeline', { description: '<ID> only runs of this pipeline or plan' });
  tenant = Option.String('--tenant', { description: '<ID> only runs of this tenant' });
  trigger = Option.String('--trigger', {
    description: '<TRIGGER> only runs that a schedule, or a webhook, of a server has started',
  });
  startedBy = Option.String('--started-by', {
    description:
      '<WHO> only runs that were started so: key, anonymous, schedule, webhook, mcp, cli or library; with a name, as in key:ci',
  });
  text = Option.String('--text', {
    description:
      '<TEXT> only runs with this text in their id, the id of their pipeline, their goal or their error, in capital or small letters',
  });
  since = Option.String('--since', {
    description:
      '<TIME> only runs that were submitted at this time or later: how long ago (90m, 2h, 3d, 1w), or a date or time of ISO 8601 (without a zone, in that of this machine)',
  });
  until = Option.String('--until', {
    description: '<TIME> only runs that were submitted earlier than this, written like --since',
  });
  limit = Option.String('--limit', { description: '<N> maximum number of runs; default 20' });
  all = Option.Boolean('--all', false, { description: 'list every run that is kept' });
  json = Option.Boolean('--json', false, { description: 'print the runs as one JSON document' });

  override execute(): Promise<number> {
    return listRuns(this, this.context);
  }
}

export class RunsShowCommand extends HistoryCommand {
  static override paths = [['runs', 'show']];
  static override usage = Command.Usage({
    description: 'shows a run: its status, times, progress, tasks, failures and outputs',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      --task shows one task: its attempts, its error with causes and stack, its inputs and its output; for a fan-out add
      --item. A terminal gets long values shortened; --whole, --json, a file or a pipe gets everything.`,
    examples: [
      ['by the end of its id', '$0 runs show 3f9c1a'],
      ['a task', '$0 runs show 3f9c1a --task summary'],
      ['an item of a fan-out, as messages name it', `$0 runs show 3f9c1a --task 'extract[17]'`],
      ['a task of a plan', '$0 runs show 3f9c1a --task ingest/extract --item 17'],
    ],
  });

  runId = Option.String(RUN_ID);
  task = Option.String('--task', {
    description: '<TASK> show this task only; in a plan SUB_PIPELINE/TASK; for an item also TASK[N]',
  });
  item = Option.String('--item', { description: '<N> with --task: show this item, counted from 0' });
  whole = Option.Boolean('--whole', false, {
    description: 'with --task: show long values whole on a terminal too',
  });
  json = Option.Boolean('--json', false, {
    description: 'print the record (with --task, that of the task or item) as one JSON document',
  });

  override execute(): Promise<number> {
    const { task } = this;
    if (task !== undefined) return showTask(this, task, this.context);
    if (this.item === undefined) return showRun(this, this.context);
    throw new UsageError('--item needs --task', 'write --task TASK --item N');
  }
}

export class RunsArtifactsCommand extends HistoryCommand {
  static override paths = [['runs', 'artifacts']];
  static override usage = Command.Usage({
    description: 'lists the files that the tools of a run have written, or downloads one of them',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      With NAME the file is downloaded into the working directory, unless a file of that name is there.`,
    examples: [
      ['all files of a run', '$0 runs artifacts 3f9c1a'],
      ['download one of them', '$0 runs artifacts 3f9c1a report.xlsx --output report.xlsx'],
    ],
  });

  runId = Option.String(RUN_ID);
  name = Option.String({ name: 'NAME', required: false });
  output = Option.String('--output', {
    description: '<FILE> with NAME: write it to this file, which may exist; - prints it',
  });
  json = Option.Boolean('--json', false, { description: 'print the list as one JSON document' });

  override execute(): Promise<number> {
    return showArtifacts(this, this.context);
  }
}

export class RunsWatchCommand extends ServerCommand {
  static override paths = [['runs', 'watch']];
  static override usage = Command.Usage({
    description: 'watches a run until it settles and exits with its status',
    details: `${RUN_ID_DETAILS}
      Ctrl-C stops watching; the run continues.`,
    examples: [['watch a run that was submitted elsewhere', '$0 runs watch 3f9c1a']],
  });

  runId = Option.String(RUN_ID);
  json = Option.Boolean('--json', false, { description: OUTPUTS_JSON_OPTION });
  verbose = Option.Boolean('--verbose', false, { description: VERBOSE_OPTION });
  quiet = Option.Boolean('--quiet', false, { description: WATCH_QUIET_OPTION });

  override execute(): Promise<number> {
    return watchRun(this, this.context);
  }
}

export class RunsCancelCommand extends ServerCommand {
  static override paths = [['runs', 'cancel']];
  static override usage = Command.Usage({
    description: 'cancels a queued or running run',
    details: RUN_ID_DETAILS,
    examples: [['without waiting for its tools', '$0 runs cancel 3f9c1a --force']],
  });

  runId = Option.String(RUN_ID);
  force = Option.Boolean('--force', false, { description: 'also stop the tools in flight' });

  /** Prints what the run still waits for. */
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

export class RunsContinueCommand extends ServerCommand {
  static override paths = [['runs', 'continue']];
  static override usage = Command.Usage({
    description: 'lets a run go on that waits at a breakpoint',
    details: `${RUN_ID_DETAILS}
      Until then runs show RUN_ID --task TASK shows the inputs of the tasks that come next, and what there is so far.`,
    examples: [
      ['to its next breakpoint, or its end', '$0 runs continue 3f9c1a'],
      ['by one wave', '$0 runs continue 3f9c1a --step'],
    ],
  });

  runId = Option.String(RUN_ID);
  step = Option.Boolean('--step', false, { description: 'run one wave, and pause again' });

  /** Prints where the run is. */
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

export class RunsRerunCommand extends RunValuesCommand {
  static override paths = [['runs', 'rerun']];
  static override usage = Command.Usage({
    description: 'runs a settled run again: completely, from the point of failure, or with changes',
    details: `${RUN_ID_DETAILS}
      Prints the id of the new run, or watches it with --watch.

      Without --from everything runs again, or with changes (by --file, --params and the other options) only what they
      affect and what has not succeeded; with --from, what it names runs, and whatever has changed or has not succeeded.

      What the options do not change is as it was. The server validates a changed file first, and runs nothing if it has
      errors. A task is reused if its definition, its tool and what it reads are as they were, and so is an item of a
      fan-out. --dry-run says what would be reused and what would run, and runs nothing.

      A server reads its tool files when it starts. After a change of a tool file, restart it; its runs are then lost
      unless it has SERVICE_STORE: submit again.`,
    examples: [
      ['everything that has not succeeded', '$0 runs rerun 3f9c1a --from failed --watch'],
      [
        'with a changed file: what has changed, and what has not succeeded',
        '$0 runs rerun 3f9c1a --file pipeline.yaml',
      ],
      ['with another param', `$0 runs rerun 3f9c1a --params '{"city": "Oslo"}'`],
      ['a task and its dependents', '$0 runs rerun 3f9c1a --from summary'],
      ['a sub-pipeline of a plan and its dependents', '$0 runs rerun 3f9c1a --from extract'],
      ['what a changed file would run', '$0 runs rerun 3f9c1a --file pipeline.yaml --dry-run'],
    ],
  });

  runId = Option.String(RUN_ID);
  from = Option.String('--from', {
    description:
      '<NAME> what runs again: "failed", only what has not succeeded (the default with changes), or a task (of a plan, a sub-pipeline), with everything that depends on it',
  });
  file = Option.String('--file', { description: '<FILE> the changed pipeline or plan' });
  server = Option.String('--server', { description: SERVER_OPTION });
  watch = Option.Boolean('--watch', false, { description: 'watch the new run, like runs watch' });
  dryRun = Option.Boolean('--dry-run', false, {
    description: 'print what would be reused and what would run, and run nothing',
  });
  json = Option.Boolean('--json', false, {
    description:
      'print the accepted run as one JSON document; with --watch, print the outputs; with --dry-run, what would be reused and run',
  });
  verbose = Option.Boolean('--verbose', false, { description: `with --watch: ${VERBOSE_OPTION}` });
  quiet = Option.Boolean('--quiet', false, {
    description: 'do not say what is reused, and show no warnings; with --watch, no progress',
  });

  protected override unlessGiven(_inNewRun: string, inRerun: string = AS_BEFORE): string {
    return inRerun;
  }

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    await assertOnServer(this, 'runs rerun', (id) => `${PROGRAM} rerun ${id} goes on from there`, context);
    return callServer(this, context, async (client) => {
      if (this.dryRun) return dryRunRerun(this, client, context);
      const accepted = await rerun(this, client, context);
      return typeof accepted === 'number' ? accepted : showAccepted(accepted, this, client, context);
    });
  }
}

export class RunsDeleteCommand extends HistoryCommand {
  static override paths = [['runs', 'delete']];
  static override usage = Command.Usage({
    description: 'deletes a settled run from the server, or from the history of this folder',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}`,
    examples: [
      ['by the end of its id', '$0 runs delete 3f9c1a'],
      ['what this folder has kept', '$0 runs delete --all'],
    ],
  });

  runId = Option.String({ name: 'RUN_ID', required: false });
  all = Option.Boolean('--all', false, {
    description: 'delete all runs of the history of this folder, but those that are at work',
  });

  override execute(): Promise<ExitStatus> {
    return deleteRuns(this, this.context);
  }
}
