import type {
  AuditQuery,
  AuditRange,
  AuditRow,
  AuditRows,
  AuditStore,
} from '../../../../audit/audit-store.js';
import { WavetrainError } from '../../../../common/errors.js';
import type { CommitQueue } from '../../commit-queue.js';
import type { FairReader } from '../thread-client.js';

/** The audit of a server in the SQLite file of its runs (D95). An entry is in the commit of what it is about. */
export class SqliteAudit implements AuditStore {
  readonly #place: string;
  readonly #queue: CommitQueue;
  readonly #reader: FairReader;
  lastNumber: number;
  /** Rejects the callers that wait for the next commits. */
  readonly #waiting = new Set<(error: Error) => void>();
  #hasFailed = false;

  constructor(place: string, queue: CommitQueue, reader: FairReader, lastNumber: number) {
    this.#place = place;
    this.#queue = queue;
    this.#reader = reader;
    this.lastNumber = lastNumber;
    queue.onFailure(() => this.#fail());
  }

  add(row: AuditRow): void {
    this.lastNumber = row.number;
    this.#queue.addAudit(row);
  }

  kept(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#hasFailed) return reject(this.#notReady());
      this.#waiting.add(reject);
      void this.#queue.auditKept().then(() => {
        this.#waiting.delete(reject);
        resolve();
      });
    });
  }

  async page(query: AuditQuery, range: AuditRange, caller: string): Promise<AuditRows> {
    return (await this.#reader.read({ kind: 'audit', query, range }, caller)) as AuditRows;
  }

  /** The file cannot be written any more. */
  #fail(): void {
    this.#hasFailed = true;
    for (const reject of this.#waiting) reject(this.#notReady());
    this.#waiting.clear();
  }

  #notReady(): WavetrainError {
    const message = `the audit cannot be kept in ${this.#place} any more: the log of the server says why; start it again`;
    return new WavetrainError('not_ready', message, { fault: 'service' });
  }
}
