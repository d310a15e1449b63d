import { type Clock, systemClock } from '../common/clock.js';
import { baseOf, keyHeaders } from './address.js';
import { Transport } from './transport.js';

export interface ClientOptions {
  /** Default `http://127.0.0.1:8000`. */
  readonly url?: string | undefined;
  /** What the server asks callers for, when it does (D37). */
  readonly key?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Further attempts of a request that changes nothing, or has an idempotency key. Default 3. */
  readonly retries?: number | undefined;
}

/** @throws WavetrainError `bad_usage` for an address or a key that cannot be one */
export function transportOf(options: ClientOptions): Transport {
  const { url = 'http://127.0.0.1:8000', key, clock = systemClock, retries = 3 } = options;
  return new Transport({
    base: baseOf(url),
    headers: { accept: 'application/json', ...keyHeaders(key) },
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock,
    retries,
  });
}
