import { Command, Option } from 'clipanion';
import type { ExitStatus } from '../exit-status.js';
import { HistoryCommand } from '../input/shared-options.js';
import { inspect } from '../runs/inspection/inspect.js';
import { showSnapshot } from '../runs/inspection/snapshot.js';
import { reportRun } from '../runs/report.js';
import { downloadRecording } from '../runs/files/recording.js';
import { HISTORY_DETAILS, RUN_ID, RUN_ID_DETAILS } from './runs.js';

export class InspectCommand extends HistoryCommand {
  static override paths = [['inspect']];
  static override usage = Command.Usage({
    description: 'shows what the actors of a run have done, in a browser',
    details: `
      WHAT is a recording, as run --record writes it, or the id of a run, or its last 4 or more characters. Of a recording,
      and of a run that wavetrain run has kept in the folder .wavetrain, the command serves the page on a free port of this
      machine, prints its address, and ends with Ctrl-C; no server is needed. Of a run of a server, which --server or
      WAVETRAIN_SERVER names, it prints the address of the page there.
    `,
    examples: [
      ['a recording from another machine', '$0 inspect out.wtrec'],
      ['a run of this folder, by the end of its id', '$0 inspect 3f9c1a --open'],
      ['a run of a server', '$0 inspect 3f9c1a --server http://127.0.0.1:8000'],
    ],
  });

  what = Option.String({ name: 'WHAT', required: true });
  open = Option.Boolean('--open', false, { description: 'open the page in the browser of this machine' });

  override execute(): Promise<ExitStatus> {
    return inspect(this, this.context);
  }
}

export class RunsRecordingCommand extends HistoryCommand {
  static override paths = [['runs', 'recording']];
  static override usage = Command.Usage({
    description: 'downloads what the actors of a run have done, for wavetrain inspect and bug reports',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      The recording of a run that is at work ends with what it has done so far. Secrets are masked; the result and the
      failures of the run are in the file.`,
    examples: [['to look at it on another machine', '$0 runs recording 3f9c1a --output out.wtrec']],
  });

  runId = Option.String(RUN_ID);
  output = Option.String('-o,--output', {
    description: '<FILE> write it to this file, which may exist; - prints it; default RUN_ID.wtrec',
  });

  override execute(): Promise<ExitStatus> {
    return downloadRecording(this, this.context);
  }
}

export class RunsSnapshotCommand extends HistoryCommand {
  static override paths = [['runs', 'snapshot']];
  static override usage = Command.Usage({
    description: 'shows the actors of a run and their states, for debugging',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      An actor has a path, such as run/wave/summary or plan/sub-runs/extract/wave. A snapshot has the
      state of the machine; the inputs, the attempts and the output of a task are in wavetrain runs show ID --task TASK. Ctrl-C
      stops watching; the run continues.`,
    examples: [
      ['all actors', '$0 runs snapshot 3f9c1a'],
      ['the state of one of them, as JSON', '$0 runs snapshot 3f9c1a --actor run/wave/summary --json'],
      ['every event that actors receive, as it happens', '$0 runs snapshot 3f9c1a --watch'],
    ],
  });

  runId = Option.String(RUN_ID);
  actor = Option.String('--actor', { description: '<PATH> only this actor and those below it' });
  watch = Option.Boolean('--watch', false, {
    description: 'print what the actors receive, and their states, until the run has settled',
  });
  json = Option.Boolean('--json', false, {
    description: 'print the snapshot as one JSON document; with --watch, one per line',
  });

  override execute(): Promise<number> {
    return showSnapshot(this, this.context);
  }
}

export class RunsReportCommand extends HistoryCommand {
  static override paths = [['runs', 'report']];
  static override usage = Command.Usage({
    description:
      'writes a report of a run in Markdown or HTML: status, times, tasks, failures with their inputs',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      HTML is one file that a browser opens without a network: with the graph, a timeline of the attempts, the values of
      the tasks and the last events. It says what it leaves out.`,
    examples: [
      ['for an issue', '$0 runs report 3f9c1a --output report.md'],
      ['for a browser', '$0 runs report 3f9c1a --output report.html'],
    ],
  });

  runId = Option.String(RUN_ID);
  output = Option.String('-o,--output', { description: '<FILE> write it to this file, which may exist' });
  format = Option.String('--format', {
    description:
      '<FORMAT> markdown or html; default html for a file that ends with .html or .htm, else markdown',
  });

  override execute(): Promise<ExitStatus> {
    return reportRun(this, this.context);
  }
}
