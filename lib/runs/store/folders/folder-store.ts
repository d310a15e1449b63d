import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { WavetrainError } from '../../../common/errors.js';
import { describeErrno } from '../../../common/files.js';
import { HISTORY_LIMITS } from '../../../common/limits.js';
import type { FactLog } from '../../../execution/history/run-history.js';
import type { RunSummary } from '../../record.js';
import type { ForgottenKey } from '../../idempotency.js';
import { type Batch, CommitQueue } from '../commit-queue.js';
import {
  FACT_FILE,
  RUN_FILE,
  type RunFolders,
  type SavedCommand,
  type ShellRun,
  SUMMARY_FILE,
} from './run-folders.js';
import type { StoredRunHead } from '../run-archive.js';
import type { KeptSource, RunStore, StoredFact, StoredRun, StoredSubmission } from '../run-store.js';
import { endsSettled, type Piece } from '../run-writer.js';

interface FolderStoreOptions {
  /** The command that runs. Without it, runs are only read. */
  readonly command?: SavedCommand;
  /** The earlier runs that can be read, the oldest first. Default: none. */
  readonly earlier?: readonly ShellRun[];
  /** Gives an earlier run that has not settled an end, as if it had been stopped. Default: false. */
  readonly endsEarlier?: boolean;
  /** The largest number of bytes of the facts of a run. Default: those of the whole history. */
  readonly runBytes?: number;
}

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * Keeps the runs of a shell in a folder (D68). It writes what it adds itself, and only reads what other shells have added.
 * The shell promises nothing to others: a commit is handed to the system, which keeps it when this process is killed; the
 * disk is waited for once, when a run has settled. A run goes on without its history when that cannot be written.
 */
export class FolderStore implements RunStore {
  readonly place: string;
  readonly filesFolder: string;
  readonly isOptional = true;
  lastNumber: number;
  readonly lastCreatedAt = 0;
  readonly #folders: RunFolders;
  readonly #options: FolderStoreOptions;
  readonly #queue: CommitQueue;
  readonly #own = new Map<string, StoredRun>();
  /** The runs of which the submission, the first document, was passed over: `run.json` has it. */
  readonly #begun = new Set<string>();
  /** Of the facts of each run. */
  readonly #bytes = new Map<string, number>();

  constructor(folders: RunFolders, options: FolderStoreOptions = {}) {
    this.place = folders.path;
    this.filesFolder = folders.runs;
    this.#folders = folders;
    this.#options = options;
    this.lastNumber = options.earlier?.length ?? 0;
    this.#queue = new CommitQueue((batch) => this.#keep(batch), this.isOptional);
  }

