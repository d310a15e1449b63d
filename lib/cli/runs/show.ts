import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printOutcome } from '../render/outputs.js';
import {
  courseInNumbers,
  courseLines,
  failureLine,
  nextLines,
  paintOf,
  wavesAtWork,
} from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { type Style, styleOf, type Terminal, terminalOf } from '../render/terminal.js';
import { duration, grouped, oneLine, padTo, plural, wrap } from '../render/text.js';
import { ask, findRun, type ServerFlags } from './server.js';

interface ShowFlags extends ServerFlags {
  readonly runId: string;
  readonly json: boolean;
}

/** Shows a run as it is now. */
export async function showRun(flags: ShowFlags, context: CliContext): Promise<ExitStatus> {
  const record = await ask(flags, context, async (client) =>
    client.record(await findRun(client, flags.runId)),
  );
  if (flags.json) {
    printJson(record, context);
    return EXIT.done;
  }
  const terminal = terminalOf(context.stdout, context.env);
  context.stdout.write(`${recordLines(record, styleOf(terminal), terminal).join('\n')}\n`);
  if (record.result !== null) printOutcome(record.result, context);
  return EXIT.done;
}

/** More than that is left to --json. */
const MOST_FAILURES = 50;

/** A record as people read it, but for its outputs. */
function recordLines(record: RunRecord, style: Style, terminal: Terminal): string[] {
  const facts = factsOf(record, style);
  const columns = Math.max(...facts.map(([name]) => name.length)) + 2;
  return [
    ...facts.flatMap(([name, value]) => factLines(style.dim(padTo(name, columns)), value, columns, terminal)),
    ...failureLinesOf(record, style, terminal),
    ...(record.status === 'succeeded' ? [] : courseLines(record, terminal)),
    ...nextLines(record, style),
  ];
}

/** On a terminal a long value goes on below itself. */
function factLines(
  name: string,
  value: string,
  indent: number,
  { interactive, columns }: Terminal,
): string[] {
  if (!interactive) return [name + value];
  const lines = wrap(value, Math.max(20, columns - 1 - indent));
  return lines.map((line, index) => (index === 0 ? name : ' '.repeat(indent)) + line);
}

function factsOf(record: RunRecord, style: Style): (readonly [string, string])[] {
  const { error } = record;
  const facts: (readonly [string, string | null])[] = [
    ['run', record.run_id],
    ['status', statusOf(record, style)],
    [record.kind, oneLine(record.pipeline_id)],
    ['goal', record.goal === '' ? null : oneLine(record.goal)],
    ['tenant', oneLine(record.tenant_id)],
    ['created', record.created_at],
    ['started', record.started_at],
    ['finished', record.finished_at],
    ['progress', progressOf(record)],
    ['rerun of', record.rerun_of],
    ['error', error === null ? null : oneLine(error)],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

function progressOf(record: RunRecord): string {
  const { waves, waves_executed, tasks, tasks_settled, invocations } = record.progress;
  const work = [
    `${grouped(waves_executed)} of ${plural(waves, 'wave')}`,
    `${grouped(tasks_settled)} of ${plural(tasks, 'task')}`,
    plural(invocations, 'invocation'),
  ].join(', ');
  return `${subPipelinesOf(record)}${work}`;
}

function subPipelinesOf(record: RunRecord): string {
  const { sub_pipelines, sub_pipelines_settled = 0 } = record.progress;
  if (sub_pipelines === undefined) return '';
  if (record.status !== 'succeeded') return `${courseInNumbers(record)}; `;
  return `${grouped(sub_pipelines_settled)} of ${plural(sub_pipelines, 'sub-pipeline')}, `;
}

function statusOf(record: RunRecord, style: Style): string {
  const { status, settled, started_at, finished_at } = record;
  const time =
    started_at === null || finished_at === null
      ? ''
      : ` in ${duration(Date.parse(finished_at) - Date.parse(started_at))}`;
  const isEnding = finished_at === null && started_at !== null && !settled && status === 'cancelled';
  return `${paintOf(status, style)(status)}${time}${isEnding ? `, ${wavesAtWork(record)}` : ''}`;
}

function failureLinesOf({ failures }: RunRecord, style: Style, { interactive }: Terminal): string[] {
  if (failures.length === 0) return [];
  const shown = interactive ? failures.slice(0, MOST_FAILURES) : failures;
  const hidden = failures.length - shown.length;
  return [
    style.bold('Failures:'),
    ...shown.map((failure) => failureLine(failure, style)),
    ...(hidden > 0 ? [`  … ${grouped(hidden)} more; --json has them all`] : []),
  ];
}
