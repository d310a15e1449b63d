import { connect, type Socket } from 'node:net';

/** A response, read until the connection was closed. */
export interface RawResponse {
  readonly status: number;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Everything that was received. */
  readonly text: string;
}

/** A connection that sends raw bytes, for requests that no HTTP client would send. */
export class RawSocket {
  readonly #socket: Socket;
  readonly #chunks: Buffer[] = [];
  /** Resolves when the connection is closed, also after an error. */
  readonly closed: Promise<void>;

  constructor(url: string) {
    this.#socket = connect(Number(new URL(url).port), '127.0.0.1');
    this.#socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    // A server that closes while data is arriving resets the connection; the data it sent before is kept.
    this.#socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
    });
  }

  /** Sends text or bytes unchanged. */
  send(data: string | Uint8Array): this {
    if (!this.#socket.destroyed) this.#socket.write(data);
    return this;
  }

  /** Stops reading, so that the sender can send no more than the buffers of the system hold. */
  pause(): this {
    this.#socket.pause();
    return this;
  }

  /** Waits until the received text contains `words`. */
  async waitForText(words: string): Promise<void> {
    while (!this.text.includes(words)) {
      if (this.#socket.destroyed) throw new Error(`closed after receiving only: ${this.text}`);
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

  /** Sends, and resolves when the operating system has accepted the data or the connection is closed. */
  async push(data: string): Promise<void> {
    const accepted = new Promise<void>((resolve) => {
      if (this.#socket.destroyed) resolve();
      else this.#socket.write(data, () => resolve());
    });
    await Promise.race([accepted, this.closed]);
  }

  disconnect(): void {
    this.#socket.destroy();
  }

  /** The response, once the server has closed the connection. */
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
