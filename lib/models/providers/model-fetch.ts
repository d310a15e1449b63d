import { MODEL_LIMITS } from '../../common/limits.js';
import { createBoundedFetch } from '../../common/requests/bounded-fetch.js';
import { ByteMeter } from '../../common/requests/meter.js';
import { ModelError } from '../model.js';
import { readErrorText } from './provider-errors.js';

/** Passes the bytes of an answer on, or errors. */
type CheckBytes = () => TransformStream<Uint8Array, Uint8Array>;

/**
 * Creates the `fetch` of the providers.
 *
 * @param check of answers with status 200
 */
export function createModelFetch(check?: CheckBytes): typeof globalThis.fetch {
  const send = createBoundedFetch({
    connectMs: MODEL_LIMITS.connectMs,
    createMeter: () => new ByteMeter(MODEL_LIMITS.answerBytes),
    createError: (refused, message) =>
      new ModelError(refused === 'redirected' ? 'misconfigured' : 'bad_request', message),
  });
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok) return response;
    const { body, headers } = await assertAnswer(response);
    return new Response(check === undefined ? body : (body?.pipeThrough(check()) ?? null), { headers });
  };
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
