import { escapeMarkup, formatCount, formatDuration, formatNumber } from '../common/text.js';
import type { ErrorRecord } from '../execution/invocation/thrown-error.js';
import type { GraphTone } from '../pipelines/drawing/graph-svg.js';
import type { AttemptRecord, CallRecord, ItemRecord, TaskRecord } from '../runs/tasks/task-record.js';
import { formatMessage, writeTime, type ValueWriter } from './values.js';
import { REPORT_LIMITS } from './report-limits.js';

const TONES: Readonly<Record<CallRecord['status'], GraphTone>> = {
  pending: 'waiting',
  running: 'active',
  succeeded: 'done',
  failed: 'failed',
  skipped: 'stopped',
};

export function toneOfCall({ status }: CallRecord): GraphTone {
  return TONES[status];
}

/** Says in some words how far a call is: `succeeded in 1.2 s`, `3 of 10 items failed`. */
export function describeCallState(call: CallRecord | TaskRecord, withAttempts = true): string {
  const { status, reused, cached, started_at: begun, finished_at: ended, attempts } = call;
  const items = 'items' in call ? call.items : null;
  if (call.skip_reason !== undefined) return `skipped: ${call.skip_reason}`;
  const took =
    begun === null || ended === null ? '' : ` in ${formatDuration(Date.parse(ended) - Date.parse(begun))}`;
  if (reused) return 'reused of an earlier run';
  if (cached) return 'from the cache';
  if (items !== null && items.total > 0) {
    const settled = items.succeeded + items.failed + items.skipped;
    if (status === 'running') return `${formatNumber(settled)} of ${formatCount(items.total, 'item')}`;
    const failed = items.failed === 0 ? '' : `, ${formatNumber(items.failed)} failed`;
    return `${formatCount(items.total, 'item')}${failed}${took}`;
  }
  const tries =
    withAttempts && attempts.length > 1
      ? `, ${formatCount(attempts.at(-1)?.attempt ?? attempts.length, 'attempt')}`
      : '';
  return `${status}${took}${tries}`;
}

/** The values of a task or an item, its attempts and its error. */
export function writeCall(
  call: CallRecord | TaskRecord | ItemRecord,
  values: ValueWriter,
  isOpen = false,
): string {
  const { inputs, inputs_error: problem, output, error, attempts, status, cut } = call;
  const isCut = (name: string): boolean => cut.some((path) => path.startsWith(`/${name}`));
  return [
    ...(error === null ? [] : [writeError(error, values)]),
    ...('value' in call ? [values.write('item', call.value, isCut('value'), isOpen)] : []),
    ...(inputs === null ? [] : [values.write('inputs', inputs, isCut('inputs'), isOpen)]),
    ...(inputs === null && problem !== null && problem !== error?.message
      ? [`<p class="soft">Its inputs are not known: ${formatMessage(problem)}</p>`]
      : []),
    ...(status === 'succeeded' || output !== null ? [values.write('output', output, isCut('output'))] : []),
    ...writeAttempts(attempts),
  ].join('\n');
}

/** A message, the chain of its causes, and where a tool threw it. */
function writeError({ type, message, code, causes, stack }: ErrorRecord, values: ValueWriter): string {
  const line = (error: Pick<ErrorRecord, 'type' | 'message' | 'code'>): string => {
    const kind = error.code === undefined ? error.type : `${error.type} ${error.code}`;
    return `<span class="kind">${formatMessage(kind)}</span> <span class="message">${escapeMarkup(error.message)}</span>`;
  };
  return [
    `<div class="error"><p>${line({ type, message, ...(code !== undefined && { code }) })}</p>`,
    ...(causes.length === 0
      ? []
      : [`<ol class="causes">${causes.map((cause) => `<li>caused by ${line(cause)}</li>`).join('')}</ol>`]),
    ...(stack === undefined ? [] : [values.writeText('stack', stack)]),
    '</div>',
  ].join('');
}

/** One attempt that succeeded says nothing that the line of the task does not. */
function writeAttempts(attempts: readonly AttemptRecord[]): string[] {
  const [first] = attempts;
  if (first === undefined || (attempts.length === 1 && first.error === null)) return [];
  const shown = attempts.slice(-REPORT_LIMITS.attempts);
  const rows = shown.map(({ attempt, started_at: begun, finished_at: ended, error }) => {
    const took =
      begun === null || ended === null ? '' : formatDuration(Date.parse(ended) - Date.parse(begun));
    const end = error === null ? (ended === null ? 'under way' : 'succeeded') : formatMessage(error);
    return `<tr><th scope="row">${attempt}</th><td>${begun === null ? '' : writeTime(begun)}</td><td>${took}</td><td>${end}</td></tr>`;
  });
  return [
    '<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Attempt</th><th scope="col">Began</th><th scope="col">Took</th><th scope="col">Ended</th></tr></thead>',
    `<tbody>${rows.join('')}</tbody></table></div>`,
  ];
}
