import { WavetrainError } from '../errors.js';
import { isObject } from '../json/json.js';

/** What people call a run, to find it among others (D76): texts by name. */
export type Labels = Readonly<Record<string, string>>;

export const NO_LABELS: Labels = Object.freeze({});

/** Of one run. */
export const MAX_LABELS = 20;

const NAME_LENGTH = 64;
const VALUE_LENGTH = 128;

/** No name has a colon: it ends the name in a filter. */
const NAME = String.raw`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,${NAME_LENGTH - 1}}$`;

const VALUE = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;

/** The longest text that stands for a label in a filter, in characters. */
export const LABEL_LENGTH = NAME_LENGTH + 1 + VALUE_LENGTH;

/** The JSON Schema of labels. */
export const LABELS_SHAPE = {
  type: 'object',
  patternProperties: { [NAME]: { type: 'string', maxLength: VALUE_LENGTH, pattern: VALUE } },
  additionalProperties: false,
  maxProperties: MAX_LABELS,
} as const;

/** In the words of people. */
export const LABEL_NAME_RULE = `the name of a label has up to ${NAME_LENGTH} letters, digits, _, - and ., and starts with a letter, a digit or _`;

const NAME_PATTERN = new RegExp(NAME);
const VALUE_PATTERN = new RegExp(VALUE, 'u');

/**
 * Returns the labels of a run: those of its definition, and those of its submission, which win.
 *
 * @throws WavetrainError `invalid_options`
 */
export function mergeLabels(defined: Labels | undefined, submitted: Labels | undefined): Labels {
  if (submitted === undefined) return defined === undefined ? NO_LABELS : Object.freeze({ ...defined });
  if (!isObject(submitted)) throw invalid('must be an object');
  for (const [name, value] of Object.entries(submitted)) assertLabel(name, value);
  const labels = { ...defined, ...submitted };
  const count = Object.keys(labels).length;
  if (count <= MAX_LABELS) return Object.freeze(labels);
  throw invalid(`may be at most ${MAX_LABELS} with those of the definition; there are ${count}`);
}

function assertLabel(name: string, value: unknown): void {
  if (!NAME_PATTERN.test(name))
    throw invalid(`"${name.slice(0, NAME_LENGTH)}" cannot be a name: ${LABEL_NAME_RULE}`);
  if (typeof value !== 'string') throw invalid(`"${name}" must be a text`);
  if (value.length > VALUE_LENGTH && [...value].length > VALUE_LENGTH)
    throw invalid(`"${name}" may have at most ${VALUE_LENGTH} characters`);
  if (!VALUE_PATTERN.test(value))
    throw invalid(`"${name}" must have no line breaks and other control characters`);
}

function invalid(problem: string): WavetrainError {
  return new WavetrainError('invalid_options', `labels: ${problem}`);
}

/** Returns the labels as filters and searches have them, as in `team:billing`. */
export function listLabels(labels: Labels): readonly string[] {
  return Object.entries(labels).map(([name, value]) => `${name}:${value}`);
}

/** Reads a label as a filter has it: the text before the first colon is its name. Returns undefined for what is none. */
export function readLabel(text: string): readonly [name: string, value: string] | undefined {
  const end = text.indexOf(':');
  return end < 1 ? undefined : [text.slice(0, end), text.slice(end + 1)];
}

/** True when a run has all the labels of a filter, such as `team:billing`. */
export function matchesLabels(filter: readonly string[], labels: Labels): boolean {
  return filter.every((text) => {
    const [name = '', value] = readLabel(text) ?? [];
    return Object.hasOwn(labels, name) && labels[name] === value;
  });
}

/** Memory of labels, in bytes. */
export function measureLabels(labels: Labels): number {
  return listLabels(labels).reduce((sum, text) => sum + 2 * text.length, 0);
}
