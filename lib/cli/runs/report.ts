import { formatCount, nameCall } from '../../common/text.js';
import type { CallRecord, TaskRecord } from '../../runs/tasks/task-record.js';
import { listLabels } from '../../common/wire/labels.js';
import { formatStartedBy } from '../../common/wire/started-by.js';
import { RUN_ID_DETAILS, HISTORY_DETAILS, RunIdCommand, textOption } from '../input/shared-options.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { causesFirst } from '../render/failures.js';
import { readPackageJson } from '../package-info.js';
import { formatElapsed, modelLines } from '../render/run-summary.js';
import { printOrWrite } from '../render/stdout.js';
import { toSingleLine } from '../render/text.js';
import { readCall, readTasks } from '../run/task-reader.js';
import { artifactLine } from '../run/written-files.js';
import { readChoice } from '../input/flags.js';
import { type FoundRun, type ShownRecord, withRun, withState } from './kept-run.js';
import { describeCall, describeState } from './show-run.js';

/** Tasks and failures that a report has; `runs show` has all of them. */
const MAX_TASKS = 500;
const MAX_FAILURES = 20;

const FORMATS = ['markdown', 'html'] as const;

export class RunsReportCommand extends RunIdCommand {
  static override paths = [['runs', 'report']];
  static override usage = RunIdCommand.Usage({
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

  output = textOption`-o,--output <FILE> write it to this file, which may exist`;
  format = textOption`--format <FORMAT> markdown or html; default html for a file that ends with .html or .htm, else
    markdown`;

  /** Writes a report of a run: its status, its times, its tasks, and its failures with their inputs (D59). */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const format =
      readChoice('--format', this.format, FORMATS) ??
      (/\.html?$/i.test(this.output ?? '') ? 'html' : 'markdown');
    return withRun(this, context, async (found) => {
      const text = format === 'html' ? await formatHtml(found, context) : await formatReport(found);
      await printOrWrite(text, this.output, context);
      return EXIT.done;
    });
  }
}

async function formatHtml(found: FoundRun, { clock }: CliContext): Promise<string> {
  const { client, runId } = found;
  const { readReportData, runToEnd, writeHtmlReport } = await import('../lazy/reports.js');
  const data = await readReportData({
    record: async () => withState(await client.record(runId), found),
    tasks: (query) => client.tasks(runId, query),
    items: (taskId, query) => client.items(runId, taskId, query),
    task: (taskId, options) => client.task(runId, taskId, options),
    item: (taskId, item, options) => client.item(runId, taskId, item, options),
    events: (after, limit) => client.pastEvents(runId, { after, limit }),
    graph: () => client.runGraph(runId),
    blackboard: () => client.blackboard(runId),
  });
  const { version } = readPackageJson();
  return runToEnd(writeHtmlReport(data, { version, now: clock.now() })).join('\n');
}

async function formatReport(found: FoundRun): Promise<string> {
  const { client, runId } = found;
  const whole = await client.record(runId);
  const record = withState(whole, found);
  const tasks: TaskRecord[] = [];
  for await (const task of readTasks(runId, client, {}, MAX_TASKS)) tasks.push(task);
  const failures: CallRecord[] = [];
  for (const failure of causesFirst(whole.failures).slice(0, MAX_FAILURES)) {
    failures.push(await readCall(runId, client, failure));
  }
  const usage = modelLines(whole);
  const files = whole.artifacts.map(artifactLine);
  const sections = [
    [
      `# ${toText(whole.pipeline_id)}: ${record.status}`,
      '',
      ...factLines(record, found, formatElapsed(whole)),
    ],
    ['## Tasks', '', ...taskRows(tasks), ...moreLines(whole.progress.tasks - tasks.length, 'task')],
    ...(failures.length === 0
      ? []
      : [
          ['## Failures', ...failures.flatMap(failureSection)],
          moreLines(whole.failures.length - failures.length, 'failure'),
        ]),
    ...(files.length === 0 ? [] : [['## Files', '', ...toItems(files)]]),
    ...(usage.length === 0 ? [] : [['## Models', '', ...toItems(usage)]]),
  ];
  const lines = sections.filter((section) => section.length > 0).map((section) => section.join('\n'));
  return `${lines.join('\n\n')}\n`;
}

function factLines(record: ShownRecord, { state }: Pick<FoundRun, 'state'>, elapsed: string): string[] {
  const { finished_at: end, started_by: startedBy, labels } = record;
  const facts = [
    ['run', record.run_id],
    ['status', state === undefined ? null : describeState(state)],
    ['goal', record.goal],
    ['tenant', record.tenant_id],
    ['created', record.created_at],
    ['started', record.started_at],
    ['finished', end === null ? null : `${end}${elapsed === '' ? '' : ` (${elapsed.trim()})`}`],
    ['rerun of', record.rerun_of],
    // An older server sends none.
    ['started by', startedBy ? formatStartedBy(startedBy) : (record.trigger ?? null)],
    ['labels', listLabels(labels ?? {}).join(', ')],
    ['error', record.error],
  ] as const;
  return toItems([
    `kind: ${record.kind}`,
    ...facts.flatMap(([name, value]) => (value === null || value === '' ? [] : [`${name}: ${value}`])),
  ]);
}

function taskRows(tasks: readonly TaskRecord[]): string[] {
  const rows = tasks.map((task) =>
    [nameCall(task), task.tool, describeCall(task), String(task.attempts.length || '')]
      .map(toText)
      .join(' | '),
  );
  return ['| Task | Tool | State | Attempts |', '|---|---|---|---|', ...rows.map((row) => `| ${row} |`)];
}

function failureSection(call: CallRecord): string[] {
  const { attempts, inputs, error } = call;
  return [
    '',
    `### ${toText(nameCall(call))}`,
    '',
    ...toItems(attempts.map(({ attempt, error: why }) => `attempt ${attempt}: ${why ?? 'succeeded'}`)),
    ...(attempts.length === 0 && error !== null ? toItems([error.message]) : []),
    ...(inputs === null ? [] : ['', 'Inputs:', '', ...indented(JSON.stringify(inputs, undefined, 2))]),
  ];
}

function moreLines(hidden: number, noun: string): string[] {
  return hidden > 0 ? ['', `and ${formatCount(hidden, noun)} more`] : [];
}

function toItems(lines: readonly string[]): string[] {
  return lines.map((line) => `- ${toText(line)}`);
}

/** A block of code that nothing in it can end. */
function indented(text: string): string[] {
  return text.split('\n').map((line) => `    ${line}`);
}

/** Text of a run is no Markdown: a cell, a heading or an item stays one. */
function toText(text: string): string {
  return toSingleLine(text).replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');
}
