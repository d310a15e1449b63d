import { Writable } from 'node:stream';

/** A pipe whose other end reads only when a spec says so. */
export class SlowStream extends Writable {
  text = '';
  #isRead = false;
  #goOn: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    if (this.#isRead) done();
    else this.#goOn = done;
  }

  /** Reads what waits and all that comes. */
  readAll(): void {
    this.#isRead = true;
    this.#goOn?.();
    this.#goOn = undefined;
  }
}
