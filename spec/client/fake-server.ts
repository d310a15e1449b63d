import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers as a spec says, over real connections. */
export class FakeServer {
  readonly asked: Asked[] = [];
  readonly #server: Server;

  private constructor(answer: (response: ServerResponse, asked: Asked) => void) {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const asked = { method, path: url, headers, body };
        this.asked.push(asked);
        answer(response, asked);
      });
    });
  }

  static async open(answer: (response: ServerResponse, asked: Asked) => void): Promise<FakeServer> {
    const fake = new FakeServer(answer);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

/** Answers a request with JSON. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
