import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** The server as the holder of one key reaches it. */
export class Api {
  readonly url: string;
  readonly #key: string;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  /** @param timeoutMs after which a request is given up */
  constructor(url: string, key: string, timeoutMs: number) {
    this.url = url;
    this.#key = key;
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64 });
  }

  /** Sends `body` as JSON, or as YAML when it is a text. Rejects when the connection fails or the time is over. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const began = performance.now();
    const isText = typeof body === 'string';
    const payload = isText ? body : body === undefined ? '' : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(this.url + path, {
        method,
        agent: this.#agent,
        timeout: this.#timeoutMs,
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(body !== undefined && {
            'content-type': isText ? 'application/yaml' : 'application/json',
            'content-length': Buffer.byteLength(payload),
          }),
          ...headers,
        },
      });
      sent.once('timeout', () => sent.destroy(new Error(`no answer after ${this.#timeoutMs} ms`)));
      sent.once('error', reject);
      sent.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            ms: performance.now() - began,
          }),
        );
      });
      sent.end(payload);
    });
  }

  /** Opens a connection of its own, sends the start of a request, and never reads what comes back. */
  open(method: string, path: string, headers: readonly string[], start: string): Socket {
    const { hostname, port, host } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${this.#key}`];
    socket.on('error', () => socket.destroy());
    socket.write(`${[...lines, ...headers].join('\r\n')}\r\n\r\n${start}`);
    socket.pause();
    return socket;
  }

  close(): void {
    this.#agent.destroy();
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