  add(run: StoredRun, source?: KeptSource): void {
    if (this.#options.command === undefined) return;
    this.lastNumber = run.number;
    this.#own.set(run.id, run);
    try {
      // The folder is there before the tools of the run begin: the bytes that they return are files in it.
      this.#makeFolder(run.id);
    } catch {
      // The first commit of the run fails as well, and says why.
    }
    this.#queue.add(run, source);
  }

  log(runId: string, tenantId: string): FactLog {
    return {
      append: (fact) => {
        if (this.#own.has(runId)) this.#queue.append(runId, tenantId, fact);
      },
      committed: () => this.#queue.committed(runId),
    };
  }

  /** The shell has no idempotency keys. */
  addKey(): void {}

  removeKey(): void {}

  async keys(): Promise<readonly ForgottenKey[]> {
    return [];
  }

  /** Deletes a run of this process. The runs of other processes stay. */
  remove(runId: string): void {
    if (this.#own.has(runId)) this.#queue.remove(runId);
  }

  settled(summary: RunSummary): void {
    const { run_id: id } = summary;
    if (!this.#own.has(id)) return;
    try {
      writeFileSync(join(this.#folders.folder(id), SUMMARY_FILE), JSON.stringify(summary), {
        mode: PRIVATE_FILE,
      });
    } catch {
      // The facts have the end as well, or the failure to write them was reported.
    }
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  onFailure(listener: (error: Error) => void): void {
    this.#queue.onFailure(listener);
  }

  async *heads(): AsyncIterable<StoredRunHead> {
    let number = 0;
    for (const { id, createdAt, submission } of this.#options.earlier ?? []) {
      const { tenant_id: tenantId, idempotency } = submission;
      const facts = await this.facts(id);
      const last = facts.at(-1);
      const hasSettled = last !== undefined && 'kind' in last && last.kind === 'settled';
      yield { id, number: ++number, createdAt, tenantId, hasSettled, idempotency };
    }
  }

  async submission(runId: string): Promise<StoredSubmission | undefined> {
    return this.#options.earlier?.find(({ id }) => id === runId)?.submission;
  }

  async facts(runId: string): Promise<readonly StoredFact[]> {
    const facts = await this.#folders.facts(runId);
    const run = this.#options.earlier?.find(({ id }) => id === runId);
    return this.#options.endsEarlier && run ? endFacts(run, facts) : facts;
  }

  close(): Promise<void> {
    return this.#queue.idle();
  }

  async #keep({ added, pieces, removed }: Batch): Promise<void> {
    try {
      for (const { id } of added) this.#addFolder(id);
      for (const piece of pieces) this.#append(piece);
      const settled = pieces.filter(({ text }) => endsSettled(text));
      for (const id of removed) this.#folders.remove(id);
      for (const { runId } of settled) await this.#flush(runId);
    } catch (cause) {
      const message = `cannot write to ${this.place}: ${describeErrno(cause)}`;
      throw new WavetrainError('unreadable_file', message, { cause });
    }
  }

  #addFolder(id: string): void {
    const run = this.#own.get(id);
    const { command } = this.#options;
    if (run === undefined || command === undefined) return;
    this.#makeFolder(id);
    const shellRun: ShellRun = { ...run, pid: this.#folders.pid, command };
    const file = join(this.#folders.folder(id), RUN_FILE);
    writeFileSync(file, JSON.stringify(shellRun), { flag: 'wx', mode: PRIVATE_FILE });
    this.#folders.prune();
  }

  #makeFolder(id: string): void {
    const { path, runs } = this.#folders;
    if (mkdirSync(runs, { recursive: true, mode: PRIVATE_FOLDER }) !== undefined) {
      // Nobody wants the history of their runs in the history of their code.
      writeFileSync(join(path, '.gitignore'), '*\n', { mode: PRIVATE_FILE });
    }
    mkdirSync(this.#folders.folder(id), { recursive: true, mode: PRIVATE_FOLDER });
  }

  #append({ runId, text, goesOn }: Piece): void {
    if (!this.#begun.has(runId)) {
      if (!goesOn) this.#begun.add(runId);
      return;
    }
    const line = goesOn ? text : `${text}\n`;
    const bytes = (this.#bytes.get(runId) ?? 0) + Buffer.byteLength(line);
    this.#bytes.set(runId, bytes);
    if (bytes > (this.#options.runBytes ?? HISTORY_LIMITS.bytes)) {
      throw Object.assign(new Error('the run has become too large'), { code: 'EFBIG' });
    }
    appendFileSync(join(this.#folders.folder(runId), FACT_FILE), line, { mode: PRIVATE_FILE });
  }

  async #flush(id: string): Promise<void> {
    for (const name of [RUN_FILE, FACT_FILE]) {
      const file = await open(join(this.#folders.folder(id), name), 'r+');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
    }
  }
}

/**
 * The facts of a run as if it had been stopped after the last of them. Pipelines that were at work inside an attempt are
 * left out: rebuilding them would call the tool of that attempt.
 */
function endFacts({ createdAt }: ShellRun, facts: readonly StoredFact[]): readonly StoredFact[] {
  const last = facts.at(-1);
  const latest = last !== undefined && 'kind' in last ? last : undefined;
  if (latest?.kind === 'settled') return facts;
  const at = latest?.at ?? createdAt;
  const known = facts.filter((fact) => !('place' in fact && fact.place.includes('#')));
  return [...known, { kind: 'cancel', at, force: true }, { kind: 'settled', at }];
}
