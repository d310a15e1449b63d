import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { parseDuration } from '../../common/duration.js';
import { type Hint, hintRename, hintRewrite, writeFlow } from '../problems/hint.js';
import type { ForeignWord } from './foreign-word.js';

/*
 * Fields of other products whose value says which field they are here: where nothing is left to choose, the fix writes
 * both (D8). Anything else gets the advice for the word.
 */

/** Words for a condition that holds as the one of ours does; the others turn it around. */
const SAME_CONDITION: ReadonlySet<string> = new Set(
  'if condition conditions precondition preconditions onlyif runif'.split(' '),
);

/** A template alone, as conditions have it here. */
const SINGLE_TEMPLATE = /^\{\{[^{}$=<>!&|()]+\}\}$/;

/** Returns the hint for a condition of a task: a template, a comparison, or a test of how the run has ended. */
export function hintForCondition({ field, word, value, known }: ForeignWord): Hint | undefined {
  if (!SAME_CONDITION.has(word)) return undefined;
  const values = [value].flat();
  if (values.length > 0 && values.every(isSingleTemplate)) return hintRename(field, 'when');
  const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const when = isObject(single) ? readExpectation(single) : readComparison(value);
  if (when !== undefined) return hintRewrite(field, 'when', when);
  return hintForOutcome(value, known.includes('tool') ? 'tasks' : 'sub_pipelines');
}

/** Returns the hint for a test of how the run has ended, as in `if: failure()`. @param parts what handlers stand beside */
function hintForOutcome(value: unknown, parts = 'tasks'): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_COMPARISON) return undefined;
  const [, outcome = ''] = OUTCOME.exec(value.trim()) ?? [];
  const list = HANDLERS_BY_OUTCOME[outcome];
  return list && `tasks that run ${list} "${parts}"`;
}

function isSingleTemplate(value: unknown): boolean {
  return typeof value === 'string' && SINGLE_TEMPLATE.test(value.trim());
}

/** A condition of GitHub Actions about the jobs before: `always()`. */
const OUTCOME = /^(?:\$?\{\{\s*)?(always|failure|success|cancelled)\(\s*\)\s*(?:\}\})?$/;

const HANDLERS_BY_OUTCOME: Readonly<Record<string, string>> = {
  always: 'however the run has ended are under "finally", beside',
  success: 'when the run has succeeded are under "on_success", beside',
  failure: 'when the run has failed are under "on_failure", beside',
  cancelled: 'when the run was cancelled are under "on_cancel", beside',
};

/** Paths that are read in the same way here. */
const PATH = String.raw`((?:[A-Za-z_][\w-]*\.(?:output|status|error)|params\.\w|session\.\w|pipeline\.inputs\.\w|item\b)[\w.[\]-]*)`;
const OPERATOR = String.raw`\s*(==|!=|<=|>=|<|>)\s*`;
const LITERAL = String.raw`('[^'"{}]*'|"[^"'{}]*"|[\w.+-]+)`;

/** A comparison within the braces, or of a template. */
const COMPARISONS = [
  new RegExp(String.raw`^\$?\{\{\s*${PATH}${OPERATOR}${LITERAL}\s*\}\}$`),
  new RegExp(String.raw`^["']?\{\{\s*${PATH}\s*\}\}["']?${OPERATOR}${LITERAL}$`),
];

/** More is hardly a comparison with one value. */
const MAX_COMPARISON = 400;

/** Reads `{{a.output.state}} == 'done'` as a condition: an expression of ours has no operators. */
function readComparison(value: unknown): JsonObject | undefined {
  if (typeof value !== 'string' || value.length > MAX_COMPARISON) return undefined;
  const text = value.trim();
  const match = COMPARISONS.map((comparison) => comparison.exec(text)).find((found) => found !== null);
  const [, path = '', operator = '', written = ''] = match ?? [];
  const keyword = match === undefined ? undefined : toKeyword(operator, readLiteral(written));
  return keyword && { value: `{{${path}}}`, ...keyword };
}

