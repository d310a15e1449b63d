import {
  type JSONRPCMessage,
  type RequestId,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { MCP_LIMITS } from '../../../common/limits.js';
import { createBoundedFetch } from '../../../common/requests/bounded-fetch.js';
import type { Outbound } from '../../../common/requests/outbound.js';
import { JsonMeter } from '../../../common/requests/json-meter.js';
import type { HttpServerConfig } from '../config.js';
import { type ArrivedEvent, passOnEvents } from './event-stream.js';
import { MessageBudget } from './message-budget.js';
import { possibleRequests } from './message-text.js';
import type { SessionOptions } from '../session.js';

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * Speaks with a server over HTTP as the transport of the SDK does, but handles what arrives within the slices of the
 * event loop, and closes the connection to a server that sends too much that answers nothing.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #budget: MessageBudget;
  readonly #onTooMuch: SessionOptions['onTooMuch'];
  /** Sizes of the events that may be answers, by the request. */
  readonly #sizes = new Map<RequestId, number>();
  #isGivenUp = false;

  constructor(
    { name, url, headers, outbound }: HttpServerConfig,
    { clock, onTooMuch }: Pick<SessionOptions, 'clock' | 'onTooMuch'>,
  ) {
    super(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: createMcpFetch(name, outbound, (event) => this.#count(event)),
      reconnectionOptions: {
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 2,
      },
    });
    this.#budget = new MessageBudget(clock);
    this.#onTooMuch = onTooMuch;
  }

  override async start(): Promise<void> {
    const deliver = this.onmessage;
    const onmessage = (message: JSONRPCMessage): void => {
      this.#settle(message);
      deliver?.(message);
    };
    Object.assign(this, { onmessage });
    await super.start();
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.#budget.onSend(message);
    for (const id of this.#sizes.keys()) if (!this.#budget.isPending(id)) this.#sizes.delete(id);
    return super.send(message, options);
  }

  /** Counts an event before it is parsed. Returns false when the connection ends. */
  #count({ bytes, shown }: ArrivedEvent): boolean {
    if (this.#isGivenUp) return false;
    const tooMuch = this.#budget.add(bytes);
    if (tooMuch === undefined) {
      for (const id of possibleRequests(shown)) if (this.#budget.isPending(id)) this.#sizes.set(id, bytes);
      return true;
    }
    this.#isGivenUp = true;
    this.#onTooMuch(tooMuch);
    void this.close();
    return false;
  }

  #settle(message: JSONRPCMessage): void {
    if ('method' in message || message.id === undefined) return;
    this.#budget.settle(message, this.#sizes.get(message.id));
    this.#sizes.delete(message.id);
  }
}

/**
 * The `fetch` for servers over HTTP. A redirect is refused: asked again, the server would redirect again.
 *
 * @param count receives each event, and each stream of events that is opened; returns false to end it
 */
function createMcpFetch(
  server: string,
  outbound: Outbound | undefined,
  count: (event: ArrivedEvent) => boolean,
): typeof globalThis.fetch {
  const send = createBoundedFetch({
    connectMs: MCP_LIMITS.connectMs,
    createMeter: (headers) => new JsonMeter(MCP_LIMITS, areEvents(headers)),
    keepAliveMs: 1000,
    outbound,
    createError: (refused, message) =>
      Object.assign(new Error(message), refused === 'redirected' && { kind: 'refused' }),
  });
  return async (input, init) => {
    const response = await send(input, init);
    const { body, headers } = response;
    if (isJson(headers)) return await refuseList(response);
    if (body === null || !areEvents(headers)) return response;
    // The SDK asks for another stream when one ends, as soon as the server wants.
    if (init?.method === 'GET') count({ bytes: 0, shown: '' });
    return new Response(passOnEvents(body, server, count), response);
  };
}

/** The SDK would parse and handle the messages of a list, which nobody has asked for, in one turn of the event loop. */
async function refuseList(response: Response): Promise<Response> {
  const text = await response.text();
  if (/^\s*\[/.test(text)) throw new Error('the answer is a list of messages, which was not asked for');
  return new Response(EMPTY.has(response.status) ? null : text, response);
}

/** Statuses of answers that have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);

function areEvents(headers: Headers): boolean {
  return /^\s*text\/event-stream/i.test(headers.get('content-type') ?? '');
}

function isJson(headers: Headers): boolean {
  return /^\s*application\/json/i.test(headers.get('content-type') ?? '');
}
