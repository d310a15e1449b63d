import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Passes connections on to a server of this machine, and breaks them when the spec says so. */
export class BreakableProxy {
  /** Where connections go to, such as `http://127.0.0.1:8000`; undefined refuses them. */
  target: string | undefined;
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket) => this.#pass(socket));
  }

  static async start(target: string): Promise<BreakableProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const proxy = new BreakableProxy(server);
    proxy.target = target;
    return proxy;
  }

  /** Breaks every connection. */
  break(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.break();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(socket: Socket): void {
    if (this.target === undefined) return void socket.destroy();
    const further = connect(Number(new URL(this.target).port), '127.0.0.1');
    for (const [end, other] of [
      [socket, further],
      [further, socket],
    ] as const) {
      this.#sockets.add(end);
      end.on('error', () => end.destroy());
      end.on('close', () => {
        this.#sockets.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  }
}
