import { Command, Option } from 'clipanion';
import { cancelRun, deleteRun } from '../runs/cancel.js';
import { listRuns } from '../runs/list.js';
import { rerunRun } from '../runs/rerun.js';
import { showRun } from '../runs/show.js';
import { watchRun } from '../runs/watch.js';
import { ServerCommand } from './shared-options.js';

const RUN_ID = { name: 'RUN_ID', required: true } as const;

const ABOUT_IDS = `
  RUN_ID is the id of a run, or at least 4 characters of its beginning or end. A server that wants a key gets the one
  in WAVETRAIN_API_KEY.
`;

const JSON_OF_OUTPUTS = 'print the outputs, of a plan its result, as one JSON document, and no progress';
const VERBOSE = 'print every event on a line of its own';
const QUIET = 'no progress';

export class RunsListCommand extends ServerCommand {
  static override paths = [['runs', 'list']];
  static override usage = Command.Usage({
    description: 'lists the runs of a server, the newest first',
    details: 'A server that wants a key gets the one in WAVETRAIN_API_KEY.',
    examples: [
      ['the newest', '$0 runs list'],
      ['those that failed', '$0 runs list --status failed'],
      ['the ids of all', "$0 runs list --all --json | jq -r '.runs[].run_id'"],
    ],
  });

  status = Option.String('--status', {
    description: '<STATUS> only runs that are queued, running, succeeded, failed or cancelled',
  });
  pipeline = Option.String('--pipeline', { description: '<ID> only runs of this pipeline or plan' });
  tenant = Option.String('--tenant', { description: '<ID> only runs of this tenant' });
  limit = Option.String('--limit', { description: '<N> at most so many; default 20' });
  all = Option.Boolean('--all', false, { description: 'every run that the server keeps' });
  json = Option.Boolean('--json', false, { description: 'print the runs as one JSON document' });

  override execute(): Promise<number> {
    return listRuns(this, this.context);
  }
}

export class RunsShowCommand extends ServerCommand {
  static override paths = [['runs', 'show']];
  static override usage = Command.Usage({
    description: 'shows a run: its status, times, progress, failures and outputs',
    details: ABOUT_IDS,
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
    description: 'watches a run until it has settled, and exits as it ended',
    details: `${ABOUT_IDS}
      Ctrl-C leaves; the run goes on.`,
    examples: [['one that was submitted elsewhere', '$0 runs watch 3f9c1a']],
  });

  runId = Option.String(RUN_ID);
  json = Option.Boolean('--json', false, { description: JSON_OF_OUTPUTS });
  verbose = Option.Boolean('--verbose', false, { description: VERBOSE });
  quiet = Option.Boolean('--quiet', false, { description: QUIET });

  override execute(): Promise<number> {
    return watchRun(this, this.context);
  }
}

export class RunsCancelCommand extends ServerCommand {
  static override paths = [['runs', 'cancel']];
  static override usage = Command.Usage({
    description: 'cancels a queued or running run',
    details: ABOUT_IDS,
    examples: [['without waiting for its tools', '$0 runs cancel 3f9c1a --force']],
  });

  runId = Option.String(RUN_ID);
  force = Option.Boolean('--force', false, { description: 'tell the tools in flight to stop' });

  override execute(): Promise<number> {
    return cancelRun(this, this.context);
  }
}

export class RunsRerunCommand extends ServerCommand {
  static override paths = [['runs', 'rerun']];
  static override usage = Command.Usage({
    description: 'runs a settled run once more, all of it or from where it failed',
    details: `${ABOUT_IDS}
      Prints the id of the new run, unless it is watched.`,
    examples: [
      ['only what has not succeeded', '$0 runs rerun 3f9c1a --from failed --watch'],
      ['a task and what depends on it', '$0 runs rerun 3f9c1a --from summary'],
      ['a sub-pipeline of a plan and what reads from it', '$0 runs rerun 3f9c1a --from extract'],
    ],
  });

  runId = Option.String(RUN_ID);
  from = Option.String('--from', {
    description:
      '<NAME> run again what has not succeeded (failed), or this task, of a plan this sub-pipeline, and what depends on it',
  });
  watch = Option.Boolean('--watch', false, { description: 'watch the new run, as runs watch does' });
  json = Option.Boolean('--json', false, {
    description: 'print what the server accepted as one JSON document; with --watch the outputs',
  });
  verbose = Option.Boolean('--verbose', false, { description: `${VERBOSE}, with --watch` });
  quiet = Option.Boolean('--quiet', false, { description: `${QUIET}, with --watch` });

  override execute(): Promise<number> {
    return rerunRun(this, this.context);
  }
}

export class RunsDeleteCommand extends ServerCommand {
  static override paths = [['runs', 'delete']];
  static override usage = Command.Usage({
    description: 'has a server forget a settled run',
    details: ABOUT_IDS,
    examples: [['by the end of its id', '$0 runs delete 3f9c1a']],
  });

  runId = Option.String(RUN_ID);

  override execute(): Promise<number> {
    return deleteRun(this, this.context);
  }
}
