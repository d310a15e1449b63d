import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A proxy on this machine, for which every name is that of this machine. */
export class TestProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The requests that it received: `GET http://host/path` and `CONNECT host:port`. */
  readonly asked: string[] = [];
  /** Headers of the last request. */
  headers: IncomingMessage['headers'] = {};
  /** Status with which it refuses tunnels. */
  refuses: number | undefined;

  private constructor() {
    this.#server = createServer((incoming, response) => {
      this.#note(incoming);
      const { pathname, search, port } = new URL(incoming.url ?? '');
      const { method, headers } = incoming;
      const passed = request(
        { host: '127.0.0.1', port, path: pathname + search, method, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        },
      );
      incoming.pipe(passed);
    });
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
    this.#server.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
      this.#note(incoming);
      if (this.refuses !== undefined) return client.end(`HTTP/1.1 ${this.refuses} No\r\n\r\n`);
      const server = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        server.write(head);
        server.pipe(client);
        client.pipe(server);
      });
      this.#keep(server);
    });
  }

  static async start(): Promise<TestProxy> {
    const proxy = new TestProxy();
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #note({ method, url, headers }: IncomingMessage): void {
    this.asked.push(`${method} ${url}`);
    this.headers = headers;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
  }
}
