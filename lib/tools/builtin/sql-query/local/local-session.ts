import { distFile } from '../../../../common/files.js';
import { errorMessage, ToolError } from '../../../../common/errors.js';
import type { Json } from '../../../../common/json/json.js';
import { directLauncher, type Launcher } from '../../../../common/workers/launcher.js';
import { WorkerError } from '../../../../common/workers/protocol.js';
import { WorkerProcess } from '../../../../common/workers/worker-process.js';
import type { ToolContext } from '../../../tool.js';
import type { SqlColumn, SqlCursor, SqlRow, SqlSession } from '../database.js';
import { SQL_LIMITS } from '../limits.js';
import type { BoundStatement } from '../statement.js';
import type { LocalRequest, LocalResponse, OpenRequest } from './messages.js';

/** Attempts have time limits of their own: a process is killed when its attempt ends. */
const NO_LIMIT_MS = 2 ** 31 - 1;

type Process = WorkerProcess<LocalRequest, LocalResponse>;

/** Opens a file of a database in a worker, which can neither block this one nor take its memory. */
export async function openLocalSession(
  request: OpenRequest,
  launcher: Launcher = directLauncher,
  { clock, signal }: ToolContext,
): Promise<SqlSession> {
  const program = { file: distFile('sql-process.cjs'), memoryMiB: SQL_LIMITS.processMiB };
  const worker: Process = new WorkerProcess({ ...program, launcher, clock });
  const kill = (): void => worker.kill(new WorkerError('aborted', 'the query was stopped'));
  signal.addEventListener('abort', kill);
  try {
    await worker.ready();
    await ask(worker, request);
    return new LocalSession(worker, request);
  } catch (error) {
    kill();
    throw describeError(error, 'the database cannot be opened');
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

class LocalSession implements SqlSession {
  readonly #worker: Process;
  readonly #request: OpenRequest;
  #isUnfinished = false;
  #isFailed = false;

  constructor(worker: Process, request: OpenRequest) {
    this.#worker = worker;
    this.#request = request;
  }

  /** A file of DuckDB is open in one process only, and others wait for it. */
  get isUsable(): boolean {
    const { engine, path } = this.#request;
    return this.#worker.isAlive && !this.#isFailed && (engine === 'sqlite' || path === undefined);
  }

  async open({ text, values }: BoundStatement, rowLimit: number): Promise<SqlCursor> {
    const response = await ask(this.#worker, { kind: 'run', text, values, rowLimit });
    const columns = 'columns' in response ? (response.columns ?? []) : [];
    return new LocalCursor(this.#worker, columns, (isFinished) => (this.#isUnfinished = !isFinished));
  }

  describe(error: unknown): unknown {
    return describeError(error, 'the query failed');
  }

  async control(verb: 'begin' | 'commit'): Promise<void> {
    await ask(this.#worker, { kind: 'control', verb });
  }

  async cancel(): Promise<void> {
    this.#worker.kill(new WorkerError('aborted', 'the query was stopped'));
    await this.#worker.ended;
  }

  async reset(isUntouched: boolean): Promise<void> {
    if (!this.isUsable || (isUntouched && !this.#isUnfinished)) return;
    // Temporary tables of one task would be there for the next one, and a statement that has more rows locks the file.
    this.#isFailed = true;
    await ask(this.#worker, this.#request);
    this.#isFailed = false;
    this.#isUnfinished = false;
  }

  // A process that nobody awaits does not keep this one alive.
  keepAlive(): void {}

  close(): void {
    this.#worker.kill(new WorkerError('closed', 'the database was closed'));
  }
}

class LocalCursor implements SqlCursor {
  changed: number | undefined;
  readonly columns: readonly SqlColumn[];
  readonly #worker: Process;
  readonly #setFinished: (isFinished: boolean) => void;
  #isFinished = false;

  constructor(worker: Process, columns: readonly SqlColumn[], setFinished: (isFinished: boolean) => void) {
    this.#worker = worker;
    this.columns = columns;
    this.#setFinished = setFinished;
    setFinished(false);
  }

  async read(): Promise<readonly SqlRow[] | undefined> {
    if (this.#isFinished) return undefined;
    const response = await ask(this.#worker, { kind: 'next' });
    const rows = 'rows' in response ? response.rows : undefined;
    if (rows !== undefined) return readRows(rows);
    this.changed = 'changed' in response ? response.changed : undefined;
    this.#isFinished = true;
    this.#setFinished(true);
    return undefined;
  }

  // A statement that is not finished ends with its worker.
  async close(): Promise<void> {}
}

function readRows(pieces: readonly string[]): readonly SqlRow[] {
  const rows: Json[][] = JSON.parse(pieces.join(''));
  return rows;
}

/** Rejects with a ToolError or a WorkerError. */
async function ask(
  worker: Process,
  request: LocalRequest,
): Promise<Extract<LocalResponse, { readonly ok: true }>> {
  const response = await worker.answer(request, NO_LIMIT_MS);
  if (response.ok) return response;
  throw new ToolError(response.error, { retryable: response.isPassing });
}

/** @param what failed */
function describeError(error: unknown, what: string): ToolError {
  const retryable = error instanceof ToolError && error.retryable;
  const reason =
    error instanceof WorkerError && error.failure === 'out_of_memory'
      ? `it takes more than ${SQL_LIMITS.processMiB} MiB of memory`
      : errorMessage(error);
  return new ToolError(`${what}: ${reason}`, { retryable, cause: error });
}
