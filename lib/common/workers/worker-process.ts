import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname } from 'node:path';
import type { Clock } from '../clock.js';
import { errorMessage } from '../errors.js';
import { type ResponseMessage, WorkerError, type WorkerMessage } from './protocol.js';

/** What every process of a pool has in common. */
export interface WorkerOptions {
  /** The program, which calls `answerRequests`. */
  readonly file: string;
  /** Maximum memory of the process; it ends when it needs more. */
  readonly memoryMiB: number;
  readonly clock: Clock;
}

/** The time to start the process, of which a busy machine needs much more than the usual 50 ms. */
const START_TIMEOUT_MS = 10_000;

/** The server's handle of a worker process, which answers one request at a time. */
export class WorkerProcess<Request extends object, Response> {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #options: WorkerOptions;
  #isReady = false;
  #failure: WorkerError | undefined;
  #onReady: (() => void) | undefined;
  #onResponse: ((message: ResponseMessage<Response>) => void) | undefined;
  #onFailure: ((failure: WorkerError) => void) | undefined;

  /** @throws Error when the system cannot start the process; a later failure fails every request instead */
  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#child = forkWithLimits(options);
    lowerPriority(this.#child.pid);
    this.#child.on('message', (message: WorkerMessage<Response>) => {
      if (message.kind === 'ready') {
        this.#isReady = true;
        this.#onReady?.();
        return;
      }
      this.#onResponse?.(message);
      if (message.isOversized) this.kill(new WorkerError('crashed', 'its process retains too much memory'));
    });
    this.ended = new Promise((resolve) => {
      const end = (failure: WorkerError): void => {
        this.#fail(failure);
        resolve();
      };
      this.#child.once('exit', (status, signal) => end(describeExit(status, signal, options)));
      this.#child.on('error', (error) => {
        end(new WorkerError('unreachable', `its process cannot be reached: ${errorMessage(error)}`));
        this.#child.kill('SIGKILL');
      });
    });
    this.#unref();
  }

  /** Whether the process can answer another request. */
  get isAlive(): boolean {
    return this.#failure === undefined;
  }

  /** Resolves when the process can take a request. Rejects with a WorkerError when it does not start in time. */
  async ready(): Promise<void> {
    if (this.#isReady) return;
    await this.#await<void>(START_TIMEOUT_MS, (resolve) => {
      this.#onReady = resolve;
    });
  }

  /** Returns the response. Rejects with a WorkerError; the process is dead then, unless its program threw. */
  async answer(request: Request, timeoutMs: number): Promise<Response> {
    const { result } = await this.#await<ResponseMessage<Response>>(timeoutMs, (resolve) => {
      this.#onResponse = resolve;
      // A process that has just died gets no request; its exit event fails it.
      if (this.#child.connected) this.#child.send(request, () => undefined);
    });
    if (!result.ok) throw new WorkerError('threw', result.error);
    return result.response;
  }

  /** Ends the process at once; a request at work fails with `failure`. */
  kill(failure: WorkerError): void {
    this.#child.kill('SIGKILL');
    // Keeps the server alive until the process has ended, for those that await `ended`.
    this.#child.ref();
    this.#fail(failure);
  }

  /** Waits for a message, and keeps the server alive for as long. */
  async #await<Message>(
    timeoutMs: number,
    start: (resolve: (message: Message) => void) => void,
  ): Promise<Message> {
    if (this.#failure !== undefined) throw this.#failure;
    const { clock } = this.#options;
    const timer = clock.setTimeout(() => {
      this.kill(new WorkerError('timed_out', `it ran for more than ${timeoutMs / 1000} s`));
    }, timeoutMs);
    this.#child.channel?.ref();
    try {
      return await new Promise<Message>((resolve, reject) => {
        this.#onFailure = reject;
        start(resolve);
      });
    } finally {
      clock.clearTimeout(timer);
      this.#onReady = undefined;
      this.#onResponse = undefined;
      this.#onFailure = undefined;
      this.#unref();
    }
  }

  /** The first failure counts: a process that was killed exits, too. */
  #fail(failure: WorkerError): void {
    this.#failure ??= failure;
    this.#onFailure?.(this.#failure);
  }

  /** Lets the server exit while the process is idle. */
  #unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }
}

/** The signals and exit statuses of a process that V8 ends for lack of memory, on POSIX and on Windows. */
const OUT_OF_MEMORY = new Set<unknown>(['SIGABRT', 'SIGTRAP', 'SIGILL', 134, 0x80000003]);

function describeExit(
  status: number | null,
  signal: string | null,
  { memoryMiB }: WorkerOptions,
): WorkerError {
  if (OUT_OF_MEMORY.has(signal ?? status)) {
    return new WorkerError('out_of_memory', `it needed more than ${memoryMiB} MiB of memory`);
  }
  return new WorkerError('crashed', `its process ended (${signal ?? `status ${status}`})`);
}

/** Of processes, from -20 to 19: while processors are short, the server comes first, and its processes still get a fourth. */
const LOW_PRIORITY = 5;

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, LOW_PRIORITY);
  } catch {
    // The process has ended already, or the system allows no change: it then works at the server's own priority.
  }
}

const SHELL = '/bin/sh';

/**
 * Forks a Node.js program with limited memory and nothing of the server's environment: no secrets, no flags, and a
 * working directory that stays. V8 allows a single value to exceed the maximal heap, so the system limits the data
 * segment too, to twice the heap, and disables core dumps. A limit that cannot be set is lower already, or not supported.
 *
 * Threads would not do: when V8 cannot allocate memory for a thread, it ends the whole process.
 *
 * @throws Error when the system refuses at once; later failures emit the event `error`
 */
function forkWithLimits({ file, memoryMiB }: WorkerOptions): ChildProcess {
  const heapFlag = `--max-old-space-size=${memoryMiB}`;
  const limitAndStart = `for limit in "-c 0" "-d ${memoryMiB * 2 * 1024}"; do
  (ulimit $limit) 2>/dev/null && ulimit $limit
done
exec "$0" "$@"`;
  return fork(file, {
    ...(existsSync(SHELL)
      ? { execPath: SHELL, execArgv: ['-c', limitAndStart, process.execPath, heapFlag] }
      : { execArgv: [heapFlag] }),
    env: {},
    cwd: dirname(file),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}
