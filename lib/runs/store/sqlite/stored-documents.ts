import type { StoredSubmission } from '../run-store.js';

/** The place in the documents of a run up to which they were read. */
export interface ChunkCursor {
  /** Parts that were read, of all that there were at first. */
  readonly part: number;
  readonly parts: number;
  /** The last piece that was read. */
  readonly n: number;
}

/** The next texts of a run: documents as JSON, each with a line break at its end. */
export interface DocumentChunk {
  readonly texts: readonly string[];
  /** Undefined at the end. */
  readonly next: ChunkCursor | undefined;
  /** The definition of the submission, with the first chunk, when it is kept apart. */
  readonly definition: string | undefined;
  /** The run was packed since the first chunk: read all again. */
  readonly isStale: boolean;
}

/** One of the documents that are kept of a run: the submission is the first, and lists of facts follow. */
export interface StoredDocument {
  /** JSON. */
  readonly text: string;
  /** The part of a submission that other runs share, as JSON; undefined when it is in the text. */
  readonly definition: string | undefined;
}

/** Puts the documents of a run together from the chunks in which they are read. */
export class DocumentAssembler {
  #definition: string | undefined;
  #rest = '';

  /** Lists the documents that end in a chunk. Read them all before the next chunk is added. */
  *add({ texts, definition }: DocumentChunk): Iterable<StoredDocument> {
    this.#definition ??= definition;
    for (const piece of texts) {
      const [first = '', ...lines] = piece.split('\n');
      this.#rest += first;
      for (const line of lines) {
        yield { text: this.#rest, definition: this.#definition };
        this.#rest = line;
      }
    }
  }
}

export function parseSubmission({ text, definition }: StoredDocument): StoredSubmission {
  return Object.assign(JSON.parse(text), definition && JSON.parse(definition)) as StoredSubmission;
}
