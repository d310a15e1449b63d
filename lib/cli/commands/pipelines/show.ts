import { Option } from 'clipanion';
import type { FolderPipelineDetails } from '../../../client/requests.js';
import { formatCount } from '../../../common/text.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { flagOption, ServerCommand, textOption } from '../../input/shared-options.js';
import { UsageError } from '../../input/usage-errors.js';
import { statusFormatter } from '../../render/run-summary.js';
import { printJson } from '../../render/stdout.js';
import { detectTerminal, type Terminal } from '../../render/terminal.js';
import { toSingleLine, wrapLine } from '../../render/text.js';
import { describeParam } from '../../run/submission.js';
import { type Field, fieldLines } from '../../runs/show-run.js';
import {
  callNamed,
  describeNext,
  describeRun,
  describeSchedule,
  NAMED_TENANT_OPTION,
  NAMED_ID,
} from './named-pipeline.js';

export class PipelinesShowCommand extends ServerCommand {
  static override paths = [['pipelines', 'show']];
  static override usage = ServerCommand.Usage({
    description:
      'shows a pipeline or plan in the folder of a server: its params, schedule, problems and last runs',
    details: 'If the server requires an API key, set WAVETRAIN_API_KEY.',
    examples: [
      ['what it takes, and when it runs', '$0 pipelines show nightly'],
      ['its file, as it is on the disk of the server', '$0 pipelines show nightly --text > nightly.yaml'],
    ],
  });

  id = Option.String(NAMED_ID);
  tenant = textOption`--tenant ${NAMED_TENANT_OPTION}`;
  text = flagOption`--text print the text of its file instead`;
  json = flagOption`--json print what the server knows of it, with its graph, as one JSON document`;

  override async execute(): Promise<ExitStatus> {
    const { context, id, tenant: tenant_id } = this;
    if (this.text && this.json) throw new UsageError('give --text or --json, not both');
    return callNamed(this, 'show', context, async ({ pipelines }) => {
      if (this.text) context.stdout.write((await pipelines.file(id, { tenant_id })).text);
      else {
        const named = await pipelines.get(id, { tenant_id });
        if (this.json) printJson(named, context);
        else printPipeline(named, context);
      }
      return EXIT.done;
    });
  }
}

function printPipeline(named: FolderPipelineDetails, { stdout, env, clock }: CliContext): void {
  const terminal = detectTerminal(stdout, env);
  const { style } = terminal;
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [style.bold(`${title}:`), ...lines.flatMap((line) => wrapLine(line, terminal))];
  const params = Object.entries(named.params).map(
    ([name, param]) => `  ${toSingleLine(describeParam(name, param))}`,
  );
  const inputs = Object.entries(named.inputs).map(
    ([name, value]) => `  ${toSingleLine(`${name}: ${JSON.stringify(value)}`)}`,
  );
  const lines = [
    ...fieldLines(listFields(named, clock.now()), terminal),
    ...section('Params', params),
    ...section('Inputs', inputs),
    ...section('Problems', listProblems(named)),
    ...section('Last runs', listRuns(named, terminal, clock.now())),
  ];
  stdout.write(`${lines.join('\n')}\n`);
}

function listFields(named: FolderPipelineDetails, now: number): Field[] {
  const { id, kind, tenant_id: tenant, file, goal, description, schedule } = named;
  const next = schedule && [describeNext(schedule, now), ...schedule.next_runs.slice(0, 1)].join(', ');
  return [
    [kind, toSingleLine(id)],
    ['tenant', toSingleLine(tenant)],
    ['file', toSingleLine(file)],
    ['state', describeState(named)],
    ['goal', goal === '' ? null : toSingleLine(goal)],
    ['description', description && toSingleLine(description)],
    ['schedule', describeSchedule(schedule)],
    ['next', next],
    ['last due', describeLastDue(named)],
    ['webhook', describeWebhook(named)],
  ];
}

function describeState({ ok, stale }: FolderPipelineDetails): string | null {
  if (ok) return null;
  return stale ? 'has errors; the last version without any is in use' : 'has errors';
}

function describeLastDue({ schedule }: FolderPipelineDetails): string | null {
  const last = schedule?.last ?? null;
  if (last === null) return null;
  const { due_at: dueAt, outcome, reason } = last;
  return toSingleLine([dueAt, outcome, ...(reason === undefined ? [] : [reason])].join(', '));
}

function describeWebhook({ webhook }: FolderPipelineDetails): string | null {
  return webhook && `POST ${webhook.path}${webhook.ready ? '' : ' (its secret is missing)'}`;
}

const MOST_PROBLEMS = 20;

function listProblems({ problems }: FolderPipelineDetails): string[] {
  const shown = problems.slice(0, MOST_PROBLEMS).map(({ severity, line, message }) => {
    const place = line === undefined ? '' : `line ${line}: `;
    return `  ${toSingleLine(`${severity}: ${place}${message}`)}`;
  });
  const hidden = problems.length - shown.length;
  return hidden === 0 ? shown : [...shown, `  … ${formatCount(hidden, 'more problem')}; --json prints all`];
}

function listRuns({ last_runs: runs }: FolderPipelineDetails, { style }: Terminal, now: number): string[] {
  return runs.map((run) => `  ${run.run_id}  ${describeRun(run, now, statusFormatter(run.status, style))}`);
}
