import { parseJsonInSteps } from '../../../common/json/parse-json.js';
import { eventLoopBudget, nextSlice } from '../../../execution/run/event-loop-budget.js';
import type { StoredRunHead } from '../run-archive.js';
import type { FactsReading, StoredFact, StoredSubmission } from '../run-store.js';
import {
  type ChunkCursor,
  DocumentAssembler,
  type DocumentChunk,
  type StoredDocument,
} from './stored-documents.js';
import type { ChunkRequest } from './thread/store-thread.js';
import type { FairReader } from './thread-client.js';

/** The run was packed between two reads of it. */
class StaleReadError extends Error {}

/** Reads the documents of runs, a chunk at a time. Tenants take turns at it, not runs: one may open many of them. */
export class DocumentReader {
  readonly #reader: Pick<FairReader, 'read'>;

  constructor(reader: Pick<FairReader, 'read'>) {
    this.#reader = reader;
  }

  submission(
    runId: string,
    reading: Pick<FactsReading, 'tenantId'> = {},
  ): Promise<StoredSubmission | undefined> {
    return this.#untilFresh(() => this.#readFirst(runId, reading));
  }

  /** As `RunStore.facts`. */
  facts(runId: string, reading: FactsReading = {}): Promise<readonly StoredFact[]> {
    return this.#untilFresh(() => this.#readFacts(runId, reading));
  }

  /** Reads a run again that was packed while it was read. */
  async #untilFresh<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof StaleReadError)) throw error;
      }
    }
  }

  async #readFirst(
    runId: string,
    { tenantId }: Pick<FactsReading, 'tenantId'>,
  ): Promise<StoredSubmission | undefined> {
    for await (const { text, definition } of this.#documents(runId, { tenantId, most: 1 })) {
      const submission = (await parse(text)) as StoredSubmission;
      return definition === undefined ? submission : Object.assign(submission, await parse(definition));
    }
    return undefined;
  }

  async #readFacts(runId: string, reading: FactsReading): Promise<readonly StoredFact[]> {
    const facts: StoredFact[] = [];
    let isSubmission = true;
    for await (const { text } of this.#documents(runId, reading)) {
      if (!isSubmission) for (const fact of (await parse(text)) as readonly StoredFact[]) facts.push(fact);
      isSubmission = false;
    }
    return facts;
  }

  async *#documents(
    runId: string,
    { only, most, take, ...reading }: FactsReading & Pick<ChunkRequest, 'most'>,
  ): AsyncIterable<StoredDocument> {
    const tenantId = reading.tenantId ?? (await this.#findTenant(runId));
    const documents = new DocumentAssembler();
    for (let cursor: ChunkCursor | undefined; ; ) {
      const request = { kind: 'chunk', runId, cursor, only, most } as const;
      const chunk = (await this.#reader.read(request, tenantId)) as DocumentChunk;
      if (chunk.isStale) throw new StaleReadError();
      take?.(chunk.texts.reduce((sum, text) => sum + text.length, 0));
      for (const document of documents.add(chunk)) {
        yield document;
        if (eventLoopBudget.exhausted()) await nextSlice(eventLoopBudget);
      }
      if (chunk.next === undefined) return;
      cursor = chunk.next;
    }
  }

  /** To learn whose run it is takes the thread little time: runs take turns at that. */
  async #findTenant(runId: string): Promise<string> {
    const head = (await this.#reader.read({ kind: 'head', runId }, runId)) as StoredRunHead | undefined;
    return head?.tenantId ?? runId;
  }
}

/** Lets others have the event loop meanwhile: a value may have 10 MiB. To copy one from a thread would take as long. */
async function parse(text: string): Promise<unknown> {
  const steps = parseJsonInSteps(text);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (eventLoopBudget.exhausted()) await nextSlice(eventLoopBudget);
  }
}
