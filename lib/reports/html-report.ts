import { type Json, toJsonPointer } from '../common/json/json.js';
import type { Steps } from '../common/scheduling/steps.js';
import {
  ellipsize,
  escapeMarkup,
  formatCost,
  formatCount,
  formatDuration,
  formatNumber,
  nameCall,
  nameWave,
} from '../common/text.js';
import type { LiveEvent } from '../execution/events/event.js';
import { listLabels } from '../common/wire/labels.js';
import { formatStartedBy } from '../common/wire/started-by.js';
import type { TaskRecord } from '../runs/tasks/task-record.js';
import { describeCallState, toneOfCall, writeCall } from './calls.js';
import { createGantt } from './gantt.js';
import { BAR_NAMES, writeGanttSvg } from './gantt-svg.js';
import { writeGraphs } from './graphs.js';
import { type FailureGroup, type ReportData, wentOnWithout } from './report-data.js';
import { REPORT_STYLE } from './report-style.js';
import { formatMessage, writeTime, ValueWriter } from './values.js';
import { REPORT_LIMITS } from './report-limits.js';

/** Sent with a report, and part of it: nothing in it runs, and it loads nothing. */
export const REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'";

interface ReportOptions {
  /** Of this package. */
  readonly version: string;
  /** In ms since 1970: the end of what is under way. */
  readonly now: number;
}

const ROWS_PER_STEP = 50;

/** Characters of the value of an item beside its name. */
const MAX_PREVIEW = 44;

/** Characters of a key of the blackboard. */
const MAX_KEY = 200;

/**
 * Writes a report of a run as one HTML document, in steps, and returns its parts in their order. It needs no network and
 * no script; whatever tenants, tools and models have written in it is text. It has some 8 MiB at most.
 */
