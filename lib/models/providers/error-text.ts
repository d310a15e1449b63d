import { isObject, type Json } from '../../common/json.js';

/** The text of an error in the formats of the providers: `{error: {message}}`, `{error: "text"}`, `{message}`. */
export function readErrorText(body: string): string | undefined {
  let parsed: Json;
  try {
    parsed = JSON.parse(body) as Json;
  } catch {
    return body.trim() === '' ? undefined : body.trim();
  }
  if (!isObject(parsed)) return undefined;
  const error = parsed['error'] ?? parsed['message'];
  const message = error !== undefined && isObject(error) ? error['message'] : error;
  return typeof message === 'string' ? message : undefined;
}

/** The innermost message of a failed request, such as `connect ECONNREFUSED 127.0.0.1:11434`; of its code without one. */
export function readNetworkError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = error instanceof AggregateError ? (error.errors as unknown[])[0] : error.cause;
  const own = error.message === '' ? (error as NodeJS.ErrnoException).code : error.message;
  return readNetworkError(inner) ?? own;
}
