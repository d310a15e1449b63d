import { isObject, type Json } from '../../common/json/json.js';
import type { Path } from './problem.js';

/** The place of an added field in its map: as the first or the last one, or before another one. */
export type FieldPlace = 'first' | 'last' | { readonly before: string };

/** How to change a definition so that a problem disappears, before its place in the text is known (D8). */
export type Change =
  /** Replaces a name at the place of the diagnostic. */
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** Replaces the value at the place of the diagnostic. */
  | { readonly kind: 'replace'; readonly value: Json }
  /** Replaces the name of the field at the place of the diagnostic, and its value. */
  | { readonly kind: 'rewrite'; readonly from: string; readonly to: string; readonly value: Json }
  /** Adds a field to a map, which is added too when it is missing; or writes the value behind a field that has none. */
  | {
      readonly kind: 'set';
      readonly path: Path;
      readonly value: Json;
      /** Default: behind the first field of the map, which names what it is. */
      readonly place?: FieldPlace;
    }
  /** Removes the field at the place of the diagnostic. */
  | { readonly kind: 'remove' }
  /** Adds an entry to a list, which is added too when it is missing. */
  | { readonly kind: 'append'; readonly path: Path; readonly value: Json }
  /** Writes names in place of templates in a statement or a script, and the templates into a map of params or variables. */
  | {
      readonly kind: 'bind';
      readonly path: Path;
      readonly parts: readonly BoundPart[];
      readonly paramsPath: Path;
      readonly params: Readonly<Record<string, string>>;
    };

/** A template in a statement of SQL, or in a script, that becomes a param or a variable. */
export interface BoundPart {
  /** Where the template opens in the text. */
  readonly at: number;
  readonly written: string;
  /** Takes its place. */
  readonly text: string;
  /** It stands in quotes, which go with it. */
  readonly isQuoted: boolean;
}

export interface ChangeHint {
  readonly text: string;
  readonly change: Change;
}

/** How to solve a problem: in words alone, or also with the exact change. */
export type Hint = string | ChangeHint;

export function didYouMean(name: string): string {
  return `did you mean "${name}"?`;
}

export function hintRename(from: string, to: string): ChangeHint {
  return { text: didYouMean(to), change: { kind: 'rename', from, to } };
}

export function hintReplace(text: string, value: Json): ChangeHint {
  return { text, change: { kind: 'replace', value } };
}

/** Writes another field with another value. */
export function hintRewrite(from: string, to: string, value: Json): ChangeHint {
  return { text: `write ${to}: ${writeFlow(value, false)}`, change: { kind: 'rewrite', from, to, value } };
}

export function textOfHint(hint: Hint): string {
  return typeof hint === 'string' ? hint : hint.text;
}

/** Writes a value on one line. */
export function writeFlow(value: Json, isQuoted: boolean): string {
  if (Array.isArray(value)) return `[${value.map((entry) => writeFlow(entry, isQuoted)).join(', ')}]`;
  if (isObject(value)) {
    const fields = Object.entries(value).map(
      ([key, field]) => `${writeFlow(key, isQuoted)}: ${writeFlow(field, isQuoted)}`,
    );
    return `{${fields.join(', ')}}`;
  }
  const isPlain =
    !isQuoted && typeof value === 'string' && /^[A-Za-z_][\w-]*$/.test(value) && !isOtherValue(value);
  return isPlain ? value : JSON.stringify(value);
}

/** Returns true for a text that YAML reads as another value. */
export function isOtherValue(text: string): boolean {
  return /^(?:true|false|null)$/i.test(text);
}
