import { type Clock, delay } from '../common/clock.js';
import { connectionError, type HttpResponse, parseJsonBody, RequestError, toRequestError } from './errors.js';
import type { HttpRequest } from './http-request.js';

interface TransportOptions {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly retries: number;
}

/** Sends requests to one server, retries them and converts failures to RequestErrors. */
export class Transport {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly retries: number;
  /** True when the server has answered before. */
  wasReached = false;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
    ({ baseUrl: this.baseUrl, clock: this.clock, retries: this.retries } = options);
  }

  /** Sends a request and parses the JSON of the response. Rejects like {@link send}. */
  async json<T>(request: HttpRequest): Promise<T> {
    return parseJsonBody(await this.send(request), this.baseUrl) as T;
  }

  /**
   * Sends a request, and retries it if it is repeatable.
   *
   * Rejects with a RequestError for every status of 300 and above but 304, and with the reason of the signal once it is
   * aborted.
   */
  async send(request: HttpRequest): Promise<HttpResponse> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        const isLast = request.isRepeatable !== true || attempt >= this.retries;
        const delayMs = isLast ? undefined : retryDelay(error, attempt);
        if (delayMs === undefined) throw error;
        await delay(delayMs, { clock: this.clock, signal: request.signal });
      }
    }
  }

  /** Sends a request once and returns the response with its body still unread. Rejects like {@link send}. */
  async open(request: HttpRequest): Promise<Response> {
    const response = await this.#convertErrors(request, () => this.#fetch(request));
    if (!isError(response)) return response;
    throw this.#toRequestError(await this.#convertErrors(request, () => readText(response)));
  }

  async #sendOnce(request: HttpRequest): Promise<HttpResponse> {
    const response = await this.#convertErrors(request, async () => readText(await this.#fetch(request)));
    this.wasReached = true;
    if (isError(response)) throw this.#toRequestError(response);
    return response;
  }

  #fetch({ method, path, body, yaml, headers, signal }: HttpRequest): Promise<Response> {
    const { fetch, headers: commonHeaders } = this.#options;
    const text = yaml ?? (body === undefined ? undefined : JSON.stringify(body));
    const type = yaml === undefined ? 'application/json' : 'application/yaml';
    return fetch(this.baseUrl + path, {
      method,
      headers: { ...commonHeaders, ...(text !== undefined && { 'content-type': type }), ...headers },
      // Following a redirect would turn a POST into a GET.
      redirect: 'manual',
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
    });
  }

  async #convertErrors<T>({ signal }: HttpRequest, send: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      signal?.throwIfAborted();
      throw connectionError(error, this.baseUrl);
    }
  }

  #toRequestError(response: HttpResponse): Error {
    const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), this.clock.now());
    return toRequestError(response, this.baseUrl, retryAfterMs);
  }
}

async function readText(response: Response): Promise<HttpResponse> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function isError({ status }: { readonly status: number }): boolean {
  return status >= 300 && status !== 304;
}

const INITIAL_DELAY_MS = 250;
const MAX_DELAY_MS = 8000;
/** A longer Retry-After ends the retries. */
const MAX_RETRY_AFTER_MS = 30_000;

/** The server is overloaded or shutting down. */
const RETRYABLE_STATUSES: readonly (number | undefined)[] = [429, 503];

/**
 * Returns the delay before the next attempt: what the server asks for, else exponential backoff. Undefined when a retry
 * would fail too.
 *
 * @param attempt number of the failed attempt, from 0
 */
export function retryDelay(error: unknown, attempt: number): number | undefined {
  if (!isRetryable(error)) return undefined;
  const { retryAfterMs = Math.min(INITIAL_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) } = error;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs;
}

function isRetryable(error: unknown): error is RequestError {
  if (!(error instanceof RequestError)) return false;
  const isConnectionError = error.code === 'server_unreachable' && error.status === undefined;
  return isConnectionError || RETRYABLE_STATUSES.includes(error.status);
}

/** Converts a Retry-After header, seconds or a date, to milliseconds. */
function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
