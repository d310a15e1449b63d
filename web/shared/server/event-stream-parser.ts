/** A frame of a stream of Server-Sent Events. */
export interface Frame {
  /** Empty for a frame without one. */
  readonly id: string;
  /** `message` for a frame without a name. */
  readonly name: string;
  readonly data: string;
}

/** A longer line is not one of ours; keeping it would fill the memory of the page. */
const MAX_LINE = 16 * 1024 * 1024;

/**
 * Reads Server-Sent Events from the pieces of a response, however they are cut. The browser's own reader cannot send a
 * key with its request.
 */
export class EventStreamParser {
  #rest = '';
  #id = '';
  #name = '';
  #data: string[] = [];

  /** Returns the frames that are complete with `text`. @throws Error for an endless line */
  read(text: string): Frame[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_LINE) throw new Error('the server sends a line without an end');
    return lines.flatMap((line) => this.#readLine(line.endsWith('\r') ? line.slice(0, -1) : line));
  }

  #readLine(line: string): Frame[] {
    if (line === '') return this.#finish();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') this.#id = value;
    if (field === 'event') this.#name = value;
    if (field === 'data') this.#data.push(value);
    return [];
  }

  #finish(): Frame[] {
    const frame = { id: this.#id, name: this.#name || 'message', data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#id = '';
    this.#name = '';
    this.#data = [];
    return isEmpty ? [] : [frame];
  }
}
