import { ToolError } from '../../../common/errors.js';
import type { JsonObject } from '../../../common/json/json.js';
import { isFound, toSlug } from './values.js';

/** Longer names of segments are cut: they become part of every key. */
const MAX_NAME_LENGTH = 100;

/** Each key of a field is searched for all labels. */
const MAX_LABELS = 1000;
const MAX_LITERAL_LABELS = 100;

/** A key would grow to many times its length. */
const MAX_REPLACED = 8;

const PLACEHOLDER = /\[\d{1,9}\]/;

/** A sign that the names of fields seldom have: a label of plain words could be the name of any field. */
const SIGN = /[^\p{L}\p{M}\p{N}\s_]/u;

const LETTER = /[\p{L}\p{M}\p{N}]/u;

/** The number in the first placeholder of a key; `1` for a key without one. */
export function numberOf(key: string): string {
  return PLACEHOLDER.exec(key)?.[0].slice(1, -1) ?? '1';
}

/**
 * The names of segments, by the labels in whose place they stand in the keys of fields: `[2]`, also when its key says more, as
 * `segment [2]` does; or any other text with a sign, such as `R&D`.
 */
export class SegmentLabels {
  readonly #slugs = new Map<string, string>();
  readonly #literals: (readonly [label: string, slug: string])[] = [];

  /** @throws ToolError, not retryable, when there are too many */
  constructor(names: JsonObject) {
    const entries = Object.entries(names);
    if (entries.length > MAX_LABELS) throw tooMany(entries.length, MAX_LABELS);
    for (const [key, name] of entries) {
      const slug = typeof name === 'string' && isFound(name) ? toSlug(name.slice(0, MAX_NAME_LENGTH)) : '';
      if (slug !== '') this.#add(key.trim(), `_${slug}`);
    }
    if (this.#literals.length > MAX_LITERAL_LABELS) throw tooMany(this.#literals.length, MAX_LITERAL_LABELS);
  }

  #add(key: string, slug: string): void {
    const [placeholder] = PLACEHOLDER.exec(key) ?? [];
    if (placeholder === undefined) {
      if (SIGN.test(key)) this.#literals.push([key, slug]);
    } else if (key === placeholder || !this.#slugs.has(placeholder)) this.#slugs.set(placeholder, slug);
  }

  /** Puts names in place of labels. A label stays that has no name, or one without a letter. */
  rename(key: string): string {
    let replaced = 0;
    const named = key.replaceAll(new RegExp(PLACEHOLDER, 'g'), (placeholder) => {
      const slug = this.#slugs.get(placeholder);
      if (slug === undefined || replaced === MAX_REPLACED) return placeholder;
      replaced++;
      return slug;
    });
    if (replaced > 0) return named;
    for (const [label, slug] of this.#literals) {
      const start = findWhole(key, label);
      if (start >= 0) return key.slice(0, start) + slug + key.slice(start + label.length);
    }
    return key;
  }
}

/** Finds a label that no letter adjoins; -1 when there is none. */
function findWhole(key: string, label: string): number {
  const start = key.indexOf(label);
  if (start < 0) return start;
  const adjoining = `${key.charAt(start - 1)}${key.charAt(start + label.length)}`;
  return LETTER.test(adjoining) ? -1 : start;
}

function tooMany(count: number, most: number): ToolError {
  return ToolError.nonRetryable(`"segment_names" has ${count} names: at most ${most} are read`);
}
