import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../common/clock.js';
import { errorMessage } from '../../common/errors.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import {
  type EvaluationRequest,
  type EvaluationResponse,
  failedEvaluation,
  type WorkerMessage,
} from './protocol.js';

/** The parent's backstop: the process stops an evaluation itself after `hardTimeoutMs`. */
const RESPONSE_TIMEOUT_MS = EXPRESSION_LIMITS.hardTimeoutMs + 1000;
/** Added for the first response, since the process has to start. */
const START_TIMEOUT_MS = 5000;

/** The parent's handle of a worker process, which evaluates one expression at a time. */
export class ExpressionWorker {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  #timeoutMs = RESPONSE_TIMEOUT_MS + START_TIMEOUT_MS;
  #isAlive = true;
  #respond: ((response: EvaluationResponse) => void) | undefined;

  /** @throws Error when the system cannot start the process; a later failure fails every evaluation instead */
  constructor(file: string, clock: Clock) {
    this.#clock = clock;
    this.#child = forkWithLimits(file);
    this.#child.on('message', ({ response, isOversized }: WorkerMessage) => {
      this.#respond?.(response);
      if (isOversized) this.kill('its process retains too much memory');
    });
    this.ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#isAlive = false;
        this.#respond?.(failedEvaluation(reason));
        resolve();
      };
      this.#child.once('exit', (status, signal) => end(describeExit(status, signal)));
      this.#child.on('error', (error) => {
        end(`its process cannot be reached: ${errorMessage(error)}`);
        this.#child.kill('SIGKILL');
      });
    });
    this.#unref();
  }

  /** Whether the process can evaluate another expression. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Never rejects: when the process ends or times out, resolves with a failure, and the process is dead. */
  async evaluate(request: EvaluationRequest): Promise<EvaluationResponse> {
    const timer = this.#clock.setTimeout(() => this.kill(TIMED_OUT), this.#timeoutMs);
    this.#child.channel?.ref();
    const response = await new Promise<EvaluationResponse>((resolve) => {
      this.#respond = resolve;
      // A process that has just died gets no request; its exit event fails the evaluation.
      if (this.#child.connected) this.#child.send(request, () => undefined);
    });
    this.#respond = undefined;
    this.#timeoutMs = RESPONSE_TIMEOUT_MS;
    this.#clock.clearTimeout(timer);
    this.#unref();
    return response;
  }

  /** Ends the process at once; a pending evaluation fails with `reason`. */
  kill(reason: string): void {
    this.#isAlive = false;
    this.#child.kill('SIGKILL');
    // Keeps the parent alive until the process has ended, for those that await `ended`.
    this.#child.ref();
    this.#respond?.(failedEvaluation(reason));
  }

  /** Lets the parent exit while the process is idle. */
  #unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }
}

const TIMED_OUT = `it ran for more than ${EXPRESSION_LIMITS.timeoutMs / 1000} s`;

/** The signals and exit statuses of a process that V8 ends for lack of memory, on POSIX and on Windows. */
const OUT_OF_MEMORY = new Set<unknown>(['SIGABRT', 'SIGTRAP', 'SIGILL', 134, 0x80000003]);

function describeExit(status: number | null, signal: string | null): string {
  if (OUT_OF_MEMORY.has(signal ?? status)) {
    return `it needed more than ${EXPRESSION_LIMITS.memoryMiB} MiB of memory`;
  }
  return `its process ended (${signal ?? `status ${status}`})`;
}

const HEAP_FLAG = `--max-old-space-size=${EXPRESSION_LIMITS.memoryMiB}`;

const SHELL = '/bin/sh';

/**
 * V8 allows a single value to exceed the maximal heap, so the system limits the data segment too, to twice the heap,
 * and disables core dumps. A limit that cannot be set is lower already, or not supported.
 */
const LIMIT_AND_START = `for limit in "-c 0" "-d ${EXPRESSION_LIMITS.memoryMiB * 2 * 1024}"; do
  (ulimit $limit) 2>/dev/null && ulimit $limit
done
exec "$0" "$@"`;

/**
 * Forks a Node.js program with limited memory and nothing of the server's environment: no secrets, no flags, and a
 * working directory that stays.
 *
 * @throws Error when the system refuses at once; later failures emit the event `error`
 */
function forkWithLimits(file: string): ChildProcess {
  return fork(file, {
    ...(existsSync(SHELL)
      ? { execPath: SHELL, execArgv: ['-c', LIMIT_AND_START, process.execPath, HEAP_FLAG] }
      : { execArgv: [HEAP_FLAG] }),
    env: {},
    cwd: dirname(file),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}
