import type { Json } from '../../../common/json/json.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import { BoundedText, isLongText, piecesOf } from './bounded-text.js';

/** A list or an object of which some members are written. */
interface OpenValue {
  readonly container: Json[] | { readonly [key: string]: Json };
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  /** The line break and the indentation before each member. */
  readonly start: string;
  /** The text after the last member. */
  readonly end: string;
  written: number;
}

/** How the text is laid out: `JSON.stringify` has an indent of 2, or none. */
export type Layout = 'indented' | 'compact';

/**
 * Writes JSON as `JSON.stringify` does. Indentation may multiply the length: of lists that are 490 deep it makes 484 times
 * as much. Data that contains the same list many times is small in memory, and its text may have gigabytes.
 *
 * @throws ToolError, not retryable, as soon as the text is longer than it may be
 */
export function* toJsonTextInSteps(
  data: Json,
  layout: Layout = 'indented',
  text: BoundedText = new BoundedText(),
): Steps<string> {
  const open: OpenValue[] = [];
  const colon = layout === 'indented' ? ': ' : ':';
  if (isLongText(data)) yield* addQuoted(text, data);
  else text.add(begin(data, open, layout));
  for (let value = open.at(-1); value !== undefined; value = open.at(-1)) {
    const { keys, length, start, end } = value;
    const index = value.written++;
    if (index === length) {
      open.pop();
      text.add(end);
    } else {
      const key = keys?.[index];
      const member = memberOf(value, index);
      const head = `${index === 0 ? '' : ','}${start}`;
      if (isLongText(key) || isLongText(member)) {
        text.add(head);
        if (key !== undefined) {
          yield* addQuoted(text, key);
          text.add(colon);
        }
        if (typeof member === 'string') yield* addQuoted(text, member);
        else text.add(begin(member, open, layout));
      } else {
        const label = key === undefined ? '' : `${JSON.stringify(key)}${colon}`;
        text.add(`${head}${label}${begin(member, open, layout)}`);
      }
    }
    if (text.flush()) yield;
  }
  return text.toString();
}

function memberOf({ container, keys }: OpenValue, index: number): Json {
  if (Array.isArray(container)) return container[index] ?? null;
  return container[keys?.[index] ?? ''] ?? null;
}

function* addQuoted(text: BoundedText, value: string): Steps<void> {
  text.add('"');
  for (const piece of piecesOf(value)) {
    text.add(JSON.stringify(piece).slice(1, -1));
    if (text.flush()) yield;
  }
  text.add('"');
}

/** Returns the text with which a value begins: all of it, unless it has members; it is open then. */
function begin(value: Json, open: OpenValue[], layout: Layout): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const length = Array.isArray(value) ? value.length : (keys?.length ?? 0);
  const [opening, closing] = keys === undefined ? '[]' : '{}';
  if (length === 0) return `${opening}${closing}`;
  const outer = layout === 'indented' ? `\n${'  '.repeat(open.length)}` : '';
  const start = layout === 'indented' ? `${outer}  ` : '';
  open.push({ container: value, keys, length, start, end: `${outer}${closing}`, written: 0 });
  return `${opening}`;
}
