import type { Dispatcher } from 'undici';
import { MODEL_LIMITS } from '../../common/limits.js';
import { describeRedirect } from '../../common/requests/bounded-fetch.js';
import { JsonMeter } from '../../common/requests/json-meter.js';
import { ByteMeter } from '../../common/requests/meter.js';
import { ModelError } from '../model.js';

/** One request to a provider. */
export interface OutgoingQuestion {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Statuses of answers that have no body. */
export const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Sends one request and hands its answer on as it arrives. An exchange takes the place of `fetch`, whose copies of
 * requests and streams take more time than the request itself; redirects, which would carry the key to another server,
 * are refused. Data that has arrived and is not read yet waits in the connection.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  #url = '';
  #resolve: (response: Response) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #connection: Dispatcher.DispatchController | undefined;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #answer = new ByteMeter(MODEL_LIMITS.answerBytes);
  /** Undefined where lines are measured later. */
  readonly #event: JsonMeter | undefined;
  readonly #onAbort = (): void => this.#connection?.abort(toError(this.#signal?.reason));

  /** @param areLines whether the answer comes in lines, and not in server-sent events */
  constructor(signal: AbortSignal | undefined, areLines: boolean) {
    this.#signal = signal;
    this.#event = areLines ? undefined : new JsonMeter(MODEL_LIMITS.event, true);
  }

  /** Resolves with the answer when its headers have arrived. Rejects with a ModelError or with what undici reports. */
  async send(dispatcher: Dispatcher, { url, headers, body }: OutgoingQuestion): Promise<Response> {
    this.#signal?.throwIfAborted();
    this.#url = url.href;
    const response = new Promise<Response>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#signal?.addEventListener('abort', this.#onAbort);
    const { origin, pathname, search } = url;
    const sent = { ...headers, 'accept-encoding': 'identity' };
    dispatcher.dispatch({ origin, path: pathname + search, method: 'POST', headers: sent, body }, this);
    return await response;
  }

  onRequestStart(connection: Dispatcher.DispatchController): void {
    this.#connection = connection;
    if (this.#signal?.aborted) this.#onAbort();
  }

  onResponseStart(
    connection: Dispatcher.DispatchController,
    status: number,
    fields: Record<string, string | string[] | undefined>,
    statusText = '',
  ): void {
    if (status < 200) return;
    const refusal = refuse(status, fields, this.#url);
    if (refusal !== undefined) return connection.abort(refusal);
    const headers = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, String(value ?? '')]),
    );
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller;
      },
      pull: () => connection.resume(),
      cancel: (reason) => connection.abort(toError(reason)),
    });
    this.#resolve(new Response(EMPTY.has(status) ? null : body, { status, statusText, headers }));
  }

  onResponseData(connection: Dispatcher.DispatchController, chunk: Buffer): void {
    // Undici's parser reports an empty part when it goes on.
    if (chunk.byteLength === 0) return;
    const tooLarge = this.#measure(chunk);
    if (tooLarge !== undefined) return connection.abort(tooLarge);
    this.#body?.enqueue(chunk);
    if ((this.#body?.desiredSize ?? 0) <= 0) connection.pause();
  }

  #measure(chunk: Buffer): ModelError | undefined {
    const ofAnswer = this.#answer.add(chunk);
    if (ofAnswer !== undefined) return tooLarge('the answer', ofAnswer);
    const ofEvent = this.#event?.add(chunk);
    return ofEvent === undefined ? undefined : tooLarge('a part of the answer', ofEvent);
  }

  onResponseEnd(): void {
    this.#end();
    this.#body?.close();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end();
    this.#reject(error);
    this.#body?.error(error);
  }

  #end(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

function refuse(
  status: number,
  { location, 'content-encoding': packed = 'identity' }: Record<string, string | string[] | undefined>,
  from: string,
): ModelError | undefined {
  if (status >= 300 && status < 400 && location !== undefined)
    return new ModelError('misconfigured', describeRedirect(String(location), from), { status });
  if (packed === 'identity') return undefined;
  return new ModelError(
    'protocol',
    `the answer is packed as ${String(packed).slice(0, 20)}, which was not asked for: look for a proxy that packs it`,
    { status },
  );
}

function tooLarge(what: string, exceeded: string): ModelError {
  return new ModelError('bad_request', `${what} has more than ${exceeded}`);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the answer was not read to its end');
}
