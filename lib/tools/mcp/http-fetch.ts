import { MCP_LIMITS } from '../../common/limits.js';
import { MessageMeter } from './message-meter.js';

/**
 * Creates the `fetch` for MCP servers. The operator has configured them, so the guard of tools does not hold for them; the
 * time limits are those of the caller, since that of Node.js would end every slow call after 5 minutes. What a server
 * sends is bounded before anybody parses it.
 */
export function createMcpFetch(): typeof globalThis.fetch {
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
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: MCP_LIMITS.connectMs,
    keepAliveTimeout: 1000,
  });
  const send = (input: unknown, init: object = {}): Promise<unknown> =>
    fetch(input as Parameters<typeof fetch>[0], { ...init, dispatcher });
  return send as typeof globalThis.fetch;
}

function limitBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  const areEvents = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const meter = new MessageMeter(MCP_LIMITS.messageBytes, areEvents);
  const measuring = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const exceeded = meter.add(chunk);
      if (exceeded === undefined) controller.enqueue(chunk);
      else controller.error(new Error(`the answer has more than ${exceeded}`));
    },
  });
  return new Response(body.pipeThrough(measuring), {
    status,
    statusText,
    headers: Object.fromEntries(headers),
  });
}
