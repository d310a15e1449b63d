import { MODEL_LIMITS } from '../../common/limits.js';
import { ModelError } from '../model.js';
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
  let loaded: Promise<typeof globalThis.fetch> | undefined;
  return async (input, init) => {
    loaded ??= load();
    const send = await loaded;
    const response = limitBody(await send(input, init));
    if (!response.ok) return response;
    const { body, headers } = await assertAnswer(response);
    return new Response(check === undefined ? body : (body?.pipeThrough(check()) ?? null), { headers });
  };
}

async function load(): Promise<typeof globalThis.fetch> {
  const { Agent, fetch } = await import('undici');
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 30_000 });
  const send = (input: unknown, init: object = {}): Promise<unknown> =>
    fetch(input as Parameters<typeof fetch>[0], { ...init, dispatcher });
  return send as typeof globalThis.fetch;
}

function limitBody(response: Response): Response {
  let bytes = 0;
  const counting: TransformStream<Uint8Array, Uint8Array> = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= MODEL_LIMITS.answerBytes) controller.enqueue(chunk);
      else
        controller.error(
          new ModelError(
            'bad_request',
            `the answer is larger than ${MODEL_LIMITS.answerBytes / 2 ** 20} MiB`,
          ),
        );
    },
  });
  const { status, statusText, headers, body } = response;
  return new Response(body?.pipeThrough(counting) ?? null, {
    status,
    statusText,
    headers: Object.fromEntries(headers),
  });
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
