import type Database from 'libsql';
import { recount, UsageChanges } from './retention/usage.js';
import { inTransaction, prepare, selectOne } from './statements.js';

/** The row of a run has its bytes when so many are new: a commit of many runs is not to write each row. */
const UNSAVED_BYTES = 16 * 1024;

/** The row of a run that has not settled. */
interface RunAtWork {
  readonly number: number;
  /** Null for a run of an earlier version that nobody has read yet. */
  readonly tenantId: string | null;
  /** Bytes that neither its row nor the sums of its tenant have yet. A crash forgets them until `find` counts them. */
  unsaved: number;
}

/** Remembers the rows of the runs that a connection writes, so that no commit looks them up again. */
export class RunsAtWork {
  readonly #database: Database.Database;
  readonly #runs = new Map<string, RunAtWork>();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  add(id: string, number: number, tenantId: string): void {
    this.#runs.set(id, { number, tenantId, unsaved: 0 });
  }

  /** Finds a run; one of an earlier process is counted. Undefined when it has settled or was removed. */
  find(id: string): RunAtWork | undefined {
    return this.#runs.get(id) ?? this.#read(id);
  }

  #read(id: string): RunAtWork | undefined {
    const row = selectOne<Pick<RunAtWork, 'number' | 'tenantId'>>(
      this.#database,
      'SELECT number, tenant AS tenantId FROM run WHERE id = ? AND removed = 0 AND state = 0',
      id,
    );
    if (row === undefined) return undefined;
    recount(this.#database, row.number);
    const run = { ...row, unsaved: 0 };
    this.#runs.set(id, run);
    return run;
  }

  /** Call when a run has settled or was removed. */
  delete(id: string): void {
    this.#runs.delete(id);
  }

  /** Counts bytes that were added to a run. @param usage receives the bytes when the row of the run gets them */
  countBytes(run: RunAtWork, bytes: number, usage: UsageChanges): void {
    run.unsaved += bytes;
    if (run.unsaved >= UNSAVED_BYTES) this.#writeBytes(run, usage);
  }

  /** Call before the connection is closed. */
  writeAllBytes(): void {
    const usage = new UsageChanges();
    inTransaction(this.#database, () => {
      for (const run of this.#runs.values()) if (run.unsaved > 0) this.#writeBytes(run, usage);
      usage.write(this.#database);
    });
  }

  #writeBytes(run: RunAtWork, usage: UsageChanges): void {
    const { number, tenantId, unsaved } = run;
    if (tenantId === null) return;
    run.unsaved = 0;
    prepare(this.#database, 'UPDATE run SET bytes = coalesce(bytes, 0) + ? WHERE number = ?').run(
      unsaved,
      number,
    );
    usage.add(tenantId, { bytes: unsaved });
  }
}
