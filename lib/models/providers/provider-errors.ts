import { APICallError } from '@ai-sdk/provider';
import { errorMessage } from '../../common/errors.js';
import { isObject, type Json } from '../../common/json/json.js';
import type { ProviderName } from '../../common/config/model-config.js';
import { ModelError, type ModelErrorKind } from '../model.js';

/** The providers whose wire formats the AI SDK knows. */
export type SdkProviderName = Exclude<ProviderName, 'mock'>;

/** The variables that a user sets when the key or the address of a provider is wrong. */
const VARIABLES: Readonly<Record<SdkProviderName, { readonly key: string; readonly address: string }>> = {
  openai: { key: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL' },
  anthropic: { key: 'ANTHROPIC_API_KEY', address: 'ANTHROPIC_BASE_URL' },
  ollama: { key: 'OLLAMA_API_KEY', address: 'OLLAMA_HOST' },
  compatible: { key: 'COMPATIBLE_API_KEY', address: 'COMPATIBLE_BASE_URL' },
};

/**
 * Turns the error that the AI SDK throws into one of ours. The thrown error is not kept as its cause: that would hold
 * the request and the answer, keys and all.
 *
 * @param provider whose variables the error names as the cure
 */
export function toModelError(
  error: unknown,
  provider: SdkProviderName,
  scrub: (text: string) => string,
): ModelError {
  const { kind, message, status, retryAfterMs } = describeError(error, provider);
  return new ModelError(kind, scrub(message), { status, retryAfterMs });
}

type ErrorDescription = Pick<ModelError, 'kind' | 'message'> &
  Partial<Pick<ModelError, 'status' | 'retryAfterMs'>>;

function describeError(error: unknown, provider: SdkProviderName): ErrorDescription {
  const own = findModelError(error);
  if (own !== undefined) return own;
  if (APICallError.isInstance(error)) return describeApiError(error, provider);
  // An error within the stream, as the provider has sent it.
  if (!(error instanceof Error))
    return { kind: 'server', message: `the provider reported an error: ${describeReported(error)}` };
  if (isUnreadable(error)) return unreadable(error);
  return describeNetworkError(error, provider);
}

/** When nobody listens at the address, it may be wrong. */
function describeNetworkError(error: unknown, provider: SdkProviderName): ErrorDescription {
  const reason = readNetworkError(error) ?? errorMessage(error);
  const cure = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(reason)
    ? `; see whether the server runs, and whether ${VARIABLES[provider].address} is right`
    : '';
  return { kind: 'network', message: `the request failed: ${reason}${cure}` };
}

/** The AI SDK wraps what `fetch` and the body of an answer throw. */
function findModelError(error: unknown): ModelError | undefined {
  if (error instanceof ModelError) return error;
  return error instanceof Error ? findModelError(error.cause) : undefined;
}

function describeReported(error: unknown): string {
  const text = typeof error === 'string' ? error : JSON.stringify(error);
  return (readErrorText(text) ?? text).slice(0, 500);
}

function unreadable(error: unknown, status?: number): ErrorDescription {
  return {
    kind: 'protocol',
    message: `the answer could not be read: ${readNetworkError(error) ?? errorMessage(error)}`,
    status,
  };
}

function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error && /JSON|TypeValidation|InvalidResponse|NoContent|EmptyResponse/.test(error.name)
  );
}

function describeApiError(error: APICallError, provider: SdkProviderName): ErrorDescription {
  const { statusCode: status, responseBody = '', responseHeaders = {} } = error;
  if (status === undefined) return describeNetworkError(error, provider);
  if (status < 400) return unreadable(error, status);
  const isSpent = status === 429 && /"insufficient_quota"/.test(responseBody);
  const said = (readErrorText(responseBody) ?? error.message).slice(0, 500);
  const problem = isSpent ? SPENT : explain(status, provider);
  return {
    // Nothing is gained by asking again: somebody has to pay first.
    kind: isSpent ? 'misconfigured' : kindOf(status),
    message: problem.includes(';') ? `${problem}. It says: ${said}` : `${problem}: ${said}`,
    status,
    retryAfterMs: readRetryAfter(responseHeaders),
  };
}

function kindOf(status: number): ModelErrorKind {
  if (status === 401 || status === 403) return 'misconfigured';
  if (status === 429) return 'rate_limit';
  if (status === 408) return 'timeout';
  if (status === 503 || status === 529) return 'overloaded';
  return status >= 500 ? 'server' : 'bad_request';
}

/** OpenAI says so with the status of a rate that is limited. */
const SPENT = 'the account of the key has no credit left (429); look at its billing, or set another key';

function explain(status: number, provider: SdkProviderName): string {
  const { key, address } = VARIABLES[provider];
  if (status === 401) return `the provider refused the key (401); see whether ${key} is right`;
  if (status === 403)
    return `the provider refused the key (403); see whether ${key} is right, and may use this model`;
  if (status === 404) {
    const model = provider === 'ollama' ? 'run "ollama pull" for the model' : 'check the name of the model';
    return `the provider does not know this model or address (404); ${model}, and the address in ${address}`;
  }
  if (status === 429) return 'the provider limits the rate of requests (429)';
  return `the provider answered with status ${status}`;
}

/** Reads `retry-after-ms`, or `retry-after` in seconds or as a date, by the clock of the provider. In milliseconds. */
function readRetryAfter({
  'retry-after-ms': ms = '',
  'retry-after': after = '',
  date = '',
}: Readonly<Record<string, string>>): number | undefined {
  if (/^\d+(\.\d+)?$/.test(ms)) return Number(ms);
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  const untilMs = Date.parse(after) - Date.parse(date);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs);
}

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
function readNetworkError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = error instanceof AggregateError ? (error.errors as unknown[])[0] : error.cause;
  const own = error.message === '' ? (error as NodeJS.ErrnoException).code : error.message;
  return readNetworkError(inner) ?? own;
}
