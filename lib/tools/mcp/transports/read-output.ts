import type { Clock } from '../../../common/clock.js';
import { MCP_LIMITS } from '../../../common/limits.js';
import { incomingDataScheduler } from '../../../common/scheduling/event-loop-scheduler.js';
import { LeakyBucket } from '../../../common/scheduling/rate-limiter.js';
import { LineReader } from '../../../common/requests/line-reader.js';
import { ByteMeter } from '../../../common/requests/meter.js';

const NEWLINE = 0x0a;

/** Maximum length of a line that a server logs. */
const MAX_LOG_LINE = 4000;

/**
 * Hands on the output of a started server line by line, with a pause when the slice of the event loop is over: a chunk may
 * hold hundreds of messages. The next chunk is read when the lines of this one were taken, so that a server that sends
 * faster has to wait. Resolves at the end of the output, or when `take` returns false. Rejects when it ends too early.
 *
 * @param server shares the event loop with other servers and tenants
 * @param take receives a line with its end, or a part of one
 */
export async function readInTurns(
  output: AsyncIterable<Uint8Array>,
  server: string,
  take: (part: Uint8Array) => boolean,
): Promise<void> {
  for await (const chunk of output) {
    for (const part of linesOf(chunk)) {
      if (incomingDataScheduler.isOver) await incomingDataScheduler.wait(server);
      if (!take(part)) return;
    }
  }
}

/** Lines with their ends; the last one may lack it. */
function* linesOf(chunk: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
    yield chunk.subarray(start, end + 1);
    start = end + 1;
  }
  if (start < chunk.length) yield chunk.subarray(start);
}

/** Reads the lines that a started server writes to its standard error. Too many of them are left out. */
export class LogLines {
  readonly #lines: LineReader;
  readonly #bucket: LeakyBucket;
  readonly #onLine: (line: string) => void;
  #isFull = false;

  constructor(clock: Clock, onLine: (line: string) => void) {
    this.#onLine = onLine;
    this.#lines = new LineReader(new ByteMeter(MAX_LOG_LINE), onLine, () => onLine('(a longer line)'));
    this.#bucket = new LeakyBucket(clock, MCP_LIMITS.logLinesAtOnce, MCP_LIMITS.logLinesPerSecond);
  }

  /** @param part a line with its end, or a part of one */
  push(part: Uint8Array): void {
    const hasRoom = this.#bucket.add(1);
    if (hasRoom) this.#lines.push(part);
    else if (!this.#isFull) this.#onLine('(more lines at once than are read)');
    this.#isFull = !hasRoom;
  }

  end(): void {
    this.#lines.end();
  }
}
