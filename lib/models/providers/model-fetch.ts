import type { Dispatcher } from 'undici';
import { MODEL_LIMITS } from '../../common/limits.js';
import { createPatientAgent } from '../../common/requests/bounded-fetch.js';
import type { Outbound } from '../../common/requests/outbound.js';
import { ModelError } from '../model.js';
import { EMPTY, Exchange } from './exchange.js';
import { readErrorText } from './provider-errors.js';

/**
 * Creates the `fetch` of a provider.
 *
 * @param areLines whether it answers in lines, and not in server-sent events
 * @param outbound the proxies, and the certificates that are trusted
 */
export function createModelFetch(areLines: boolean, outbound?: Outbound): typeof globalThis.fetch {
  let created: Promise<Dispatcher> | undefined;
  return async (url, { headers, body, signal } = {}) => {
    created ??= createPatientAgent({ connectMs: MODEL_LIMITS.connectMs, outbound });
    const dispatcher = await created;
    if (typeof body !== 'string')
      throw new ModelError('bad_request', 'the request to the provider is no text');
    const response = await new Exchange(signal ?? undefined, areLines).send(dispatcher, {
      url: new URL(url instanceof Request ? url.url : url),
      headers: Object.fromEntries(new Headers(headers)),
      body,
    });
    if (!response.ok) return await cutBody(response);
    return await assertAnswer(response);
  };
}

/** Cuts an error: it may repeat the request, is parsed in one turn of the event loop, and only its start is shown. */
async function cutBody({ status, statusText, headers, body }: Response): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MODEL_LIMITS.errorBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MODEL_LIMITS.errorBytes).toString('utf8');
  return new Response(EMPTY.has(status) ? null : text, { status, statusText, headers });
}

/** Some servers send an error, or a page to log in, with status 200 instead of the stream that was asked for. */
async function assertAnswer(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/html')) {
    await response.body?.cancel();
    throw new ModelError(
      'protocol',
      'the answer could not be read: it is a web page; is the address of the provider right?',
    );
  }
  if (!type.startsWith('application/json')) return response;
  const text = await response.text();
  if (!/"error"/.test(text.slice(0, 1000))) return new Response(text, response);
  const start = text.slice(0, MODEL_LIMITS.errorBytes);
  throw new ModelError(
    'server',
    `the provider reported an error: ${(readErrorText(start) ?? start).slice(0, 500)}`,
  );
}
