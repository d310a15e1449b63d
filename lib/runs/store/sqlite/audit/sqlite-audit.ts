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
  /** Rejects when the file cannot be written any more. */
  readonly #failed: Promise<never>;

  constructor(place: string, queue: CommitQueue, reader: FairReader, lastNumber: number) {
    this.#place = place;
    this.#queue = queue;
    this.#reader = reader;
    this.lastNumber = lastNumber;
    this.#failed = new Promise((_resolve, reject) => queue.onFailure(() => reject(this.#notReady())));
    this.#failed.catch(() => undefined);
  }

  add(row: AuditRow): void {
    this.lastNumber = row.number;
    this.#queue.addAudit(row);
  }

  kept(): Promise<void> {
    return Promise.race([this.#queue.auditKept(), this.#failed]);
  }

  async page(query: AuditQuery, range: AuditRange, caller: string): Promise<AuditRows> {
    return (await this.#reader.read({ kind: 'audit', query, range }, caller)) as AuditRows;
  }

  #notReady(): WavetrainError {
    const message = `the audit cannot be kept in ${this.#place} any more: the log of the server says why; start it again`;
    return new WavetrainError('not_ready', message, { fault: 'service' });
  }
}