/**
 * Returns the hint for a text that other products take for a condition: a comparison, or a test of how the run has ended.
 * Undefined for any other.
 *
 * @param parts what handlers stand beside
 */
export function hintForConditionText(text: string, parts?: string): string | undefined {
  const condition = readComparison(text);
  return condition === undefined ? hintForOutcome(text, parts) : `write ${writeFlow(condition, false)}`;
}

function readLiteral(text: string): Json {
  if (/^['"]/.test(text)) return text.slice(1, -1);
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function toKeyword(operator: string, literal: Json): JsonObject | undefined {
  if (operator === '==') return { const: literal };
  if (operator === '!=') return { not: { const: literal } };
  const keyword = BOUNDS[operator];
  return keyword !== undefined && typeof literal === 'number' ? { [keyword]: literal } : undefined;
}

const BOUNDS: Readonly<Record<string, string>> = {
  '>=': 'minimum',
  '<=': 'maximum',
  '>': 'exclusiveMinimum',
  '<': 'exclusiveMaximum',
};

/** Reads a precondition of Dagu: `{condition: "{{a.output.state}}", expected: done}`. */
function readExpectation({
  condition,
  expected,
  ...others
}: Record<string, unknown>): JsonObject | undefined {
  if (!isSingleTemplate(condition) || Object.keys(others).length > 0) return undefined;
  const isPlain =
    ['string', 'number', 'boolean'].includes(typeof expected) && !String(expected).startsWith('re:');
  return isPlain ? { value: String(condition).trim(), const: expected as Json } : undefined;
}

/** Returns the hint for a switch that lets the run go on when a task has failed: of a fan-out, its items may be meant. */
export function hintForTolerance({ field, value, owner }: ForeignWord): Hint | undefined {
  if (value !== true || owner['parallel_over'] !== undefined) return undefined;
  return hintRewrite(field, 'on_error', 'continue');
}

/** Words that have the unit of their number in them. */
const IN_SECONDS = /^(?:timeout|activedeadline).*sec/;
const IN_MINUTES = /minutes$/;

/** Returns the hint for a limit of time: the same number, or as text with its unit. */
export function hintForTimeout({ field, word, value }: ForeignWord): Hint | undefined {
  if (typeof value === 'number' && value > 0) {
    if (IN_SECONDS.test(word)) return hintRename(field, 'timeout');
    if (IN_MINUTES.test(word) && Number.isInteger(value)) return hintRewrite(field, 'timeout', `${value}m`);
  }
  const isDuration = typeof value === 'string' && parseDuration(value) !== undefined;
  return isDuration ? hintRename(field, 'timeout') : undefined;
}

/** Returns the hint for a limit of the runs at once, as Kestra and GitHub Actions write it. */
export function hintForConcurrency({ field, value }: ForeignWord): Hint | undefined {
  if (typeof value === 'number') return hintRename(field, 'max_running');
  if (!isObject(value)) return undefined;
  const { limit = 1, behavior, group, 'cancel-in-progress': cancels } = value;
  const busy =
    cancels === true ? 'cancel_running' : behavior === 'QUEUE' || group !== undefined ? 'queue' : 'skip';
  const key =
    group === undefined
      ? ''
      : ', and with concurrency_key: "{{params.NAME}}" if each value is to count by itself';
  return `write max_running: ${String(limit)} with on_busy: ${busy}${key}, in a file of the folder of a server`;
}

/** Returns the hint for a map of texts beside the tasks, which may be labels as it stands. */
export function hintForLabels({ field, value }: ForeignWord): Hint | undefined {
  const texts = isObject(value) ? Object.values(value) : [];
  return texts.length > 0 && texts.every((text) => typeof text === 'string')
    ? hintRename(field, 'labels')
    : undefined;
}
