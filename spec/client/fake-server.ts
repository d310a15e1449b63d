import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server on a real port whose responses a spec writes. */
export class FakeServer {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;

  private constructor(answer: (response: ServerResponse, asked: ReceivedRequest) => void) {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => (body += text));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const asked = { method, path: url, headers, body };
        this.requests.push(asked);
        answer(response, asked);
      });
    });
  }

  static async open(answer: (response: ServerResponse, asked: ReceivedRequest) => void): Promise<FakeServer> {
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

export function respondJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
