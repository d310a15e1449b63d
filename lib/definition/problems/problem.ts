import type { ProblemSchema } from '../../common/wire/problem.js';
import type { Shape } from '../../common/wire/shape.js';

/** An error or a warning about a definition, as data (D8). */
export interface Problem extends Shape<typeof ProblemSchema> {}

export type ProblemCode = Problem['code'];

/** A change of a text. Its positions are those of the text before the change; its edits do not overlap. */
export type Fix = NonNullable<Problem['fix']>;

/** Replaces the text between two positions; `to` is exclusive. */
export type TextEdit = Fix['edits'][number];

/** Most problems that are reported: the response to a text full of mistakes must not be many times its size. */
export const MAX_PROBLEMS = 1000;

/** Line and column count from 1. */
export type Position = TextEdit['from'];

/** The keys and indexes that lead from the root of a definition to a value. */
export type Path = readonly (string | number)[];

/** A place in a text of a definition: the template that opens at an offset, or the character there. */
export type PlaceInText = number | { readonly character: number };

/** Formats a problem on one line: position, message and hint. */
export function formatProblem({ message, file, line, column, path, hint }: Problem): string {
  const position = line === undefined ? path : `line ${line}, column ${column ?? 1}`;
  const location = [file ?? '', position].filter((part) => part !== '').join(', ');
  return `${location === '' ? '' : `${location}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
}

/** Keeps both ends of a long list, for a message. */
export function abbreviate(parts: readonly string[]): string[] {
  return parts.length <= 12 ? [...parts] : [...parts.slice(0, 6), '…', ...parts.slice(-5)];
}
