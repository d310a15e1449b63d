import type { Json } from '../../common/json.js';

/** One piece of a path: a name, or a position in a list (negative: from its end) (D11). */
export type Segment =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number };

/** What stands between `{{` and `}}`: a name, a path into its value, and a literal for when nothing is there. */
export interface Expression {
  /** The text between the braces, trimmed. */
  readonly source: string;
  /** The first name: a task id or a namespace. */
  readonly root: string;
  readonly path: readonly Segment[];
  /** The literal after `??`, frozen. */
  readonly fallback: { readonly value: Json } | undefined;
  /** Position of the `{{` in the text. */
  readonly offset: number;
}

/** Literal text, or what is to be put in its place. */
export type TemplatePart = string | Expression;

export interface TemplateProblem {
  /** A sentence for people. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Where in the text, counted from 0. */
  readonly offset: number;
}
