import type { Dispatcher } from 'undici';
import { ModelError } from '../model.js';
import { Exchange } from './exchange.js';
import { readErrorText } from './provider-errors.js';

/** Passes the bytes of an answer on, or errors. */
type CheckBytes = () => TransformStream<Uint8Array, Uint8Array>;

/**
 * Creates the `fetch` of the providers. They are configured by the operator, so the guard of tools does not hold for
 * them; the time limits are those of the caller, since that of Node.js would end every slow answer after 5 minutes.
 * What a provider sends is bounded before anybody parses it.
 *
 * @param check of answers with status 200
 */
export function createModelFetch(check?: CheckBytes): typeof globalThis.fetch {
  let created: Promise<Dispatcher> | undefined;
  return async (url, { headers, body, signal } = {}) => {
    created ??= createDispatcher();
    const dispatcher = await created;
    if (typeof body !== 'string')
      throw new ModelError('bad_request', 'the request to the provider is no text');
    const response = await new Exchange(signal ?? undefined).send(dispatcher, {
      url: new URL(url instanceof Request ? url.url : url),
      headers: Object.fromEntries(new Headers(headers)),
      body,
    });
    if (!response.ok) return response;
    const answer = await assertAnswer(response);
    if (check === undefined || answer.body === null) return answer;
    return new Response(answer.body.pipeThrough(check()), answer);
  };
}

async function createDispatcher(): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  return new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 30_000 });
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
  throw new ModelError(
    'server',
    `the provider reported an error: ${(readErrorText(text) ?? text).slice(0, 500)}`,
  );
}
