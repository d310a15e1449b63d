import { WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json/json.js';
import { LABEL_LIMITS } from '../../common/limits.js';
import type { Labels } from '../../common/wire/labels.js';
import { LABEL_NAME, LABEL_VALUE } from '../../definition/run-fields/labels.js';

const NO_LABELS: Labels = Object.freeze({});

const { most, nameLength, valueLength } = LABEL_LIMITS;
const NAME = new RegExp(LABEL_NAME);
const VALUE = new RegExp(LABEL_VALUE);

/**
 * Returns the labels of a run: those of its definition, and those of its submission, which win (D76).
 *
 * @throws WavetrainError `invalid_options`
 */
export function mergeLabels(defined: Labels | undefined, submitted: Labels | undefined): Labels {
  if (defined === undefined && submitted === undefined) return NO_LABELS;
  if (submitted !== undefined) assertLabels(submitted);
  const labels = { ...defined, ...submitted };
  const count = Object.keys(labels).length;
  if (count <= most) return Object.freeze(labels);
  throw invalid(`may be at most ${most} with those of the definition; there are ${count}`);
}

function assertLabels(labels: Labels): void {
  if (!isObject(labels)) throw invalid('must be an object');
  for (const [name, value] of Object.entries(labels)) {
    if (!NAME.test(name)) throw invalid(`"${name.slice(0, nameLength)}" cannot be a name: ${NAME_RULE}`);
    if (typeof value !== 'string') throw invalid(`"${name}" must be a text`);
    if (value.length > valueLength && Array.from(value).length > valueLength)
      throw invalid(`"${name}" may have at most ${valueLength} characters`);
    if (!VALUE.test(value)) throw invalid(`"${name}" must have no line breaks and other control characters`);
  }
}

const NAME_RULE = `it has up to ${nameLength} letters, digits, _, - and ., and starts with a letter, a digit or _`;

function invalid(problem: string): WavetrainError {
  return new WavetrainError('invalid_options', `labels: ${problem}`);
}

/** Memory of labels, in bytes. */
export function measureLabels(labels: Labels): number {
  let length = 0;
  for (const name of Object.keys(labels)) length += name.length + (labels[name]?.length ?? 0);
  return 2 * length;
}
