import type { TaskStatus } from '../../../machines/types.js';
import type { WavetrainClient } from '../../client/client.js';
import { errorCode, errorMessage } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { formatNumber, nameCall } from '../../common/text.js';
import type { AttemptRecord, CallRecord, ItemRecord, TaskRecord } from '../../runs/tasks/task-record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { stackLines } from '../render/failures.js';
import { printValues } from '../render/outputs.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';
import { UsageError } from '../input/usage-errors.js';
import { nearestTask, readCall } from '../run/task-reader.js';
import { type FoundRun, withRun } from './kept-run.js';
import {
  HISTORY_DETAILS,
  RUN_ID_DETAILS,
  RunIdCommand,
  textOption,
  flagOption,
} from '../input/shared-options.js';
import { showRun, describeCall, describeTook, type Field, fieldLines } from './show-run.js';

export class RunsShowCommand extends RunIdCommand {
  static override paths = [['runs', 'show']];
  static override usage = RunIdCommand.Usage({
    description: 'shows a run: its status, times, progress, tasks, failures and outputs',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      --task shows one task: its attempts, its error with causes and stack, its inputs and its output; for a fan-out add
      --item. Long values are shortened; --full and --json print everything.`,
    examples: [
      ['by the end of its id', '$0 runs show 3f9c1a'],
      ['a task', '$0 runs show 3f9c1a --task summary'],
      ['an item of a fan-out, as messages name it', `$0 runs show 3f9c1a --task 'extract[17]'`],
      ['a task of a plan', '$0 runs show 3f9c1a --task ingest/extract --item 17'],
    ],
  });

  task = textOption`--task <TASK> show this task only; in a plan SUB_PIPELINE/TASK; for an item also TASK[N]`;
  item = textOption`--item <N> with --task: show this item, counted from 0`;
  full = flagOption`--full,--whole print long values whole`;
  json = flagOption`--json print the record (with --task, that of the task or item) as one JSON document`;

  override execute(): Promise<number> {
    const { task } = this;
    if (task !== undefined) return showTask(this, task, this.context);
    if (this.item === undefined) return showRun(this, this.context);
    throw new UsageError('--item needs --task', 'write --task TASK --item N');
  }
}

/** A task or an item, as messages name it: `write`, `report/write`, `report/write[3]`. */
const CALL = /^(?:([^/[\]]+)\/)?([^/[\]]+)(?:\[(\d+)\])?$/;

interface Call {
  readonly subPipeline: string | undefined;
  readonly taskId: string;
  readonly item: number | undefined;
}

/** Shows one task or one item of a run: its state, attempts, error, inputs and output (D59). */
async function showTask(flags: RunsShowCommand, task: string, context: CliContext): Promise<ExitStatus> {
  const call = parseCall(task, flags.item);
  const terminal = detectTerminal(context.stdout, context.env);
  const whole = flags.full || flags.json;
  return withRun(flags, context, async (found) => {
    const { client } = found;
    const record = await readCallRecord(found, call, whole);
    if (flags.json) {
      printJson(record, context);
      return EXIT.done;
    }
    const lines = [...recordLines(record, terminal), ...(await failedItemLines(record, client, terminal))];
    context.stdout.write(`${lines.join('\n')}\n`);
    printRecordValues(record, whole, context);
    return EXIT.done;
  });
}

function printRecordValues(record: TaskRecord | ItemRecord, whole: boolean, context: CliContext): void {
  printValues(valuesOf(record), whole, context);
  if (record.cut.length > 0) context.stderr.write('long values are cut; --full shows everything\n');
}

/** @throws UsageError */
function parseCall(task: string, item: string | undefined): Call {
  const [, subPipeline, taskId, itemOfTask] = CALL.exec(task) ?? [];
  if (taskId === undefined) {
    throw new UsageError(
      `--task "${task}" is not the name of a task`,
      'write --task TASK, in a plan --task SUB_PIPELINE/TASK, and for an item --item N or TASK[N]',
    );
  }
  if (item !== undefined && !/^\d+$/.test(item)) {
    throw new UsageError(`--item must be a whole number, not "${item}"`, 'items count from 0: --item 3');
  }
  const index = item ?? itemOfTask;
  if (itemOfTask !== undefined && item !== undefined && item !== itemOfTask) {
    throw new UsageError(`--task names item ${itemOfTask}, but --item names item ${item}`);
  }
  return { subPipeline, taskId, item: index === undefined ? undefined : Number(index) };
}

async function readCallRecord(
  { client, runId, placeFlag }: FoundRun,
  { subPipeline, taskId, item }: Call,
  whole: boolean,
): Promise<TaskRecord | ItemRecord> {
  try {
    return await readCall(runId, client, { task_id: taskId, item, sub_pipeline: subPipeline }, { whole });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'task_not_found') {
      const name = subPipeline === undefined ? taskId : `${subPipeline}/${taskId}`;
      const meant = await nearestTask(client, runId, name);
      const showAll = `${PROGRAM} runs show ${runId}${placeFlag} shows the run`;
      throw new UsageError(
        errorMessage(error),
        meant === undefined ? showAll : `did you mean --task ${meant}?`,
      );
    }
    if (code === 'invalid_request' && subPipeline === undefined) {
      throw new UsageError(`run ${runId} belongs to a plan`, `write --task SUB_PIPELINE/${taskId}`);
    }
    throw error;
  }
}

function recordLines(record: TaskRecord | ItemRecord, terminal: Terminal): string[] {
  const { error, attempts } = record;
  const { style } = terminal;
  const stack = stackLines(error?.stack, true);
  const fields: Field[] = [
    ['run', record.run_id],
    ['task', nameCall(record)],
    ...('tool' in record ? ([['tool', toSingleLine(record.tool)]] as const) : []),
    ['status', describeCall(record)],
    ['started', record.started_at],
    ['finished', record.finished_at],
    ['error', error === null ? null : `${error.type}: ${toSingleLine(error.message)}`],
    ...(error?.causes ?? []).map(({ type, message, code }): Field => {
      return ['caused by', `${type}: ${toSingleLine(message)}${code === undefined ? '' : ` (${code})`}`];
    }),
    ['inputs', record.inputs_error === null ? null : `not known: ${toSingleLine(record.inputs_error)}`],
  ];
  return [
    ...fieldLines(fields, terminal),
    ...(attempts.length < 2 ? [] : [style.bold('Attempts:')]),
    ...(attempts.length < 2 ? [] : attempts.flatMap((attempt) => wrapLine(attemptLine(attempt), terminal))),
    ...(stack.length === 0 ? [] : [style.bold('Stack:'), ...stack.map((line) => `  ${line}`)]),
  ];
}

const MAX_FAILED_ITEMS = 20;
const FAILED: TaskStatus = 'failed';

/** The items of a fan-out that failed: `  extract[17]  connection refused`. */
async function failedItemLines(
  record: TaskRecord | ItemRecord,
  client: WavetrainClient,
  terminal: Terminal,
): Promise<string[]> {
  if (!('items' in record) || record.items === null || record.items.failed === 0) return [];
  const { run_id, task_id, sub_pipeline, items: counts } = record;
  const query = { sub_pipeline, status: FAILED, limit: MAX_FAILED_ITEMS };
  const { items } = await client.items(run_id, task_id, query);
  const hidden = counts.failed - items.length;
  return [
    terminal.style.bold('Failed items:'),
    ...items.flatMap((item) =>
      wrapLine(`  ${nameCall(item)}: ${toSingleLine(item.error?.message ?? '')}`, terminal),
    ),
    ...(hidden > 0 ? [`  … ${formatNumber(hidden)} more`] : []),
  ];
}

/** `  2  failed in 0.3 s: connection refused` */
function attemptLine(record: AttemptRecord): string {
  const { attempt, finished_at: end, error } = record;
  const took = describeTook(record);
  if (error !== null) return `  ${attempt}  failed${took}: ${toSingleLine(error)}`;
  return `  ${attempt}  ${end === null ? 'under way' : `succeeded${took}`}`;
}

function valuesOf(record: TaskRecord | ItemRecord): Record<string, Json> {
  return {
    ...('value' in record && { item: record.value }),
    ...(record.inputs !== null && { inputs: record.inputs }),
    ...(hasOutput(record) && { output: record.output }),
  };
}

/** Of a fan-out that failed, there may be outputs of its items. */
function hasOutput({ status, output }: CallRecord): boolean {
  return status === 'succeeded' || output !== null;
}
