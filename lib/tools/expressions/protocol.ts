/** The parent's message to a worker process. Values travel as JSON text: fastest, and safe to read. */
export interface EvaluationRequest {
  readonly source: string;
  /** JSON of an object with `input` and `bindings`. */
  readonly data: string;
}

/** The result as JSON text, or the error message. */
export type EvaluationResponse =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly error: string };

/** The message of a worker process to its parent. */
export interface WorkerMessage {
  readonly response: EvaluationResponse;
  /** The process retains so much memory that the pool should replace it. */
  readonly isOversized: boolean;
}

/** Creates the response of a worker process that cannot respond. */
export function failedEvaluation(reason: string): EvaluationResponse {
  return { ok: false, error: `the expression failed: ${reason}` };
}
