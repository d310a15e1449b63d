import type { FolderPipeline } from '../../../client/requests.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { ServerCommand, flagOption, textOption } from '../../input/shared-options.js';
import { statusFormatter } from '../../render/run-summary.js';
import { printJson, printNote } from '../../render/stdout.js';
import { type Column, formatColumns, tenantColumns } from '../../render/table.js';
import { detectTerminal, type Terminal } from '../../render/terminal.js';
import { toSingleLine } from '../../render/text.js';
import { callServer } from '../../runs/server-client.js';
import {
  describeNext,
  describeRun,
  describeSchedule,
  firstError,
  NO_PIPELINE_FOLDER,
  readAllPipelines,
} from './named-pipeline.js';

export class PipelinesListCommand extends ServerCommand {
  static override paths = [['pipelines', 'list']];
  static override usage = ServerCommand.Usage({
    description:
      'lists the pipelines and plans in the folder of a server, with their schedules and last runs',
    details: `
      A server has them in the folder that SERVICE_PIPELINES names. NEXT is the time until a schedule is due. If the server
      requires an API key, set WAVETRAIN_API_KEY.`,
    examples: [
      ['all of them', '$0 pipelines list'],
      ['those whose files have errors', "$0 pipelines list --json | jq '.pipelines[] | select(.ok | not)'"],
    ],
  });

  tenant = textOption`--tenant <ID> only those of this tenant`;
  json = flagOption`--json print them as one JSON document`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const { stdout, env, clock } = context;
    const { enabled, pipelines } = await callServer(this, context, (client) =>
      readAllPipelines(client, this.tenant),
    );
    if (this.json) {
      printJson({ pipelines }, context);
      return EXIT.done;
    }
    const lines = formatPipelines(pipelines, detectTerminal(stdout, env), clock.now());
    stdout.write(`${lines.join('\n')}\n`);
    if (!enabled) printNote(NO_PIPELINE_FOLDER, context);
    return EXIT.done;
  }
}

function formatPipelines(rows: readonly FolderPipeline[], terminal: Terminal, now: number): string[] {
  const { style } = terminal;
  if (rows.length === 0) return [style.dim('no pipelines found')];
  const columns: Column<FolderPipeline>[] = [
    { heading: 'ID', cell: formatId },
    ...tenantColumns(rows),
    { heading: 'SCHEDULE', cell: ({ schedule }) => describeSchedule(schedule) ?? '-', dispensable: 1 },
    { heading: 'NEXT', cell: ({ schedule }) => describeNext(schedule, now) },
    { heading: 'LAST RUN', cell: (row) => formatLastRun(row, now) },
  ];
  const last: Column<FolderPipeline> = { heading: 'GOAL OR ERROR', cell: formatGoal, hasSentences: true };
  const paint = (line: string, { last_runs: [run] }: FolderPipeline): string =>
    run === undefined
      ? line
      : line.replace(` ${run.status}`, ` ${statusFormatter(run.status, style)(run.status)}`);
  return formatColumns({ rows, columns, last, paint }, terminal);
}

function formatId({ id, kind }: FolderPipeline): string {
  return kind === 'plan' ? `${id} (plan)` : id;
}

function formatLastRun({ last_runs: [run] }: FolderPipeline, now: number): string {
  return run === undefined ? '-' : describeRun(run, now);
}

/** Of a goal or an error in a file or a pipe. */
const MOST_CHARACTERS = 200;

function formatGoal(pipeline: FolderPipeline): string {
  const error = firstError(pipeline);
  return toSingleLine((error === undefined ? pipeline.goal : `error: ${error}`).slice(0, MOST_CHARACTERS));
}
