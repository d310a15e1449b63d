import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach } from 'mocha';
import type { JsonObject } from '../../lib/common/json/json.js';

/** A request as a provider receives it. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

/** Answers one request. */
export type Reply = (response: ServerResponse) => void;

/** Stands for the server of a provider on this machine, and answers what a spec says. */
export interface ModelServer {
  readonly url: string;
  /** Of this spec, in their order. */
  readonly requests: readonly ReceivedRequest[];
  /** Answers the next requests in this way; the last reply also those after them. */
  reply(...replies: Reply[]): void;
  /** The first connection that was closed before its answer was complete. */
  readonly hungUp: Promise<unknown>;
}

/** Starts a server for the specs of a suite. */
export function useModelServer(): ModelServer {
  let requests: ReceivedRequest[] = [];
  let replies: Reply[] = [];
  let hungUp: Promise<unknown> = Promise.resolve();
  let noteHangUp: () => void = () => undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('close', () => {
      if (!response.writableFinished) noteHangUp();
    });
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      const next = replies.length > 1 ? replies.shift() : replies[0];
      next?.(response);
    });
  });
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    requests = [];
    replies = [];
    hungUp = new Promise<void>((resolve) => {
      noteHangUp = resolve;
    });
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    get requests() {
      return requests;
    },
    get hungUp() {
      return hungUp;
    },
    reply: (...next) => {
      replies = next;
    },
  };
}

/** Answers with a status, a text and headers. */
export function replyWith(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
}

/** Sends parts of a stream; without `end`, leaves it open. */
export function replyInParts(type: string, parts: readonly string[], end: 'end' | 'open' | 'hang up'): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(parts.join(''), () => {
      if (end === 'end') response.end();
      if (end === 'hang up') response.destroy();
    });
    if (parts.length === 0) response.flushHeaders();
  };
}
