/** How the text of a value, as PostgreSQL sends it, becomes a cell. */
export type CellKind = 'plain' | 'text' | 'boolean' | 'time';

/** Letters that are written at once. */
const PIECE_BYTES = 256 * 1024;

const [COMMA, QUOTE, NEW_LINE, RETURN, SPACE, LETTER_T, LETTER_Z, PLUS, ZERO, SMALL_T] =
  Buffer.from(',"\n\r TZ+0t');
const DATE_LENGTH = 10;
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

/** A cell may need two bytes for each of its own, quotes around it, and what ends it. */
const MARGIN = 4;

/**
 * Makes lines of CSV from rows of PostgreSQL, byte by byte: texts in between would take most of the time. Its pieces are
 * used one after another: a piece is free again when the next one is asked for.
 */
export class CsvEncoder {
  rowCount = 0;
  readonly #kinds: readonly CellKind[];
  #piece: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #length = 0;
  readonly #full: Buffer[] = [];
  readonly #free: Buffer[] = [];

  constructor(kinds: readonly CellKind[]) {
    this.#kinds = kinds;
  }

  /** Bytes that nobody has taken. */
  get waiting(): number {
    return this.#full.length;
  }

  /** The next piece; undefined when there is none yet. @param isLast takes also one that is not full */
  take(isLast: boolean): Buffer | undefined {
    const piece = this.#full.shift();
    if (piece !== undefined || !isLast || this.#length === 0) return piece;
    const rest = this.#piece.subarray(0, this.#length);
    this.#piece = this.#nextPiece(0);
    this.#length = 0;
    return rest;
  }

  /** Gives back a piece that was written. */
  release(piece: Buffer): void {
    if (piece.buffer.byteLength === PIECE_BYTES && this.#free.length < 2)
      this.#free.push(Buffer.from(piece.buffer));
  }

  /** Adds a row: the bytes behind the head of its message. */
  add(bytes: Buffer, start: number, end: number): void {
    this.#ensure(2 * (end - start) + MARGIN * this.#kinds.length);
    const out = this.#piece;
    let to = this.#length;
    let at = start + 2;
    for (let column = 0; at < end; column++) {
      const length = bytes.readInt32BE(at);
      at += 4;
      if (column > 0) out[to++] = COMMA ?? 0;
      if (length < 0) continue;
      to = this.#addCell(bytes, at, length, to, this.#kinds[column] ?? 'text');
      at += length;
    }
    out[to++] = NEW_LINE ?? 0;
    this.#length = to;
    this.rowCount++;
  }

  #addCell(bytes: Buffer, at: number, length: number, to: number, kind: CellKind): number {
    const out = this.#piece;
    switch (kind) {
      case 'text':
        return this.#addText(bytes, at, length, to);
      case 'boolean':
        return to + (bytes[at] === SMALL_T ? TRUE : FALSE).copy(out, to);
      case 'plain':
        for (let index = 0; index < length; index++) out[to + index] = bytes[at + index] ?? 0;
        return to + length;
      case 'time':
        for (let index = 0; index < length; index++) out[to + index] = bytes[at + index] ?? 0;
        return to + this.#finishTime(to, length);
    }
  }

  /** Writes `T` between the date and the time, and `Z` for UTC, as in values; returns the length. */
  #finishTime(to: number, length: number): number {
    const out = this.#piece;
    const isBeforeChrist = length > 2 && out.toString('latin1', to + length - 2, to + length) === 'BC';
    if (out[to + DATE_LENGTH] !== SPACE || isBeforeChrist) return length;
    out[to + DATE_LENGTH] = LETTER_T ?? 0;
    const end = to + length;
    if (out[end - 3] !== PLUS || out[end - 2] !== ZERO || out[end - 1] !== ZERO) return length;
    out[end - 3] = LETTER_Z ?? 0;
    return length - 2;
  }

  #addText(bytes: Buffer, at: number, length: number, to: number): number {
    const out = this.#piece;
    if (length === 0) {
      out[to] = QUOTE ?? 0;
      out[to + 1] = QUOTE ?? 0;
      return to + 2;
    }
    for (let index = 0; index < length; index++) {
      const byte = bytes[at + index] ?? 0;
      if (byte === COMMA || byte === QUOTE || byte === NEW_LINE || byte === RETURN)
        return this.#addQuoted(bytes, at, length, to);
      out[to + index] = byte;
    }
    return to + length;
  }

  #addQuoted(bytes: Buffer, at: number, length: number, to: number): number {
    const out = this.#piece;
    let next = to;
    out[next++] = QUOTE ?? 0;
    for (let index = 0; index < length; index++) {
      const byte = bytes[at + index] ?? 0;
      if (byte === QUOTE) out[next++] = byte;
      out[next++] = byte;
    }
    out[next++] = QUOTE ?? 0;
    return next;
  }

  #ensure(bytes: number): void {
    if (this.#length + bytes <= this.#piece.length) return;
    if (this.#length > 0) this.#full.push(this.#piece.subarray(0, this.#length));
    this.#piece = this.#nextPiece(bytes);
    this.#length = 0;
  }

  #nextPiece(bytes: number): Buffer {
    if (bytes > PIECE_BYTES) return Buffer.allocUnsafeSlow(bytes);
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
  }
}
