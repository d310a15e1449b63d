import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printOutputs } from '../render/outputs.js';
import {
  describeDraining,
  failureLines,
  formatElapsed,
  rerunLines,
  statusFormatter,
  subPipelineLines,
  subPipelineSummary,
} from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Style, type Terminal } from '../render/terminal.js';
import { formatCount, formatNumber, padToWidth, toSingleLine, wrapText } from '../render/text.js';
import { callServer, resolveRunId, type RunIdFlags } from './server-client.js';

/** Shows one run with its outputs or its error. */
export async function showRun(
  flags: RunIdFlags & { readonly json: boolean },
  context: CliContext,
): Promise<ExitStatus> {
  const record = await callServer(flags, context, async (client) =>
    client.record(await resolveRunId(client, flags.runId)),
  );
  if (flags.json) {
    printJson(record, context);
    return EXIT.done;
  }
  const terminal = detectTerminal(context.stdout, context.env);
  context.stdout.write(`${recordLines(record, terminal).join('\n')}\n`);
  if (record.result !== null) printOutputs(record.result, context);
  return EXIT.done;
}

/** The record without its outputs. */
function recordLines(record: RunRecord, terminal: Terminal): string[] {
  const { failures, status } = record;
  const { style } = terminal;
  const fields = listFields(record, style);
  const columns = Math.max(...fields.map(([name]) => name.length)) + 2;
  return [
    ...fields.flatMap(([name, value]) =>
      fieldLines(style.dim(padToWidth(name, columns)), value, columns, terminal),
    ),
    ...(failures.length === 0 ? [] : [style.bold('Failures:')]),
    ...failureLines(failures, terminal, '--json prints all of them'),
    ...(status === 'succeeded' ? [] : subPipelineLines(record, terminal)),
    ...rerunLines(record, style),
  ];
}

function listFields(record: RunRecord, style: Style): (readonly [name: string, value: string])[] {
  const { error } = record;
  const fields: (readonly [string, string | null])[] = [
    ['run', record.run_id],
    ['status', describeStatus(record, style)],
    [record.kind, toSingleLine(record.pipeline_id)],
    ['goal', record.goal === '' ? null : toSingleLine(record.goal)],
    ['tenant', toSingleLine(record.tenant_id)],
    ['created', record.created_at],
    ['started', record.started_at],
    ['finished', record.finished_at],
    ['progress', describeProgress(record)],
    ['rerun of', record.rerun_of],
    ['error', error === null ? null : toSingleLine(error)],
  ];
  return fields.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

function describeStatus(record: RunRecord, style: Style): string {
  const { status, settled, started_at, finished_at } = record;
  const isDraining = status === 'cancelled' && !settled && started_at !== null && finished_at === null;
  const draining = isDraining ? `, ${describeDraining(record)}` : '';
  return `${statusFormatter(status, style)(status)}${formatElapsed(record)}${draining}`;
}

function describeProgress(record: RunRecord): string {
  const { waves, waves_executed, tasks, tasks_settled, invocations } = record.progress;
  const parts = [
    `${formatNumber(waves_executed)} of ${formatCount(waves, 'wave')}`,
    `${formatNumber(tasks_settled)} of ${formatCount(tasks, 'task')}`,
    formatCount(invocations, 'invocation'),
  ];
  return `${describeSubPipelines(record)}${parts.join(', ')}`;
}

function describeSubPipelines(record: RunRecord): string {
  const { sub_pipelines, sub_pipelines_settled = 0 } = record.progress;
  if (sub_pipelines === undefined) return '';
  if (record.status !== 'succeeded') return `${subPipelineSummary(record)}; `;
  return `${formatNumber(sub_pipelines_settled)} of ${formatCount(sub_pipelines, 'sub-pipeline')}, `;
}

/** Wraps a long value on a terminal, aligned with its first line. */
function fieldLines(
  name: string,
  value: string,
  indent: number,
  { interactive, columns }: Terminal,
): string[] {
  if (!interactive) return [name + value];
  const lines = wrapText(value, Math.max(20, columns - 1 - indent));
  return lines.map((line, index) => (index === 0 ? name : ' '.repeat(indent)) + line);
}
