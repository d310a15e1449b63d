import type { CompileProgress, CompileResult } from '../compile/result.js';
import { connectionError, type HttpResponse, parseJsonBody, RequestError, toRequestError } from './errors.js';
import { assertEventStream, closedTooEarly, IdleTimeout, readFrames } from './event-stream.js';
import { postRequest } from './http-request.js';
import type { CompileRequestOptions } from './requests.js';
import type { Transport } from './transport.js';

/**
 * Sends a request to compile, and reads its stream of events: unlike one response at the end, it may take as long as it
 * needs, and a server that has died is noticed.
 *
 * Rejects like a request that was answered at once, also with an error that comes at the end of the stream.
 */
export async function requestCompilation(
  transport: Transport,
  prompt: string,
  { signal, maxRepairs: max_repairs, onProgress, ...request }: CompileRequestOptions,
): Promise<CompileResult> {
  const { baseUrl } = transport;
  const body = { prompt, max_repairs, ...request };
  for await (const event of receive(transport, body, signal)) {
    if (event.name === 'result') return parseJsonBody(event, baseUrl) as CompileResult;
    if (event.name === 'progress') onProgress?.(parseJsonBody(event, baseUrl) as CompileProgress);
    if (event.name === 'error') {
      const { status = 500 } = parseJsonBody(event, baseUrl) as { readonly status?: number };
      throw toRequestError({ ...event, status }, baseUrl, undefined);
    }
  }
  throw closedTooEarly(baseUrl);
}

/** An event, as the response that it would be alone. */
interface ReceivedEvent extends HttpResponse {
  readonly name: string | undefined;
}

/** Sends the request and yields its events. Ends the request when the caller leaves the loop. */
async function* receive(
  transport: Transport,
  body: object,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const timeout = new IdleTimeout(transport.clock);
  const ending = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
  try {
    const response = await transport.open({
      ...postRequest('/pipelines/compile', body, { signal: ending }),
      headers: { accept: 'text/event-stream' },
    });
    assertEventStream(response, transport.baseUrl);
    const { status, headers, body: stream } = response;
    for await (const frame of stream === null ? [] : readFrames(stream)) {
      timeout.reset();
      if (frame !== 'heartbeat') yield { name: frame.event, status, headers, text: frame.data };
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof RequestError ? error : connectionError(error, transport.baseUrl);
  } finally {
    timeout.end();
  }
}
