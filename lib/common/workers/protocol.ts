/** The head of a message of a worker process. Its body is the response; that of a request has no head. */
export type WorkerHead =
  /** The process has loaded its program: the first message. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'response';
      /** The program threw instead of responding. */
      readonly error?: string | undefined;
      /** The process retains so much memory that the pool should replace it. */
      readonly isOversized: boolean;
    };

/** The response of a program whose result is JSON, in pieces (`cutIntoPieces`); or its error message. */
export type JsonResponse =
  | { readonly ok: true; readonly json: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** Why a worker process did not respond. */
export type WorkerFailure =
  | 'aborted'
  | 'closed'
  | 'crashed'
  | 'out_of_memory'
  | 'threw'
  | 'timed_out'
  | 'unreachable';

/** The error of a request that got no response. Its message has no subject: `it ran for more than 2 s`. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly failure: WorkerFailure;

  constructor(failure: WorkerFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
