import { Worker } from 'node:worker_threads';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import { FairQueue } from '../../../common/scheduling/fair-queue.js';
import type { ReadRequest, StoreAnswer, StoreRequest, ThreadOptions } from './thread/store-thread.js';

/** A thread that has the file open. It answers in the order of the requests. */
export class StoreThread {
  readonly #worker: Worker;
  readonly #waiting: {
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  /** Resolves when the file is open: of the thread that writes, with the last run. */
  readonly opened: Promise<unknown>;
  /** Why the thread answers no more. */
  #fault: Error | undefined;

  constructor(program: string, data: ThreadOptions) {
    // The program is a bundle: whatever the process has preloaded (--import) would be loaded again for nothing.
    this.#worker = new Worker(program, { workerData: data, execArgv: [] });
    // Runs that wait for the thread keep the process alive themselves.
    this.#worker.unref();
    this.opened = this.#next();
    this.#worker.on('message', (answer: StoreAnswer) => {
      const waiting = this.#waiting.shift();
      if (answer.ok) waiting?.resolve(answer.value);
      else waiting?.reject(Object.assign(new Error(explain(answer.error)), { code: answer.code }));
    });
    this.#worker.on('error', (error: unknown) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('its thread has ended')));
  }

  get hasEnded(): boolean {
    return this.#fault !== undefined;
  }

  /** Rejects when the thread has ended, as when it cannot do what it is asked. */
  ask(request: StoreRequest): Promise<unknown> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    this.#worker.postMessage(request);
    return this.#next();
  }

  /** Closes the file, unless that has happened or the thread has ended. */
  async close(): Promise<void> {
    if (this.#fault === undefined) await this.ask({ kind: 'close' });
    await this.end();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #next(): Promise<unknown> {
    this.#worker.ref();
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    }).finally(() => {
      if (this.#waiting.length === 0) this.#worker.unref();
    });
  }

  #fail(cause: unknown): void {
    this.#fault ??= new Error(errorMessage(cause), { cause });
    const error = this.#fault;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** Says what to do about what SQLite says, as far as that is known. */
function explain(message: string): string {
  if (!/database or disk is full/i.test(message)) return message;
  return 'the disk is full: make room, then start the server again: runs go on from what was kept';
}

/** So many reads of one tenant wait: their clients may have gone. Those of documents wait besides: few runs are read at once. */
const MAX_WAITING = 1000;

/** Stands for a tenant where the server itself reads. */
const SERVER = '';

function tooManyReads(): WavetrainError {
  const message = 'too many requests of this tenant wait for the store: try again later';
  return new WavetrainError('queue_full', message, { fault: 'service' });
}

type ReadingThread = Pick<StoreThread, 'ask' | 'close' | 'hasEnded' | 'opened'>;

/** A request that waits for the thread that reads. */
interface WaitingRead {
  readonly request: ReadRequest;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets tenants take turns at the thread that reads: a search takes a tenth of a second, and delays the searches of its tenant.
 * A thread that has ended, such as for want of memory, is followed by another one: the request at hand fails alone.
 */
export class FairReader {
  readonly #start: () => ReadingThread;
  readonly #waiting = new FairQueue<WaitingRead>();
  #thread: ReadingThread;
  #isReading = false;

  constructor(start: () => ReadingThread) {
    this.#start = start;
    this.#thread = start();
  }

  /** Resolves when the first thread has the file open. */
  get opened(): Promise<unknown> {
    return this.#thread.opened;
  }

  /** @param tenantId of the caller; empty for the server itself, which is never refused */
  read(request: ReadRequest, tenantId: string): Promise<unknown> {
    const isBounded = request.kind !== 'chunk' && tenantId !== SERVER;
    if (isBounded && this.#waiting.sizeOf(tenantId) >= MAX_WAITING) return Promise.reject(tooManyReads());
    return new Promise((resolve, reject) => {
      this.#waiting.add(tenantId, { request, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) {
      const { request, resolve, reject } = next;
      if (this.#thread.hasEnded) this.#restart();
      await this.#ask(request).then(resolve, reject);
    }
    this.#isReading = false;
  }

  async #ask(request: ReadRequest): Promise<unknown> {
    return this.#thread.ask(request);
  }

  #restart(): void {
    this.#thread = this.#start();
    // The request that follows fails as well, and says why.
    this.#thread.opened.catch(() => undefined);
  }
}
