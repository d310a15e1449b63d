import type { Json } from '../../../common/json/json.js';
import { ellipsize } from '../../../common/text.js';

/** One segment of a path: a field name, or an index into a list (negative: from its end) (D11). */
export type Segment =
  | {
      readonly kind: 'field';
      readonly name: string;
      /** A name that is a number after a dot, such as `.2024`, is a key of an object and an index into a list. */
      readonly index: number | undefined;
    }
  // The same fields, because V8 reads values of one shape faster.
  | { readonly kind: 'index'; readonly name: undefined; readonly index: number };

/**
 * The text between `{{` and `}}`: a name, a path into its value, and a literal fallback. Equal expressions of a definition
 * are one object, so that a definition of many equal templates is small.
 */
export interface Expression {
  /** The text between the braces, trimmed. */
  readonly source: string;
  /** The first name: a task id or a namespace. */
  readonly root: string;
  readonly path: readonly Segment[];
  /** The literal after `??`, frozen. */
  readonly fallback: { readonly value: Json } | undefined;
}

/** One place of a text where an expression stands. */
export interface PlacedExpression {
  readonly expression: Expression;
  /** Position of the `{{` in the text. */
  readonly offset: number;
  /** Position after the `}}`. */
  readonly end: number;
}

/** Literal text, or an expression. */
export type TemplatePart = string | PlacedExpression;

export interface TemplateProblem {
  readonly message: string;
  readonly hint?: string;
  /** Position in the text, from 0. */
  readonly offset: number;
  /** Position of the `{{` of the template with the problem. */
  readonly start: number;
}

/** Names that templates can read after a dot, without brackets. */
export const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*$/u;
const MAX_PATH_LENGTH = 200;
const MAX_KEY_LENGTH = 40;

/** Formats a path in the template language: `a.output[0]["any key"]`. */
export function formatPath(root: string, path: readonly Segment[]): string {
  return ellipsize(root + path.map(formatSegment).join(''), MAX_PATH_LENGTH);
}

export function formatSegment(segment: Segment): string {
  if (segment.kind === 'index') return `[${segment.index}]`;
  if (segment.index !== undefined) return `.${segment.name}`;
  return PLAIN_NAME.test(segment.name) ? `.${segment.name}` : `[${JSON.stringify(segment.name)}]`;
}

/** Formats a key of some data for a message: short, and on one line whatever it contains. */
export function formatKey(key: string): string {
  const short = ellipsize(key, MAX_KEY_LENGTH);
  return PLAIN_NAME.test(key) ? short : JSON.stringify(short);
}
