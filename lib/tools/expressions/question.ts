/** What a process is asked. Values travel as text: the quickest way, and whatever they hold, reading it is safe. */
export interface Question {
  readonly source: string;
  /** JSON of an object with `input` and `bindings`. */
  readonly given: string;
}

/** The result as JSON, or why there is none. */
export type Answer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: string };

/** What a process says. */
export interface Reply {
  readonly answer: Answer;
  /** It holds on to so much memory that another one had better take its place. */
  readonly isSwollen: boolean;
}

/** An answer in place of the process, which has none. */
export function failure(reason: string): Answer {
  return { ok: false, error: `the expression failed: ${reason}` };
}
