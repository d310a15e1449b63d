import type { Clock } from '../clock.js';
import { FairQueue } from '../scheduling/fair-queue.js';
import { type Limit, SharedLimit } from '../memory/shared-limit.js';
import { directLauncher, type Launcher } from './launcher.js';
import { WorkerError } from './protocol.js';
import { type WorkerOptions, WorkerProcess } from './worker-process.js';

export interface ProcessPoolOptions extends Omit<WorkerOptions, 'launcher'> {
  /** Starts the processes. Default: this process forks them at once. */
  readonly launcher?: Launcher | undefined;
  /** How many requests may be at work at once, and how many of each tenant in any case. */
  readonly atWork: Limit;
  /**
   * How many processes may be kept. With `isolateTenants`, each of the tenants that sent requests lately has its own,
   * and one more has started that belongs to nobody yet.
   */
  readonly maxProcesses: number;
  /**
   * True when a process that has answered a request of one tenant never gets one of another: for programs that run code
   * of callers. Otherwise any process answers anybody.
   */
  readonly isolateTenants: boolean;
}

/** The options of a pool of a server, which knows itself how many processes its work needs. */
export interface SizedPoolOptions {
  /** The program of a worker process. */
  readonly file: string;
  /** How many requests the machine can answer at once. */
  readonly parallelism: number;
  /** Percentage that each tenant may use even when others have used up the rest. */
  readonly tenantShare: number;
  readonly clock: Clock;
  /** Starts the processes; default: this process does. */
  readonly launcher?: Launcher;
}

export interface WorkOptions {
  /** Time limit of the work, without the wait before it; the process is killed when it has passed. */
  readonly timeoutMs: number;
  /** Drops the request while it waits, and kills its process when it is at work. */
  readonly signal?: AbortSignal;
  /** Called when the request leaves the queue and its process has started. */
  readonly onStart?: () => void;
}

/** A request that waits or is at work. */
interface Work<Request extends object, Response> {
  readonly tenantId: string;
  readonly createRequest: () => Request | Promise<Request>;
  readonly options: WorkOptions;
  /** Resolves the request with what was read of its response. */
  readonly deliver: (response: Response) => Promise<void>;
  readonly reject: (error: unknown) => void;
  worker?: WorkerProcess<Request, Response> | undefined;
  /** When the process of the request had started; undefined if it never did. */
  startedMs?: number;
}

/** How long requests of one tenant are answered while others wait: tenants get equal time, not equal numbers of requests. */
const TURN_MS = 100;

/**
 * Answers requests in processes that can be killed, for work that cannot be bounded to some milliseconds: it can neither
 * block the server nor exhaust its memory. Requests beyond the limit wait in a queue that is fair to tenants (D25).
 *
 *     const checks = new ProcessPool<CheckRequest, CheckResponse>({
 *       file: distFile('check-process.cjs'), // calls answerRequests
 *       memoryMiB: 256, atWork: { total: 1, guaranteed: 1 }, maxProcesses: 1, isolateTenants: false, clock,
 *     });
 *     const response = await checks.run(tenantId, () => ({ text }), { timeoutMs: 2000, signal });
 */
export class ProcessPool<Request extends object, Response> {
  readonly #options: ProcessPoolOptions & WorkerOptions;
  readonly #waiting = new FairQueue<Work<Request, Response>>();
  readonly #atWork: SharedLimit;
  readonly #workers = new Set<WorkerProcess<Request, Response>>();
  /** With their owners, the only tenants whose requests they get. The least recently used comes first. */
  readonly #idle = new Map<WorkerProcess<Request, Response>, string>();
  /** Has no owner yet, so that a new tenant need not wait until a process has started. */
  #spare: WorkerProcess<Request, Response> | undefined;
  #isClosed = false;

  constructor(options: ProcessPoolOptions) {
    this.#options = { ...options, launcher: options.launcher ?? directLauncher };
    this.#atWork = new SharedLimit(options.atWork);
  }

  /**
   * Rejects with a WorkerError when there is no response, and with what `createRequest` throws.
   *
   * @param createRequest called when the work starts, so that requests that wait take no memory of their own
   */
  run(
    tenantId: string,
    createRequest: () => Request | Promise<Request>,
    options: WorkOptions,
  ): Promise<Response> {
    return this.runAndRead(tenantId, createRequest, options, async (response) => response);
  }

