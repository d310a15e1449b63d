import type { Fact } from '../../execution/history/fact.js';
import type { KeptSource, StoredSubmission } from './run-store.js';

/** What takes more than this, in bytes, is written apart, so that other runs need not wait for it. */
const LARGE_BYTES = 64 * 1024;

/** Ends the facts of a run that has settled: `"kind":"settled"` has a time only. */
const SETTLED = /\{"kind":"settled","at":\d+\}\]$/;

/** So many characters at the end of a text say whether it is the last of a run that has settled. */
export const SETTLED_LENGTH = 50;

/** Whether a text of facts, or its end, is the last of a run that has settled. */
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

/** What a run has written and is not kept yet: one JSON document. */
type Segment = SmallSegment | LargeSegment;

interface SmallSegment {
  /** The parts of its text. */
  readonly texts: readonly string[];
  readonly kept: Deferred;
}

interface LargeSegment {
  readonly document: unknown;
  /** The documents that follow, each made when the one before is kept. */
  readonly rest?: Iterator<unknown>;
  readonly kept: Deferred;
}

/** What one run writes, in order. */
export class RunWriter {
  readonly id: string;
  readonly tenantId: string;
  readonly segments: Segment[] = [];
  /** Facts may be added to the last segment. */
  #open: string[] | undefined;
  #last: Promise<void> = DONE;

  constructor(id: string, tenantId: string) {
    this.id = id;
    this.tenantId = tenantId;
  }

  /** Resolves when everything so far is kept. */
  get kept(): Promise<void> {
    return this.#last;
  }

  addSubmission(submission: StoredSubmission, bytes: number): void {
    if (bytes > LARGE_BYTES) this.#add({ document: submission, kept: new Deferred() });
    else this.#add({ texts: [JSON.stringify(submission)], kept: new Deferred() });
  }

  /** What a rerun may reuse: each part is a document, unless all of them are small. */
  addSource({ bytes, parts }: KeptSource): void {
    if (bytes <= LARGE_BYTES) {
      return this.#add({ texts: [JSON.stringify([...parts])], kept: new Deferred() });
    }
    const rest = toDocuments(parts);
    const { value: document } = rest.next();
    this.#add({ document, rest, kept: new Deferred() });
  }

  append(fact: Fact): void {
    if (fact.kind === 'succeeded' && fact.bytes > LARGE_BYTES) {
      return this.#add({ document: [fact], kept: new Deferred() });
    }
    // At once: all facts of a commit together would hold the event loop for long.
    const text = JSON.stringify(fact);
    if (this.#open !== undefined) return void this.#open.push(',', text);
    const texts = ['[', text];
    this.#add({ texts, kept: new Deferred() });
    this.#open = texts;
  }

  #add(segment: Segment): void {
    this.segments.push(segment);
    this.#last = segment.kept.promise;
    this.#open = undefined;
  }

  /** Removes the next large document: those that follow it stay. */
  takeLarge(): Pick<LargeSegment, 'document' | 'kept'> {
    const segment = this.take() as LargeSegment;
    const { document, rest, kept } = segment;
    const next = rest?.next();
    if (rest === undefined || next === undefined || next.done === true) return segment;
    this.segments.unshift({ document: next.value, rest, kept });
    return { document, kept: new Deferred() };
  }

  /** Removes the first segment: what follows does not belong to it. */
  take(): Segment | undefined {
    if (this.segments.length === 1) this.#open = undefined;
    return this.segments.shift();
  }
}

function* toDocuments(parts: KeptSource['parts']): Iterator<unknown> {
  for (const part of parts) yield [part];
}

const DONE = Promise.resolve();