export function* writeHtmlReport(data: ReportData, { version, now }: ReportOptions): Steps<string[]> {
  const { run } = data;
  const values = new ValueWriter();
  const title = `${run.pipeline_id}: ${run.status}`;
  const parts = [
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${REPORT_POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">',
    `<title>${escapeMarkup(title)}</title>\n<style>${REPORT_STYLE}</style>\n</head>\n<body>`,
    writeHeader(data),
    '<main>',
  ];
  const [first, ...others] = data.failures;
  const isCause = first !== undefined && !wentOnWithout(first.failure);
  if (isCause) parts.push(...writeCause(first, values));
  else if (run.error !== null) {
    parts.push(
      `<section class="cause"><h2>Why it failed</h2><div class="error"><p class="message">${escapeMarkup(run.error)}</p></div></section>`,
    );
  }
  yield;
  parts.push('<section><h2>Graph</h2>', ...(yield* writeGraphs(data)), '</section>');
  yield;
  parts.push(...(yield* writeTimeline(data, now)));
  yield;
  parts.push(...(yield* writeFailures(isCause ? others : data.failures, data.moreFailures, values)));
  parts.push(...(yield* writeTasks(data, values)));
  parts.push(...(yield* writeItems(data, values)));
  parts.push(...writeUsage(data), ...writeFiles(data), ...writeBlackboard(data, values));
  yield;
  parts.push(...(yield* writeEvents(data)));
  const leftOut =
    values.leftOut === 0 ? '' : ` ${formatCount(values.leftOut, 'value')} did not fit and were left out.`;
  parts.push(
    '</main>',
    `<footer>Wavetrain ${escapeMarkup(version)}, written ${writeTime(new Date(now).toISOString())}.${leftOut}</footer>`,
    '</body>\n</html>\n',
  );
  return parts;
}

function writeHeader({ run }: ReportData): string {
  const { started_at: begun, finished_at: ended, created_at: created, progress } = run;
  const took = begun === null || ended === null ? null : Date.parse(ended) - Date.parse(begun);
  const waited = begun === null ? null : Date.parse(begun) - Date.parse(created);
  const { waves, waves_executed: executed, tasks, tasks_settled: settled, invocations } = progress;
  // An older server sends none.
  const labels = listLabels(run.labels ?? {});
  const facts: readonly (readonly [string, string | null])[] = [
    ['Run', `<code>${escapeMarkup(run.run_id)}</code>`],
    ['Tenant', escapeMarkup(run.tenant_id)],
    ['Created', writeTime(created)],
    ['Started', begun === null ? null : writeTime(begun)],
    ['Finished', ended === null ? null : writeTime(ended)],
    ['Took', took === null ? null : formatDuration(took)],
    ['Waited in the queue', waited === null || waited < 1000 ? null : formatDuration(waited)],
    ['Waves', `${formatNumber(executed)} of ${formatNumber(waves)}`],
    ['Tasks', `${formatNumber(settled)} of ${formatNumber(tasks)}`],
    ['Invocations', formatNumber(invocations)],
    ['Cost', run.cost === undefined ? null : formatCost(run.cost)],
    ['Rerun of', run.rerun_of === null ? null : `<code>${escapeMarkup(run.rerun_of)}</code>`],
    ['Started by', escapeMarkup(formatStartedBy(run.started_by))],
    ['Labels', labels.length === 0 ? null : escapeMarkup(labels.join(', '))],
  ];
  const status = run.paused ? 'paused' : run.status;
  return [
    `<header><p class="kicker">Report of a ${run.kind} run</p>`,
    `<h1>${escapeMarkup(run.pipeline_id)} <span class="badge ${escapeMarkup(status)}">${escapeMarkup(status)}</span></h1>`,
    `<p class="goal">${escapeMarkup(run.goal)}</p>`,
    '<dl class="facts">',
    ...facts.map(([name, value]) => (value === null ? '' : `<div><dt>${name}</dt><dd>${value}</dd></div>`)),
    '</dl></header>',
  ].join('');
}

/** The failure that failed the run, with all that is known of it. */
function writeCause(group: FailureGroup, values: ValueWriter): string[] {
  return [
    `<section class="cause"><h2>Why it failed: <code>${escapeMarkup(nameCall(group.failure))}</code></h2>`,
    `<p>${describeFailure(group)}</p>`,
    writeCall(group.call, values, true),
    '</section>',
  ];
}

function describeFailure({ failure, count }: FailureGroup): string {
  const { attempts, collected, tolerated } = failure;
  const tries = attempts === 0 ? 'before its first attempt' : `after ${formatCount(attempts, 'attempt')}`;
  const alike = count === 1 ? '' : `, and ${formatCount(count - 1, 'more item')} alike`;
  return `Failed ${tries}${alike}${collected === true ? '; its task went on without it' : ''}${tolerated === true ? '; its run went on without it' : ''}.`;
}

function* writeFailures(groups: readonly FailureGroup[], more: number, values: ValueWriter): Steps<string[]> {
  if (groups.length === 0 && more === 0) return [];
  const parts = ['<section><h2>Other failures</h2>'];
  for (const group of groups) {
    parts.push(
      `<details class="call"><summary><span class="name"><h3>${escapeMarkup(nameCall(group.failure))}</h3></span>`,
      `<span class="soft">${describeFailure(group)}</span><span class="state failed">${formatMessage(group.failure.error)}</span></summary>`,
      `<div>${writeCall(group.call, values)}</div></details>`,
    );
    yield;
  }
  return [...parts, ...writeMore(more, 'failure'), '</section>'];
}

function* writeTimeline({ tasks, items }: ReportData, now: number): Steps<string[]> {
  const failed = new Map<string, (typeof items)[number][]>();
  for (const item of items) {
    if (item.status !== 'failed' && item.status !== 'running') continue;
    const key = nameCall({ ...item, item: undefined });
    failed.set(key, [...(failed.get(key) ?? []), item]);
  }
  const calls = tasks.flatMap((task) => [task, ...(failed.get(nameCall(task)) ?? [])]);
  const begun = calls.filter(({ started_at: started }) => started !== null);
  if (begun.length === 0) return [];
  const shown = begun.slice(0, REPORT_LIMITS.timelineRows);
  const gantt = createGantt(shown, now);
  const svg = yield* writeGanttSvg(gantt, nameCall);
  const kinds = new Set(gantt.rows.flatMap(({ bars }) => bars.map(({ kind }) => kind)));
  const legend = [...kinds].map(
    (kind) =>
      `<span><svg width="14" height="10" aria-hidden="true"><rect class="bar ${kind}" x="1" y="1" width="12" height="8" rx="2"/></svg>${BAR_NAMES[kind]}</span>`,
  );
  return [
    '<section><h2>Timeline</h2>',
    `<p class="legend">${legend.join('')}</p>`,
    `<div class="scroll" tabindex="0">${svg}</div>`,
    ...writeMore(begun.length - shown.length, 'row'),
    '</section>',
  ];
}

function* writeTasks({ run, tasks }: ReportData, values: ValueWriter): Steps<string[]> {
  const parts = ['<section><h2>Tasks</h2>'];
  for (const task of tasks) {
    parts.push(writeTask(task, task.tool, writeCall(task, values)));
    yield;
  }
  return [...parts, ...writeMore(run.progress.tasks - tasks.length, 'task'), '</section>'];
}

function* writeItems({ tasks, items }: ReportData, values: ValueWriter): Steps<string[]> {
  if (items.length === 0) return [];
  const parts = ['<section><h2>Items of fan-outs</h2>'];
  for (const item of items) {
    parts.push(writeTask(item, ellipsize(JSON.stringify(item.value), MAX_PREVIEW), writeCall(item, values)));
    yield;
  }
  const total = tasks.reduce((sum, task) => sum + (task.items?.total ?? 0), 0);
  return [...parts, ...writeMore(total - items.length, 'item'), '</section>'];
}

function writeTask(call: TaskRecord | ReportData['items'][number], detail: string, body: string): string {
  const state = `<span class="state ${toneOfCall(call)}">${describeCallState(call)}</span>`;
  const head = `<span class="name"><h3>${escapeMarkup(nameCall(call))}</h3></span><span class="soft">${escapeMarkup(detail)}</span>${state}`;
  return `<details class="call"><summary>${head}</summary><div>${body === '' ? '<p class="soft">It has not begun.</p>' : body}</div></details>`;
}

function writeUsage({ run: { usage, cost } }: ReportData): string[] {
  if (usage.length === 0) return [];
  const rows = usage.map(({ model, requests, input_tokens: input, output_tokens: output, cost: own }) =>
    tableRow(escapeMarkup(model), [requests, input, output], own === undefined ? '' : formatCost(own)),
  );
  return [
    '<section><h2>Models</h2>',
    ...writeTable(['Model', 'Requests', 'Input tokens', 'Output tokens', 'Cost'], rows),
    ...(cost === undefined ? [] : [`<p class="soft">Together ${formatCost(cost)}</p>`]),
    '</section>',
  ];
}

function tableRow(name: string, counts: readonly number[], last: string): string {
  const cells = [...counts.map(formatNumber), last].map((text) => `<td class="number">${text}</td>`);
  return `<tr><th scope="row">${name}</th>${cells.join('')}</tr>`;
}

function writeTable([first = '', ...others]: readonly string[], rows: readonly string[]): string[] {
  const heads = others.map((name) => `<th scope="col" class="number">${name}</th>`).join('');
  return [
    `<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">${first}</th>${heads}</tr></thead>`,
    `<tbody>${rows.join('\n')}</tbody></table></div>`,
  ];
}

function writeFiles({ run: { artifacts, artifact_count: count } }: ReportData): string[] {
  if (count === 0) return [];
  const shown = artifacts.slice(0, REPORT_LIMITS.artifacts);
  const rows = shown.map(
    (file) =>
      `<tr><th scope="row">${escapeMarkup(file.name)}</th><td class="number">${escapeMarkup(nameCall(file))}</td><td class="number">${escapeMarkup(file.media_type)}</td><td class="number">${formatNumber(file.size)}</td></tr>`,
  );
  return [
    '<section><h2>Files</h2>',
    ...writeTable(['File', 'Task', 'Media type', 'Bytes'], rows),
    ...writeMore(count - shown.length, 'file'),
    '</section>',
  ];
}

/** The values at the end, and those that were others before. */
function writeBlackboard({ run, blackboard }: ReportData, values: ValueWriter): string[] {
  const { before = {}, after = run.result?.blackboard ?? {}, cut = [] } = blackboard ?? {};
  const keys = Object.keys(after);
  if (keys.length === 0) return [];
  const shown = keys.slice(0, REPORT_LIMITS.blackboardKeys);
  const write = (name: string, key: string, view: 'before' | 'after', value: Json): string => {
    const pointer = toJsonPointer([view, key]);
    const isCut = cut.some((path) => `${path}/`.startsWith(`${pointer}/`));
    return values.write(name, value, isCut);
  };
  return [
    '<section><h2>Blackboard</h2>',
    ...shown.flatMap((key) => {
      const [value = null, earlier] = [after[key], Object.hasOwn(before, key) ? before[key] : undefined];
      const isNew = earlier === undefined || JSON.stringify(earlier) === JSON.stringify(value);
      return [
        write(ellipsize(key, MAX_KEY), key, 'after', value),
        ...(isNew ? [] : [write(`${ellipsize(key, MAX_KEY)}, before`, key, 'before', earlier)]),
      ];
    }),
    ...writeMore(keys.length - shown.length, 'key'),
    '</section>',
  ];
}

function* writeEvents({ events, earlierEvents }: ReportData): Steps<string[]> {
  if (events.length === 0) return [];
  const parts = [
    `<section><h2>Events</h2><details><summary>${formatCount(events.length, 'event')}${earlierEvents > 0 ? `, after ${formatNumber(earlierEvents)} that are left out` : ''}</summary>`,
    '<div class="scroll" tabindex="0"><table class="events"><thead><tr><th scope="col">No.</th><th scope="col">Time</th><th scope="col">Event</th><th scope="col">Of</th><th scope="col">What</th></tr></thead><tbody>',
  ];
  for (const [index, event] of events.entries()) {
    const { seq, time, kind } = event;
    const what = formatMessage(describeEvent(event));
    parts.push(
      `<tr><td>${seq}</td><td>${escapeMarkup(time.slice(11, 23))}</td><td>${escapeMarkup(kind)}</td><td>${escapeMarkup(locateEvent(event))}</td><td>${what}</td></tr>`,
    );
    if (index % ROWS_PER_STEP === 0) yield;
  }
  return [...parts, '</tbody></table></div></details></section>'];
}

function locateEvent(event: LiveEvent): string {
  if (event.kind === 'run') return '';
  if (event.kind === 'sub_pipeline') return event.sub_pipeline;
  const { sub_pipeline: part, within = [] } = event;
  const own = 'task_id' in event ? event.task_id : nameWave(event.wave, event.handler);
  const item = 'item' in event && event.item !== undefined ? `[${event.item}]` : '';
  return [...(part === undefined ? [] : [part]), ...within, own + item].join('/');
}

function describeEvent(event: LiveEvent): string {
  switch (event.kind) {
    case 'sub_pipeline':
      if (event.status === 'skipped') return ['skipped', ...listError(event.reason)].join(': ');
      return [event.paused === true ? 'paused' : event.status, ...listError(event.error)].join(': ');
    case 'run':
      return [event.paused === true ? 'paused' : event.status, ...listError(event.error)].join(': ');
    case 'wave':
      return `${event.phase}, ${formatCount(event.tasks, 'task')}`;
    case 'item':
      return [event.phase, ...listError(event.error)].join(': ');
    case 'retry':
      return `attempt ${event.attempt} failed, the next in ${formatDuration(event.delay_ms)}: ${event.error}`;
    case 'round':
      return describeRound(event);
    case 'log':
      return event.message;
    case 'text':
      return event.text;
    case 'usage':
      return `${event.usage.model}: ${formatNumber(event.usage.input_tokens)} + ${formatNumber(event.usage.output_tokens)} tokens`;
    default:
      return [event.tool, ...listError(event.error)].join(': ');
  }
}

function describeRound({ round, at_most, reason, delay_ms }: Extract<LiveEvent, { kind: 'round' }>): string {
  const next = delay_ms === undefined ? '' : `, the next in ${formatDuration(delay_ms)}`;
  return `round ${round} of ${formatNumber(at_most)}${next}: ${reason ?? 'its condition holds'}`;
}

function listError(error: string | undefined): string[] {
  return error === undefined ? [] : [error];
}

function writeMore(count: number, noun: string): string[] {
  return count > 0 ? [`<p class="soft">and ${formatCount(count, noun)} more, not in this report</p>`] : [];
}