  /**
   * Runs like `run`, and resolves with what `read` makes of the response. The next request begins when that is done:
   * otherwise responses would pile up in memory while the event loop is busy. Rejects with what `read` rejects with, too.
   */
  async runAndRead<Result>(
    tenantId: string,
    createRequest: () => Request | Promise<Request>,
    options: WorkOptions,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { signal } = options;
    if (this.#isClosed) throw closedError();
    if (signal?.aborted === true) throw abortedError();
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<Result>((resolve, reject) => {
        const deliver = async (response: Response): Promise<void> => resolve(await read(response));
        const work: Work<Request, Response> = { tenantId, createRequest, options, deliver, reject };
        onAbort = () => this.#abort(work);
        signal?.addEventListener('abort', onAbort);
        this.#waiting.add(tenantId, work);
        this.#startWork();
      });
    } finally {
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Kills all processes. Requests that are waiting or come later fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const work of this.#waiting.clear()) work.reject(closedError());
    const workers = [...this.#workers];
    for (const worker of workers) worker.kill(closedError());
    await Promise.all(workers.map(({ ended }) => ended));
  }

  #abort(work: Work<Request, Response>): void {
    if (this.#waiting.delete(work.tenantId, work)) work.reject(abortedError());
    else work.worker?.kill(abortedError());
  }

  #startWork(): void {
    for (;;) {
      const work = this.#waiting.next((tenantId) => this.#atWork.hasRoom(tenantId));
      if (work === undefined) return;
      this.#atWork.tryAcquire(work.tenantId);
      void this.#serveTurn(work);
    }
  }

  /** Answers requests of one tenant for the time of a turn. */
  async #serveTurn(first: Work<Request, Response>): Promise<void> {
    const { tenantId } = first;
    const { clock } = this.#options;
    await this.#serve(first);
    // From when its process had started: a turn that is used up by the start would end after one request.
    const endMs = (first.startedMs ?? Number.NEGATIVE_INFINITY) + TURN_MS;
    while (clock.monotonicNow() < endMs) {
      const next = this.#waiting.nextOf(tenantId);
      if (next === undefined) break;
      await this.#serve(next);
    }
    this.#atWork.release(tenantId);
    this.#startWork();
  }

  /** Never rejects. */
  async #serve(work: Work<Request, Response>): Promise<void> {
    const owner = this.#options.isolateTenants ? work.tenantId : '';
    let worker: WorkerProcess<Request, Response> | undefined;
    try {
      worker = this.#takeWorker(owner);
      work.worker = worker;
      await worker.ready();
      work.startedMs = this.#options.clock.monotonicNow();
      work.options.onStart?.();
      const response = await worker.answer(await work.createRequest(), work.options.timeoutMs);
      // A caller that aborts the request from now on has no process to kill.
      work.worker = undefined;
      await work.deliver(response);
    } catch (error) {
      work.reject(error);
    }
    if (worker?.isAlive === true) this.#idle.set(worker, owner);
    work.worker = undefined;
    if (this.#options.isolateTenants && !this.#isClosed) this.#startSpare();
  }

  #takeWorker(owner: string): WorkerProcess<Request, Response> {
    const owned = this.#findIdle(owner);
    if (owned !== undefined) {
      this.#idle.delete(owned);
      return owned;
    }
    this.#makeRoom();
    const spare = this.#spare;
    this.#spare = undefined;
    return spare?.isAlive === true ? spare : this.#start();
  }

  /** Finds the owner's most recently used process, the warmest; forgets those that died while idle. */
  #findIdle(owner: string): WorkerProcess<Request, Response> | undefined {
    let found: WorkerProcess<Request, Response> | undefined;
    for (const [worker, itsOwner] of this.#idle) {
      if (!worker.isAlive) this.#idle.delete(worker);
      else if (itsOwner === owner) found = worker;
    }
    return found;
  }

  /** Ends idle processes until there are few enough for another one. */
  #makeRoom(): void {
    const most = Math.max(this.#options.maxProcesses - this.#atWork.used, 0);
    while (this.#idle.size > most) {
      const worker = this.#findLeastNeeded();
      if (worker === undefined) return;
      this.#idle.delete(worker);
      worker.kill(new WorkerError('closed', 'its process was idle'));
    }
  }

  /**
   * Finds the least recently used process of an owner that has the most idle ones: a tenant with several cannot make the
   * only one of another tenant end.
   */
  #findLeastNeeded(): WorkerProcess<Request, Response> | undefined {
    const idleOf = new Map<string, number>();
    for (const owner of this.#idle.values()) idleOf.set(owner, (idleOf.get(owner) ?? 0) + 1);
    const most = Math.max(...idleOf.values());
    for (const [worker, owner] of this.#idle) if (idleOf.get(owner) === most) return worker;
    return undefined;
  }

  #startSpare(): void {
    if (this.#spare?.isAlive !== true) this.#spare = this.#start();
  }

  #start(): WorkerProcess<Request, Response> {
    const worker = new WorkerProcess<Request, Response>(this.#options);
    this.#workers.add(worker);
    void worker.ended.then(() => this.#workers.delete(worker));
    return worker;
  }
}

function closedError(): WorkerError {
  return new WorkerError('closed', 'the server is shutting down');
}

function abortedError(): WorkerError {
  return new WorkerError('aborted', 'it was aborted');
}
