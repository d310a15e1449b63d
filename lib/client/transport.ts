import type { Clock } from '../common/clock.js';
import { type Answer, connectionError, jsonOf, refusalOf } from './errors.js';
import { pause, readRetryAfter, retryDelay } from './retry.js';

/** One request. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** From the address of the server on, with the query. */
  readonly path: string;
  /** Sent as JSON; `yaml` as it is. */
  readonly body?: unknown;
  readonly yaml?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** May be sent again: it changes nothing, or the server knows it by its key. */
  readonly isRepeatable?: boolean;
}

interface TransportSettings {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Further attempts of a request that may be sent again. */
  readonly retries: number;
}

/** Sends requests to one server, and tells what went wrong with them. */
export class Transport {
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  get base(): string {
    return this.#settings.base;
  }

  get clock(): Clock {
    return this.#settings.clock;
  }

  get retries(): number {
    return this.#settings.retries;
  }

  /** The JSON of an answer. */
  async json<T>(call: Call): Promise<T> {
    return jsonOf(await this.send(call), this.base) as T;
  }

  /**
   * The answer to a request, sent again a few times when it may be.
   *
   * @throws RequestError for every answer of 300 and above but 304; the reason of the signal, once it is given
   */
  async send(call: Call): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(call);
      } catch (thrown) {
        const isLast = call.isRepeatable !== true || attempt >= this.retries;
        const delayMs = isLast ? undefined : retryDelay(thrown, attempt);
        if (delayMs === undefined) throw thrown;
        await pause(delayMs, this.clock, call.signal);
      }
    }
  }

  /** An answer whose body is read as it comes; sent once. Fails as {@link send} does. */
  async open(call: Call): Promise<Response> {
    const response = await this.#guarded(call, () => this.#fetch(call));
    if (!isRefusal(response)) return response;
    throw this.#refusal(await this.#guarded(call, () => read(response)));
  }

  async #once(call: Call): Promise<Answer> {
    const answer = await this.#guarded(call, async () => read(await this.#fetch(call)));
    if (isRefusal(answer)) throw this.#refusal(answer);
    return answer;
  }

  #fetch({ method, path, body, yaml, headers, signal }: Call): Promise<Response> {
    const { base, fetch, headers: own } = this.#settings;
    const text = yaml ?? (body === undefined ? undefined : JSON.stringify(body));
    const type = yaml === undefined ? 'application/json' : 'application/yaml';
    return fetch(base + path, {
      method,
      headers: { ...own, ...(text !== undefined && { 'content-type': type }), ...headers },
      // Followed, a POST would become a GET.
      redirect: 'manual',
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
    });
  }

  async #guarded<T>({ signal }: Call, ask: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch (thrown) {
      signal?.throwIfAborted();
      throw connectionError(thrown, this.base);
    }
  }

  #refusal(answer: Answer): Error {
    const retryAfterMs = readRetryAfter(answer.headers.get('retry-after'), this.clock.now());
    return refusalOf(answer, this.base, retryAfterMs);
  }
}

async function read(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function isRefusal({ status }: { readonly status: number }): boolean {
  return status >= 300 && status !== 304;
}
