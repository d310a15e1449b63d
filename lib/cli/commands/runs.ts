import { Command, Option } from 'clipanion';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { describeDraining } from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { listRuns } from '../runs/list.js';
import { callServer, resolveRunId } from '../runs/server-client.js';
import { showRun } from '../runs/show.js';
import { followRun, printSettledRun, watchRun } from '../runs/watch.js';
import { ServerCommand } from './shared-options.js';

const RUN_ID = { name: 'RUN_ID', required: true } as const;

const RUN_ID_DETAILS = `
  RUN_ID is the id of a run, or its last 4 or more characters (ids begin with the time, so their start is often the
  same). If the server requires an API key, set WAVETRAIN_API_KEY.
`;

const OUTPUTS_JSON_OPTION =
  'print the outputs (for a plan, the result) as one JSON document, and no progress';
const VERBOSE_OPTION = 'print each event on a line of standard error';
const QUIET_OPTION = 'show no progress';

export class RunsListCommand extends ServerCommand {
  static override paths = [['runs', 'list']];
  static override usage = Command.Usage({
    description: 'lists the runs of a server, newest first',
    details: 'If the server requires an API key, set WAVETRAIN_API_KEY.',
    examples: [
      ['the newest runs', '$0 runs list'],
      ['failed runs', '$0 runs list --status failed'],
      ['all run ids', "$0 runs list --all --json | jq -r '.runs[].run_id'"],
    ],
  });

  status = Option.String('--status', {
    description: '<STATUS> only runs that are queued, running, succeeded, failed or cancelled',
  });
  pipeline = Option.String('--pipeline', { description: '<ID> only runs of this pipeline or plan' });
  tenant = Option.String('--tenant', { description: '<ID> only runs of this tenant' });
  limit = Option.String('--limit', { description: '<N> maximum number of runs; default 20' });
  all = Option.Boolean('--all', false, { description: 'list every run that the server keeps' });
  json = Option.Boolean('--json', false, { description: 'print the runs as one JSON document' });

  override execute(): Promise<number> {
    return listRuns(this, this.context);
  }
}

export class RunsShowCommand extends ServerCommand {
  static override paths = [['runs', 'show']];
  static override usage = Command.Usage({
    description: 'shows a run: its status, times, progress, failures and outputs',
    details: RUN_ID_DETAILS,
    examples: [['by the end of its id', '$0 runs show 3f9c1a']],
  });

  runId = Option.String(RUN_ID);
  json = Option.Boolean('--json', false, { description: 'print the record as one JSON document' });

  override execute(): Promise<number> {
    return showRun(this, this.context);
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
  quiet = Option.Boolean('--quiet', false, { description: QUIET_OPTION });

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
    const record = await callServer(this, this.context, async (client) =>
      client.cancel(await resolveRunId(client, this.runId), { force: this.force }),
    );
    const { run_id, settled } = record;
    const remaining = this.force
      ? 'its tools were asked to stop'
      : `${describeDraining(record)} first (${PROGRAM} runs cancel ${run_id} --force stops the tools)`;
    this.context.stderr.write(`cancelled ${run_id}${settled ? '' : `: ${remaining}`}\n`);
    return EXIT.done;
  }
}

export class RunsRerunCommand extends ServerCommand {
  static override paths = [['runs', 'rerun']];
  static override usage = Command.Usage({
    description: 'runs a settled run again, completely or from the point of failure',
    details: `${RUN_ID_DETAILS}
      Prints the id of the new run, or watches it with --watch.`,
    examples: [
      ['everything that has not succeeded', '$0 runs rerun 3f9c1a --from failed --watch'],
      ['a task and its dependents', '$0 runs rerun 3f9c1a --from summary'],
      ['a sub-pipeline of a plan and its dependents', '$0 runs rerun 3f9c1a --from extract'],
    ],
  });

  runId = Option.String(RUN_ID);
  from = Option.String('--from', {
    description:
      '<NAME> rerun only part of the run: "failed" for everything that has not succeeded, or a task (for a plan, a sub-pipeline) and its dependents',
  });
  watch = Option.Boolean('--watch', false, { description: 'watch the new run, like runs watch' });
  json = Option.Boolean('--json', false, {
    description: 'print the accepted run as one JSON document; with --watch, print the outputs',
  });
  verbose = Option.Boolean('--verbose', false, { description: `with --watch: ${VERBOSE_OPTION}` });
  quiet = Option.Boolean('--quiet', false, { description: `with --watch: ${QUIET_OPTION}` });

  override execute(): Promise<ExitStatus> {
    const { context } = this;
    return callServer(this, context, async (client) => {
      const accepted = await client.rerun(await resolveRunId(client, this.runId), { from: this.from });
      if (this.watch) {
        context.stderr.write(`submitted ${accepted.run_id}\n`);
        const record = await followRun(client, accepted.run_id, this, context);
        return record === undefined ? EXIT.interrupted : printSettledRun(record, this, context);
      }
      if (this.json) printJson(accepted, context);
      else context.stdout.write(`${accepted.run_id}\n`);
      return EXIT.done;
    });
  }
}

export class RunsDeleteCommand extends ServerCommand {
  static override paths = [['runs', 'delete']];
  static override usage = Command.Usage({
    description: 'deletes a settled run from the server',
    details: RUN_ID_DETAILS,
    examples: [['by the end of its id', '$0 runs delete 3f9c1a']],
  });

  runId = Option.String(RUN_ID);

  override async execute(): Promise<ExitStatus> {
    const runId = await callServer(this, this.context, async (client) => {
      const id = await resolveRunId(client, this.runId);
      await client.remove(id);
      return id;
    });
    this.context.stderr.write(`deleted ${runId}\n`);
    return EXIT.done;
  }
}
