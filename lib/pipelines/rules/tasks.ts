import { type Duration, durationToMs } from '../../common/duration.js';
import { isObject } from '../../common/json/json.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import type { Path } from '../../definition/problems/problem.js';
import { RESERVED_TASK_IDS } from '../../definition/schema/fields.js';
import { type Hint, hintRename } from '../../definition/problems/hint.js';
import type { Suggestions } from '../../definition/did-you-mean.js';
import type { Catalog } from '../../tools/catalog.js';
import { findLiteralInputProblems } from '../../tools/inputs/literal-inputs.js';
import type { DraftTask, PipelineDraft } from '../draft.js';

/** Checks that task ids are unique and not reserved (D1), that the tools exist and take the inputs, and the policies. */
export function* checkTasks(draft: PipelineDraft, catalog: Catalog, suggestions: Suggestions): Findings {
  const seen = new Map<string, Path>();
  for (const task of draft.tasks) {
    yield;
    yield* checkId(task, seen, draft.taskIds);
    yield* checkTool(task, catalog, suggestions);
    yield* checkDurations(task);
    yield* checkPolicies(task);
    seen.set(task.id, task.path);
  }
}

type PathById = ReadonlyMap<string, Path>;

function checkId(task: DraftTask, seen: PathById, taskIds: ReadonlySet<string>): Diagnostic[] {
  const { id } = task;
  const path = [...task.path, 'id'];
  if (RESERVED_TASK_IDS.includes(id)) {
    const message = `"${id}" is a template namespace and cannot be a task id`;
    const text = `rename the task, for example to "${id}_task"`;
    return [{ code: 'reserved_id', message, path, hint: hintFreeId(text, id, `${id}_task`, taskIds) }];
  }
  const first = seen.get(id);
  if (first === undefined) return [];
  const message = `duplicate task id "${id}"; the first is task ${Number(first[1]) + 1}`;
  const other = `${id}_${Number(path[1]) + 1}`;
  const hint = hintFreeId('rename one of them, and what refers to it', id, other, taskIds);
  return [{ code: 'duplicate_task', message, path, hint }];
}

/** Suggests another id, unless there is such a task. */
function hintFreeId(text: string, id: string, other: string, taskIds: ReadonlySet<string>): Hint {
  return taskIds.has(other) ? text : { ...hintRename(id, other), text };
}

/** A similar name, or one that the name begins or ends: "llm_job" for "llm". */
function suggestTool(name: string, catalog: Catalog, suggestions: Suggestions, otherwise: string): Hint {
  const names = catalog.names();
  const isLonger = (known: string): boolean => known.startsWith(`${name}_`) || known.endsWith(`_${name}`);
  const meant = suggestions.nearest(name, names) ?? names.find(isLonger);
  return meant === undefined ? otherwise : hintRename(name, meant);
}

/** Names that the tool that writes files has elsewhere. */
const WRITERS: ReadonlySet<string> = new Set(['write_file', 'save_file', 'write', 'csv_export', 'file']);

function hintForMissing(name: string): string {
  return name.startsWith('mcp.')
    ? '`wavetrain tools` lists those that there are; --mcp FILE adds the tools of MCP servers'
    : '`wavetrain tools` lists them; --tools adds your own';
}

function* checkTool(task: DraftTask, catalog: Catalog, suggestions: Suggestions): Generator<Diagnostic> {
  if (task.tool === undefined) return;
  const tool = catalog.get(task.tool);
  if (tool === undefined) {
    const writesFiles = WRITERS.has(task.tool) && catalog.get('export') !== undefined;
    const otherwise = writesFiles ? 'the tool "export" writes files' : hintForMissing(task.tool);
    const hint = writesFiles ? otherwise : suggestTool(task.tool, catalog, suggestions, otherwise);
    const path = [...task.path, 'tool'];
    yield { code: 'unknown_tool', message: `there is no tool "${task.tool}"`, path, hint };
    return;
  }
  for (const { code, message, path, hint, at } of findLiteralInputProblems(tool, task.literalInputs)) {
    const diagnostic = { code, message, path: [...task.path, 'inputs', ...path], hint };
    if (code === 'unknown_input') yield { ...diagnostic, at: 'key' };
    else yield at === undefined ? diagnostic : { ...diagnostic, at: { character: at } };
  }
}

/** Refuses texts of no time at all, as the schema refuses 0 (D82). */
function* checkDurations({ fields: { timeout, cache }, path }: DraftTask): Generator<Diagnostic> {
  const refuse = (name: string, ...fields: string[]): Diagnostic => {
    return { code: 'invalid_value', message: `"${name}" must be > 0`, path: [...path, ...fields] };
  };
  if (isNothing(timeout)) yield refuse('timeout', 'timeout');
  if (isObject(cache) && isNothing(cache['ttl'])) yield refuse('ttl', 'cache', 'ttl');
}

function isNothing(value: unknown): boolean {
  return typeof value === 'string' && durationToMs(value) === 0;
}

/** Fields that do nothing without another one (D66, D67), and how to write that one. */
const POLICIES = [
  ['retry_delay', 'retry', 'add retry: N, the number of further attempts'],
  ['max_retry_delay', 'retry', 'add retry: N, the number of further attempts'],
  ['fan_out_concurrency', 'parallel_over', 'add parallel_over with the list of items, or remove it'],
  ['on_item_error', 'parallel_over', 'add parallel_over with the list of items, or remove it'],
] as const;

/** The most retries of a task that asks a language model in each attempt. */
const MOST_RETRIES = MODEL_LIMITS.attemptsOfInvocation - 1;

/** Warns of policies for retries and items that have no effect (D9). */
function* checkPolicies({ fields, path, usesModel, literalInputs }: DraftTask): Generator<Diagnostic> {
  for (const [field, needed, hint] of POLICIES) {
    if (!Object.hasOwn(fields, field) || Object.hasOwn(fields, needed)) continue;
    yield withoutEffect(`"${field}" has no effect without "${needed}"`, [...path, field], hint);
  }
  const { retry, retry_delay: delay, max_retry_delay: longest } = fields;
  if (typeof retry === 'number' && retry > MOST_RETRIES && usesModel?.(literalInputs) !== undefined) {
    const message = `"retry" has no effect beyond ${MOST_RETRIES} for a task that asks a language model`;
    yield withoutEffect(message, [...path, 'retry'], `write retry: ${MOST_RETRIES}, or less`);
  }
  if (!isDuration(delay) || !isDuration(longest)) return;
  if ((durationToMs(delay) ?? 0) <= (durationToMs(longest) ?? Number.POSITIVE_INFINITY)) return;
  const wait = typeof longest === 'number' ? `${longest} s` : longest;
  const message = `"retry_delay" is longer than "max_retry_delay": every retry waits ${wait}`;
  yield withoutEffect(message, [...path, 'retry_delay'], `write max_retry_delay: ${delay}, or more`);
}

function isDuration(value: unknown): value is Duration {
  return typeof value === 'number' || typeof value === 'string';
}

function withoutEffect(message: string, path: Path, hint: string): Diagnostic {
  return { code: 'no_effect', severity: 'warning', message, path, at: 'key', hint };
}
