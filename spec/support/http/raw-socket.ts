import { connect, type Socket } from 'node:net';

/** What came back on a connection until it was closed. */
export interface RawResponse {
  readonly status: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** All of it, and what came after. */
  readonly text: string;
}

/** A connection that says exactly what it is told to, for requests that no client would make. */
export class RawSocket {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  /** Resolves when the other end has closed, however it did. */
  readonly closed: Promise<void>;

  constructor(url: string) {
    this.#socket = connect(Number(new URL(url).port), '127.0.0.1');
    this.#socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    // A server that closes while more is coming resets the connection; what it said before counts.
    this.#socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
    });
  }

  /** Sends lines as they are, or bytes. */
  send(data: string | Uint8Array): this {
    if (!this.#socket.destroyed) this.#socket.write(data);
    return this;
  }

  /** Waits until this stands in what came. */
  async waitForText(words: string): Promise<void> {
    while (!this.text.includes(words)) {
      if (this.#socket.destroyed) throw new Error(`closed, and said only: ${this.text}`);
      await new Promise<void>((resolve) => {
        this.#socket.once('data', () => resolve());
        this.#socket.once('close', () => resolve());
      });
    }
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Sends, and waits until the system has taken it or the connection is closed. */
  async push(data: string): Promise<void> {
    const taken = new Promise<void>((resolve) => {
      if (this.#socket.destroyed) resolve();
      else this.#socket.write(data, () => resolve());
    });
    await Promise.race([taken, this.closed]);
  }

  disconnect(): void {
    this.#socket.destroy();
  }

  /** What was answered, when the other end has closed. */
  async readResponse(): Promise<RawResponse> {
    await this.closed;
    return parseRawResponse(this.text);
  }
}

export function parseRawResponse(text: string): RawResponse {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(': ');
    return [name.toLowerCase(), value.join(': ')];
  });
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
    text,
  };
}
