/** The durations of two neighbouring buckets differ by so much: the middle of a bucket is off by 4.9 % at most. */
const BASE = Math.log(1.1);

/** The first bucket of two durations, 14 and 15 ms: those before are rounded to the only one that they have. */
const FIRST_SHARED_BUCKET = 29;

/** The digits of an estimate: rounding adds less to the error than is left of 5 %. */
const DIGITS = 4;

/**
 * Counts durations in buckets, so that any share of them can be estimated within 5 %, whatever their number is. Merging the
 * sketches of parts is the same as counting all of it in one.
 */
export class DurationSketch {
  /** By bucket. */
  readonly #counts: number[] = [];
  #total = 0;

  /** @param ms whole milliseconds */
  add(ms: number): void {
    this.#count(toBucket(ms), 1);
  }

  /** Adds what another sketch has counted. @param start of its bytes, which go on to `end`. Default: all of them. */
  merge(encoded: Uint8Array, start = 0, end: number = encoded.length): void {
    const reader = new VarintReader(encoded, start, end);
    for (let bucket = 0; !reader.isDone; ) {
      bucket += reader.next();
      this.#count(bucket, reader.next());
    }
  }

  /** Keeps its room for the next durations. */
  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }

  #count(bucket: number, count: number): void {
    while (this.#counts.length <= bucket) this.#counts.push(0);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#total += count;
  }

  /** For each bucket with durations, its distance from the one before and its count, as varints. */
  encode(): Uint8Array {
    const bytes: number[] = [];
    let last = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      if (count === 0) continue;
      writeVarint(bytes, bucket - last);
      writeVarint(bytes, count);
      last = bucket;
    }
    return Uint8Array.from(bytes);
  }

  /** The smallest duration that is not exceeded by this share of them, in milliseconds; null without durations. */
  quantile(share: number): number | null {
    const rank = Math.max(1, Math.ceil(share * this.#total));
    let counted = 0;
    // An iterator takes five times as long, and there are thousands of sketches.
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      counted += this.#counts[bucket] ?? 0;
      if (counted >= rank) return toMs(bucket);
    }
    return null;
  }
}

/** Bucket 0 has the runs that took no time, bucket 1 one millisecond. */
function toBucket(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.round(Math.log(ms) / BASE);
}

function toMs(bucket: number): number {
  if (bucket === 0) return 0;
  const ms = Math.exp((bucket - 1) * BASE);
  return bucket < FIRST_SHARED_BUCKET ? Math.round(ms) : Number(ms.toPrecision(DIGITS));
}

/** Seven bits in each byte, the lowest first; another byte follows one with the eighth. Bit operators end at 32 bits. */
function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  bytes.push(rest);
}

class VarintReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#end = end;
    this.#at = start;
  }

  get isDone(): boolean {
    return this.#at >= this.#end;
  }

  next(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte % 0x80) * unit;
      if (byte < 0x80) return value;
    }
  }
}
