import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../lib/common/clock.js';
import {
  type FetchCaller,
  type NetworkAccess,
  type NetworkOptions,
  networkAccess,
} from '../../../lib/tools/fetching/network.js';
import type { ToolContext } from '../../../lib/tools/tool.js';
import { ManualClock } from '../../support/manual-clock.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTP server on 127.0.0.1 whose answers a spec decides. */
export class LoopbackServer {
  readonly #server: Server;
  /** The requests that have arrived, as `GET /path`. */
  readonly requests: string[] = [];
  handler: Handler = (_, response) => response.end('ok');

  private constructor() {
    this.#server = createServer((request, response) => {
      this.requests.push(`${request.method} ${request.url}`);
      this.handler(request, response);
    });
  }

  static async start(): Promise<LoopbackServer> {
    const server = new LoopbackServer();
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}

/** Reads the body of a request. */
export async function readRequestBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The network with this machine's own address allowed. */
export function loopbackNetwork(options: NetworkOptions = {}): NetworkAccess {
  return networkAccess({ allows: (address) => address === '127.0.0.1', ...options });
}

/** The caller of a request in a spec. */
export function fetchCaller(caller: Partial<FetchCaller> = {}): FetchCaller & { readonly clock: Clock } {
  return {
    tenantId: 'tenant',
    clock: new ManualClock(),
    signal: new AbortController().signal,
    pauseTimeout: () => () => undefined,
    reserve: () => undefined,
    ...caller,
  };
}

/** The `fetch` of a tool's context, with this machine's own address allowed. */
export function loopbackFetch(caller: Partial<FetchCaller> = {}): ToolContext['fetch'] {
  const network = loopbackNetwork();
  return (url, options = {}) => network.fetch(url, options, fetchCaller(caller));
}
