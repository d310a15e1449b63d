import { MODEL_LIMITS } from '../../common/limits.js';
import { ModelError } from '../model.js';

/**
 * Creates the `fetch` of the providers. They are configured by the operator, so the guard of tools does not hold for
 * them; the time limits are those of the caller, since that of Node.js would end every slow answer after 5 minutes.
 * What a provider sends is bounded before anybody parses it.
 */
export function createModelFetch(): typeof globalThis.fetch {
  let loaded: Promise<typeof globalThis.fetch> | undefined;
  return async (input, init) => {
    loaded ??= load();
    const send = await loaded;
    const response = await send(input, init);
    return response.body === null ? response : limitBody(response, response.body);
  };
}

async function load(): Promise<typeof globalThis.fetch> {
  const { Agent, fetch } = await import('undici');
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: 30_000 });
  const send = (input: unknown, init: object = {}): Promise<unknown> =>
    fetch(input as Parameters<typeof fetch>[0], { ...init, dispatcher });
  return send as typeof globalThis.fetch;
}

function limitBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
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
  const { status, statusText, headers } = response;
  return new Response(body.pipeThrough(counting), {
    status,
    statusText,
    headers: Object.fromEntries(headers),
  });
}
