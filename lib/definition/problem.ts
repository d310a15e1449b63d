/** What is wrong with a definition, as data (D8). */
export interface Problem {
  /** A stable word for programs, such as `unknown_tool`. */
  readonly code: ProblemCode;
  /** A sentence for people; it never repeats the position. */
  readonly message: string;
  /** JSON pointer into the definition as it was given; empty for the whole of it. */
  readonly path: string;
  readonly severity: 'error' | 'warning';
  /** Position in the text, both counted from 1; absent when the definition was given as an object. */
  readonly line?: number;
  readonly column?: number;
  /** The file it stands in, with its path and position, when that is not the definition given (D46). */
  readonly file?: string;
  /** What to do about it. */
  readonly hint?: string;
}

export type ProblemCode =
  | 'syntax'
  | 'empty'
  | 'too_large'
  | 'too_deep'
  | 'too_many'
  | 'several_documents'
  | 'duplicate_key'
  | 'unquoted_template'
  | 'wrong_type'
  | 'missing_field'
  | 'unknown_field'
  | 'invalid_value'
  | 'duplicate_task'
  | 'reserved_id'
  | 'template_syntax'
  | 'unknown_reference'
  | 'self_reference'
  | 'item_outside_fan_out'
  | 'item_unused'
  | 'unknown_tool'
  | 'unknown_input'
  | 'missing_input'
  | 'invalid_input'
  | 'invalid_param'
  | 'cycle'
  | 'nested_too_deep'
  // of plans (Plan, rule 3; D44, D46)
  | 'duplicate_sub_pipeline'
  | 'unsatisfied_read'
  | 'two_writers'
  | 'missing_pipeline'
  | 'nested_plan'
  | 'missing_param'
  | 'undeclared_store'
  | 'undeclared_read'
  | 'never_stored'
  | 'hidden_read'
  | 'repeated_key'
  // warnings (D9, D11)
  | 'output_omitted'
  | 'session_never_stored'
  | 'session_race'
  | 'store_conflict';

/** A place in a text: line and column, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where in a definition something stands: the keys and indexes from its root. */
export type Path = readonly (string | number)[];

/** The JSON pointer (RFC 6901) of a path. */
export function pointerOf(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A problem in one line: where, what, and what to do. */
export function sentence({ message, file, line, column, path, hint }: Problem): string {
  const position = line === undefined ? path : `line ${line}, column ${column ?? 1}`;
  const place = [file ?? '', position].filter((part) => part !== '').join(', ');
  return `${place === '' ? '' : `${place}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
}
