import { JsonWriter } from '../../common/json/json-writer.js';
import { endOfPiece } from '../../common/text.js';
import type { Fact } from '../../execution/history/fact.js';
import type { RunEnd } from './run-archive.js';
import type { KeptSource, StoredSubmission } from './run-store.js';

/** The longest text that is kept at once, in UTF-16 code units: between two of them, other runs are kept. */
export const MAX_PIECE_LENGTH = 256 * 1024;

/** A value that takes more than this, in bytes, is a document of its own: its text is made bit by bit. */
const LARGE_BYTES = 64 * 1024;

/** Ends the facts of a run that has settled: `"kind":"settled"` has a time only. */
const SETTLED = /\{"kind":"settled","at":\d+\}\]$/;

/** So many characters at the end of a text say whether it is the last of a run that has settled. */
export const SETTLED_LENGTH = 50;

/** Returns true when a text of facts, or its end, is the last of a run that has settled. */
export function endsSettled(text: string): boolean {
  return SETTLED.test(text.slice(-SETTLED_LENGTH));
}

/** A promise that is resolved when something is kept. */
export class Deferred {
  resolve: () => void = () => {};
  readonly promise = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}

/** A JSON document of a run, or a part of one: its submission first, then lists of what it may reuse and of facts. */
export interface Piece {
  readonly runId: string;
  readonly text: string;
  /** The document goes on with the next piece of the run. */
  readonly goesOn: boolean;
}

/** An entry to be written: a document, documents that are made one after the other, a fact, or the end of the run. */
type Entry =
  | { readonly document: unknown }
  | { readonly documents: Iterator<unknown> }
  | Fact
  | { readonly end: RunEnd };

/** A promise to those who wait until so many entries are kept. */
interface Waiter {
  readonly entries: number;
  readonly kept: Deferred;
}

/**
 * Writes the entries of one run in order. Their text is made only when it is kept, a piece at a time: until then, facts
 * refer to values that the run has in memory, and pays for.
 */
export class RunWriter {
  readonly id: string;
  readonly tenantId: string;
  /** True while the writer is in the queue of those that have something to write. */
  isQueued = false;
  #entries: Entry[] = [];
  /** The entries before this index were written. */
  #next = 0;
  /** The document of which pieces are written. */
  #document: JsonWriter | undefined;
  /** The text that is left of the last chunks of the document. */
  #rest = '';
  #added = 0;
  #written = 0;
  #kept = 0;
  #waiters: Waiter[] = [];

  constructor(id: string, tenantId: string) {
    this.id = id;
    this.tenantId = tenantId;
  }

  get isEmpty(): boolean {
    return this.#next === this.#entries.length && this.#document === undefined;
  }

  get isKept(): boolean {
    return this.#kept === this.#added;
  }

  /** Entries that are written to their ends. */
  get written(): number {
    return this.#written;
  }

  addSubmission(submission: StoredSubmission): void {
    this.#add({ document: submission });
  }

  /** Adds the parts that a rerun may reuse: each is a document, unless all of them are small. */
  addSource({ bytes, parts }: KeptSource): void {
    if (bytes <= LARGE_BYTES) this.#add({ document: [...parts] });
    else this.#add({ documents: toDocuments(parts) });
  }

  append(fact: Fact): void {
    this.#add(fact);
  }

  /** Adds the end of the run, which is kept with the last piece before it. */
  addEnd(end: RunEnd): void {
    this.#add({ end });
  }

  #add(entry: Entry): void {
    this.#entries.push(entry);
    this.#added++;
  }

  committed(): Promise<void> {
    if (this.isKept) return DONE;
    let last = this.#waiters.at(-1);
    if (last?.entries !== this.#added) {
      last = { entries: this.#added, kept: new Deferred() };
      this.#waiters.push(last);
    }
    return last.kept.promise;
  }

  /** Call when so many entries are kept. */
  onKept(entries: number): void {
    this.#kept = entries;
    const waiting = this.#waiters.findIndex((waiter) => waiter.entries > entries);
    const done = this.#waiters.splice(0, waiting === -1 ? this.#waiters.length : waiting);
    for (const { kept } of done) kept.resolve();
  }

  /** Call when nothing more of it will be kept, and nobody needs to wait. */
  giveUp(): void {
    this.#entries = [];
    this.#next = 0;
    this.#document = undefined;
    this.onKept(this.#added);
  }

  /** The next piece; undefined when nothing but the end of the run is left. */
  take(): Piece | undefined {
    while (this.#document === undefined) {
      const entry = this.#entries[this.#next];
      if (entry === undefined || 'end' in entry) return undefined;
      if ('document' in entry) this.#document = new JsonWriter(entry.document);
      else if ('documents' in entry) this.#openNext(entry.documents);
      else if (isLarge(entry)) this.#document = new JsonWriter([entry]);
      else return { runId: this.id, text: this.#takeFacts(), goesOn: false };
    }
    return this.#takePiece(this.#document);
  }

  /** The end of the run; undefined when other entries are to be written before, or there is none. */
  takeEnd(): RunEnd | undefined {
    const entry = this.#document === undefined ? this.#entries[this.#next] : undefined;
    if (entry === undefined || !('end' in entry)) return undefined;
    this.#advance();
    return entry.end;
  }

  #openNext(documents: Iterator<unknown>): void {
    const next = documents.next();
    if (next.done === true) this.#advance();
    else this.#document = new JsonWriter(next.value);
  }

  /** One document of as many facts as make a piece. */
  #takeFacts(): string {
    let text = '[';
    for (;;) {
      const entry = this.#entries[this.#next];
      const isFact = entry !== undefined && 'kind' in entry && !isLarge(entry);
      if (!isFact || text.length >= MAX_PIECE_LENGTH) return `${text}]`;
      text += text.length === 1 ? JSON.stringify(entry) : `,${JSON.stringify(entry)}`;
      this.#advance();
    }
  }

  #takePiece(document: JsonWriter): Piece {
    let isWhole = false;
    while (this.#rest.length <= MAX_PIECE_LENGTH && !isWhole) {
      const chunk = document.next();
      this.#rest += chunk;
      isWhole = chunk === '';
    }
    // Two surrogates that are parted would not be the same text in UTF-8.
    const end = endOfPiece(this.#rest, 0, MAX_PIECE_LENGTH);
    const piece = {
      runId: this.id,
      text: this.#rest.slice(0, end),
      goesOn: !isWhole || end < this.#rest.length,
    };
    this.#rest = this.#rest.slice(end);
    if (!piece.goesOn) this.#closeDocument();
    return piece;
  }

  #closeDocument(): void {
    this.#document = undefined;
    const entry = this.#entries[this.#next];
    // More documents of the same entry may follow.
    if (entry === undefined || !('documents' in entry)) this.#advance();
  }

  #advance(): void {
    this.#next++;
    this.#written++;
    if (this.#next < this.#entries.length) return;
    this.#entries = [];
    this.#next = 0;
  }
}

function isLarge(fact: Fact): boolean {
  return fact.kind === 'succeeded' && fact.bytes > LARGE_BYTES;
}

function* toDocuments(parts: KeptSource['parts']): Iterator<unknown> {
  for (const part of parts) yield [part];
}

const DONE = Promise.resolve();
