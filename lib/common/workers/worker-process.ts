import type { Socket } from 'node:net';
import type { Clock } from '../clock.js';
import { errorMessage } from '../errors.js';
import type { LaunchedProcess, Launcher, WorkerExit, WorkerProgram } from './launcher.js';
import { MessageSocket } from './message-socket.js';
import { WorkerError, type WorkerHead } from './protocol.js';

/** The options that all processes of a pool have in common. */
export interface WorkerOptions extends WorkerProgram {
  readonly launcher: Launcher;
  readonly clock: Clock;
}

/** The time to start the process, of which a busy machine needs much more than the usual 50 ms. */
const START_TIMEOUT_MS = 10_000;

type ResponseHead = Extract<WorkerHead, { readonly kind: 'response' }>;

/** The server's handle of a worker process, which answers one request at a time. */
export class WorkerProcess<Request extends object, Response> {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #launched: LaunchedProcess;
  readonly #options: WorkerOptions;
  /** Undefined until the process has started. */
  #socket: Socket | undefined;
  #messages: MessageSocket<undefined, WorkerHead> | undefined;
  /** Why a message of the process cannot be read. */
  #unreadable: string | undefined;
  #isReady = false;
  #isAwaited = false;
  #failure: WorkerError | undefined;
  #onReady: (() => void) | undefined;
  #onResponse: ((message: { readonly head: ResponseHead; readonly response: Response }) => void) | undefined;
  #onFailure: ((failure: WorkerError) => void) | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    const { launcher, file, memoryMiB, priority } = options;
    let onEnd: () => void;
    this.ended = new Promise((resolve) => (onEnd = resolve));
    this.#launched = launcher.launch(
      { file, memoryMiB, ...(priority !== undefined && { priority }) },
      {
        onSocket: (socket) => this.#connect(socket),
        onExit: (exit) => {
          this.#fail(describeExit(this.#findCause(exit), options));
          this.#socket?.destroy();
          onEnd();
        },
      },
    );
  }

  /** True when the process can answer another request. */
  get isAlive(): boolean {
    return this.#failure === undefined && this.#socket?.destroyed !== true;
  }

  /**
   * Resolves when the process can take a request. Rejects with a WorkerError when it does not start in time.
   *
   * @param timeoutMs longer for a process of low priority, which a busy machine may not let start for long
   */
  async ready(timeoutMs = START_TIMEOUT_MS): Promise<void> {
    if (this.#isReady) return;
    await this.#await<void>(timeoutMs, (resolve) => {
      this.#onReady = resolve;
    });
  }

  /** Returns the response. Rejects with a WorkerError; the process is dead then, unless its program threw. */
  async answer(request: Request, timeoutMs: number): Promise<Response> {
    const { head, response } = await this.#await<{ head: ResponseHead; response: Response }>(
      timeoutMs,
      (resolve) => {
        this.#onResponse = resolve;
        // A process that has just died gets no request; its exit fails it.
        this.#messages?.send(undefined, request).catch((error: unknown) => {
          this.kill(new WorkerError('threw', errorMessage(error)));
        });
      },
    );
    if (head.error !== undefined) throw new WorkerError('threw', head.error);
    return response;
  }

  /** Ends the process at once; a request at work fails with `failure`. */
  kill(failure: WorkerError): void {
    this.#fail(failure);
    this.#launched.kill();
    // Keeps the server alive until the process has ended, for those that await `ended`.
    this.#launched.ref();
  }

  #connect(socket: Socket): void {
    this.#socket = socket;
    if (this.#isAwaited) socket.ref();
    this.#messages = new MessageSocket(socket, (head, body) => this.#receive(head, body as Response));
    socket.on('error', (error) => {
      // An error of the system means that the process has just died: its exit, which follows, says why.
      if (!('syscall' in error)) this.#unreadable = errorMessage(error);
      this.#launched.kill();
    });
  }

  #receive(head: WorkerHead, response: Response): void {
    if (head.kind === 'ready') {
      this.#isReady = true;
      this.#onReady?.();
      return;
    }
    this.#onResponse?.({ head, response });
    if (head.isOversized) this.kill(new WorkerError('crashed', 'its process retains too much memory'));
  }

  /** A process that was killed because its messages cannot be read has not ended by itself. */
  #findCause(exit: WorkerExit): WorkerExit {
    const wasKilled = 'signal' in exit && exit.signal === 'SIGKILL';
    return wasKilled && this.#unreadable !== undefined ? { error: this.#unreadable } : exit;
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
    this.#keepServerAlive(true);
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
      if (this.#failure === undefined) this.#keepServerAlive(false);
    }
  }

  /** The first failure counts: a process that was killed exits, too. */
  #fail(failure: WorkerError): void {
    this.#failure ??= failure;
    this.#onFailure?.(this.#failure);
  }

  /** Lets the server exit while the process is idle. */
  #keepServerAlive(isAwaited: boolean): void {
    this.#isAwaited = isAwaited;
    if (isAwaited) {
      this.#launched.ref();
      this.#socket?.ref();
    } else {
      this.#launched.unref();
      this.#socket?.unref();
    }
  }
}

/**
 * The signals and exit statuses of a process that lacks memory, on POSIX and on Windows. V8 ends it; or, where it cannot
 * even do that, a memory access fails: no program of a worker process has native code of its own, which could be faulty.
 */
const OUT_OF_MEMORY = new Set<unknown>([
  'SIGABRT',
  'SIGTRAP',
  'SIGILL',
  'SIGSEGV',
  'SIGBUS',
  134,
  0x80000003,
]);

function describeExit(exit: WorkerExit, { memoryMiB }: WorkerProgram): WorkerError {
  if ('error' in exit) return new WorkerError('unreachable', `its process cannot be reached: ${exit.error}`);
  const { status, signal } = exit;
  if (OUT_OF_MEMORY.has(signal ?? status)) {
    return new WorkerError('out_of_memory', `it needed more than ${memoryMiB} MiB of memory`);
  }
  if (signal === 'SIGKILL') {
    return new WorkerError(
      'crashed',
      'something ended its process (SIGKILL), perhaps the system for lack of memory',
    );
  }
  return new WorkerError('crashed', `its process ended (${signal ?? `status ${status}`})`);
}
