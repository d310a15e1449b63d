import { incomingDataScheduler } from '../../../common/scheduling/event-loop-scheduler.js';

const [NEWLINE, RETURN] = [0x0a, 0x0d];

/** Bytes of the start and of the end of an event that are shown. */
const SHOWN_BYTES = 256;

/** So many lines are counted as an event though none has ended: comments are lines that belong to no event. */
const MAX_UNCOUNTED_LINES = 512;

/** An event that has arrived. */
export interface ArrivedEvent {
  readonly bytes: number;
  /** The first characters of the event and its last ones. */
  readonly shown: string;
}

/**
 * Passes a stream of server-sent events on event by event, with a pause when the slice of the event loop is over: one
 * chunk may hold hundreds of them. The next event is passed on when the one before was parsed.
 *
 * @param server shares the event loop with other servers and tenants
 * @param count receives each event before it is passed on; returns false to end the stream
 */
export function passOnEvents(
  body: ReadableStream<Uint8Array>,
  server: string,
  count: (event: ArrivedEvent) => boolean,
): ReadableStream<Uint8Array> {
  const chunks = body.getReader();
  const parts = splitEvents(chunks);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) return controller.close();
        if (incomingDataScheduler.isOver) await incomingDataScheduler.wait(server);
        if (value.event === undefined || count(value.event)) controller.enqueue(value.bytes);
        else controller.close();
      },
      cancel: (reason) => chunks.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Splits a stream where an event ends: gives bytes, and the event that ends with them. */
async function* splitEvents(
  chunks: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly event?: ArrivedEvent }, undefined> {
  const measure = new EventMeasure();
  for (let next = await chunks.read(); !next.done; next = await chunks.read()) {
    const { value } = next;
    let start = 0;
    for (let end = measure.findEnd(value, 0); end !== -1; end = measure.findEnd(value, start)) {
      const bytes = value.subarray(start, end);
      yield { bytes, event: measure.take(bytes) };
      start = end;
    }
    if (start === value.length) continue;
    measure.keep(value.subarray(start));
    yield { bytes: value.subarray(start) };
  }
  return undefined;
}

/** Measures an event while its bytes arrive. */
class EventMeasure {
  #bytes = 0;
  #lines = 0;
  #lineBytes = 0;
  #isAfterReturn = false;
  #start = Buffer.alloc(0);
  #end = Buffer.alloc(0);

  /** Returns the position after the end of the event that goes on at `start`; -1 when it has no end in the chunk. */
  findEnd(chunk: Uint8Array, start: number): number {
    for (let position = start; position < chunk.length; position++) {
      const byte = chunk[position];
      const isReturn = byte === RETURN;
      // A return and a newline together end one line.
      const endsLine = isReturn || (byte === NEWLINE && !this.#isAfterReturn);
      if (!endsLine && byte !== NEWLINE) this.#lineBytes++;
      this.#isAfterReturn = isReturn;
      if (!endsLine) continue;
      const isEmpty = this.#lineBytes === 0;
      this.#lineBytes = 0;
      this.#lines++;
      if (isEmpty || this.#lines === MAX_UNCOUNTED_LINES) return position + 1;
    }
    return -1;
  }

  /** Keeps the start and the end of an event that goes on in the next chunk. */
  keep(part: Uint8Array): void {
    this.#bytes += part.length;
    const missing = SHOWN_BYTES - this.#start.length;
    if (missing > 0) this.#start = Buffer.concat([this.#start, part.subarray(0, missing)]);
    this.#end = Buffer.concat([this.#end, part.subarray(-SHOWN_BYTES)]).subarray(-SHOWN_BYTES);
  }

  /** Returns the event that ends with these bytes, and begins with the next one. */
  take(part: Uint8Array): ArrivedEvent {
    this.keep(part);
    const event = {
      bytes: this.#bytes,
      shown: `${this.#start.toString('latin1')}\n${this.#end.toString('latin1')}`,
    };
    this.#bytes = 0;
    this.#lines = 0;
    this.#start = Buffer.alloc(0);
    this.#end = Buffer.alloc(0);
    return event;
  }
}
