import type { Duplex } from 'node:stream';

const HEADER_BYTES = 5;
const DATA_ROW = 0x44;
const READY = 0x5a;

/** The messages of one statement that are rows, taken from the socket before pg makes texts of them. */
export class RowMessages {
  readonly #stream: Duplex;
  readonly #onRow: (bytes: Buffer, start: number, end: number) => void;
  readonly #onChunk: () => void;
  readonly #limitBytes: number;
  #others: ((chunk: Buffer) => void)[] = [];
  #rest: Buffer | undefined;

  /**
   * @param onRow receives a row of which nothing is missing
   * @param onChunk is called when rows were read
   */
  constructor(
    stream: Duplex,
    limitBytes: number,
    onRow: (bytes: Buffer, start: number, end: number) => void,
    onChunk: () => void,
  ) {
    this.#stream = stream;
    this.#limitBytes = limitBytes;
    this.#onRow = onRow;
    this.#onChunk = onChunk;
  }

  /** Takes the place of the listeners of the socket, up to the end of the statement. Call between two messages. */
  begin(): void {
    const others = this.#stream.listeners('data');
    this.#stream.on('data', this.#onData);
    for (const listener of others) {
      this.#others.push((chunk) => void Reflect.apply(listener, this.#stream, [chunk]));
      if (isListener(listener)) this.#stream.removeListener('data', listener);
    }
    this.#restore = () => {
      for (const listener of others) if (isListener(listener)) this.#stream.on('data', listener);
      this.#stream.removeListener('data', this.#onData);
    };
  }

  #restore: () => void = () => undefined;

  readonly #onData = (chunk: Buffer): void => {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    while (at + HEADER_BYTES <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1);
      const kind = bytes[at];
      // Others know what to do about a message that is too long.
      if (kind === DATA_ROW && end - at <= this.#limitBytes) {
        if (end > bytes.length) break;
        this.#onRow(bytes, at + HEADER_BYTES, end);
        at = end;
        continue;
      }
      if (end > bytes.length && end - at <= this.#limitBytes) break;
      if (kind === READY) this.#restore();
      this.#forward(bytes.subarray(at, Math.min(end, bytes.length)));
      at = end;
    }
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at));
    this.#onChunk();
  };

  #forward(message: Buffer): void {
    for (const listener of this.#others) listener(message);
  }
}

function isListener(value: unknown): value is (...values: unknown[]) => void {
  return typeof value === 'function';
}
