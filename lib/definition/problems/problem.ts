/** An error or a warning about a definition, as data (D8). */
export interface Problem {
  /** A stable code for programs, such as `unknown_tool`. */
  readonly code: ProblemCode;
  /** A sentence for people, without the position. */
  readonly message: string;
  /** JSON pointer into the submitted definition; empty for the definition itself. */
  readonly path: string;
  readonly severity: 'error' | 'warning';
  /** Position in the text, counted from 1; absent when the definition was submitted as an object. */
  readonly line?: number;
  readonly column?: number;
  /** The file that the path and position refer to, when it is not the submitted definition (D46). */
  readonly file?: string;
  /** How to fix the problem. */
  readonly hint?: string;
  /** How to change the text so that the problem disappears; only where the hint leaves no choice. */
  readonly fix?: Fix;
}

/** A change of a text. Its positions are those of the text before the change; its edits do not overlap. */
export interface Fix {
  /** The effect of the fix, in a few words: `write "params"`. */
  readonly title: string;
  readonly edits: TextEdit[];
}

/** Replaces the text between two positions; `to` is exclusive. */
export interface TextEdit {
  readonly from: Position;
  readonly to: Position;
  readonly text: string;
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
  | 'misplaced_secret'
  | 'item_outside_fan_out'
  | 'item_unused'
  | 'unknown_tool'
  | 'unknown_input'
  | 'missing_input'
  | 'invalid_input'
  | 'invalid_param'
  | 'invalid_schedule'
  | 'invalid_webhook'
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
  | 'templated_store'
  | 'hidden_read'
  | 'repeated_key'
  // of files in the folder of a server (D69)
  | 'unreadable_file'
  | 'duplicate_id'
  // warnings (D9, D11)
  | 'no_effect'
  | 'output_omitted'
  | 'stray_dollar'
  | 'stray_braces'
  | 'template_in_key'
  | 'missing_secret'
  | 'session_never_stored'
  | 'session_race'
  | 'store_conflict';

/** Most problems that are reported: the response to a text full of mistakes must not be many times its size. */
export const MAX_PROBLEMS = 1000;

/** A position in a text, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The keys and indexes that lead from the root of a definition to a value. */
export type Path = readonly (string | number)[];

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
