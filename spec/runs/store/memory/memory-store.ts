import type { FactLog } from '../../../../lib/execution/history/run-history.js';
import type { ForgottenKey } from '../../../../lib/runs/idempotency.js';
import { type AddedRun, type Batch, CommitQueue } from '../../../../lib/runs/store/commit-queue.js';
import type { RunArchive, RunEnd, StoredRunHead } from '../../../../lib/runs/store/run-archive.js';
import type {
  KeptSource,
  RunStore,
  StoredFact,
  StoredRun,
  StoredSubmission,
  FactsReading,
} from '../../../../lib/runs/store/run-store.js';
import { hasSettled, MemoryArchive, removeRun } from './memory-archive.js';

/** The content of a disk: documents as text, by run. */
export interface Disk {
  readonly runs: Map<string, AddedRun>;
  readonly documents: Map<string, string[]>;
  /** Documents of which the last piece is missing. */
  readonly unfinished: Map<string, string>;
  /** Keys of runs that are no longer kept, by tenant and key. */
  readonly keys: Map<string, ForgottenKey>;
  readonly ends: Map<string, RunEnd>;
  /** The ends of all runs, also of those that were removed: statistics count them. */
  counted: RunEnd[];
  /** Removed runs whose files are left for reruns, each with the run that it repeats. */
  readonly removed: Map<string, string | undefined>;
  /** Where the files of runs are. */
  readonly filesFolder?: string | undefined;
}

export function createDisk(filesFolder?: string): Disk {
  return {
    runs: new Map(),
    documents: new Map(),
    unfinished: new Map(),
    keys: new Map(),
    ends: new Map(),
    counted: [],
    removed: new Map(),
    filesFolder,
  };
}

/** Keeps runs on a disk that is none. */
export class MemoryStore implements RunStore {
  readonly place = 'memory';
  readonly isOptional = false;
  readonly archive: RunArchive;
  readonly filesFolder?: string;
  lastNumber = 0;
  lastCreatedAt = 0;
  /** Set to a promise that commits wait for. */
  hold: Promise<void> | undefined;
  /** Set to an error that the next commit fails with. */
  fault: Error | undefined;
  readonly #disk: Disk;
  readonly #queue: CommitQueue;

  constructor(disk: Disk) {
    this.#disk = disk;
    if (disk.filesFolder !== undefined) this.filesFolder = disk.filesFolder;
    disk.unfinished.clear();
    for (const { number, createdAt } of disk.runs.values()) {
      this.lastNumber = number;
      this.lastCreatedAt = createdAt;
    }
    this.#queue = new CommitQueue(async (batch) => {
      await this.hold;
      if (this.fault !== undefined) throw this.fault;
      keep(disk, batch);
    });
    this.archive = new MemoryArchive(disk, this.#queue);
  }

  add(run: StoredRun, source?: KeptSource): void {
    this.lastNumber = run.number;
    this.lastCreatedAt = run.createdAt;
    this.#queue.add(run, source);
  }

  log(runId: string, tenantId: string): FactLog {
    return {
      append: (fact) => this.#queue.append(runId, tenantId, fact),
      committed: () => this.#queue.committed(runId),
    };
  }

  remove(runId: string): void {
    this.#queue.remove(runId);
  }

  addKey(key: ForgottenKey): void {
    this.#queue.addKey(key);
  }

  removeKey(tenantId: string, key: string): void {
    this.#queue.removeKey(tenantId, key);
  }

  async keys(): Promise<readonly ForgottenKey[]> {
    return [...this.#disk.keys.values()].toSorted((a, b) => a.expiresAt - b.expiresAt);
  }

  /** Resolves when everything so far is kept, or never will be. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  onFailure(listener: (error: Error) => void): void {
    this.#queue.onFailure(listener);
  }

  async *heads(): AsyncIterable<StoredRunHead> {
    for (const run of this.#disk.runs.values()) {
      if (!this.#disk.ends.has(run.id)) yield { ...run, hasSettled: hasSettled(this.#disk, run.id) };
    }
  }

  async submission(runId: string): Promise<StoredSubmission | undefined> {
    return this.#read(runId)[0] as StoredSubmission | undefined;
  }

  async facts(runId: string, { take }: FactsReading = {}): Promise<readonly StoredFact[]> {
    const [, ...lists] = this.#read(runId);
    for (const list of lists) take?.(JSON.stringify(list).length);
    return lists.flat() as StoredFact[];
  }

  async close(): Promise<void> {
    await this.#queue.idle();
  }

  #read(runId: string): unknown[] {
    return (this.#disk.documents.get(runId) ?? []).map((text) => JSON.parse(text) as unknown);
  }
}

function keep(disk: Disk, { added, pieces, ends, removed, addedKeys, removedKeys }: Batch): void {
  for (const { tenantId, key } of removedKeys) disk.keys.delete(JSON.stringify([tenantId, key]));
  for (const key of addedKeys) disk.keys.set(JSON.stringify([key.tenantId, key.key]), key);
  for (const run of added) disk.runs.set(run.id, run);
  const { unfinished } = disk;
  for (const { runId, text, goesOn } of pieces) {
    if (!disk.runs.has(runId)) continue;
    const document = (unfinished.get(runId) ?? '') + text;
    if (goesOn) unfinished.set(runId, document);
    else disk.documents.set(runId, [...(disk.documents.get(runId) ?? []), document]);
    if (!goesOn) unfinished.delete(runId);
  }
  for (const end of ends) {
    const { run_id: runId } = end.summary;
    if (!disk.runs.has(runId) || disk.ends.has(runId)) continue;
    disk.ends.set(runId, end);
    disk.counted.push(end);
  }
  for (const id of removed) removeRun(disk, id);
}
