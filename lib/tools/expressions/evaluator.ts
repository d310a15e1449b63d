import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../common/clock.js';
import { messageOf } from '../../common/errors.js';
import { EXPRESSION_LIMITS } from '../../common/limits.js';
import { type Answer, failure, type Question, type Reply } from './question.js';

/** A process that does not answer by then will not. */
const PATIENCE_MS = EXPRESSION_LIMITS.hardTimeoutMs + 1000;
/** More of it for the first answer, since the process has to start as well. */
const START_MS = 5000;

/** Another process, as it is asked one question after another. Only its end can stop it: {@link Evaluator.kill}. */
export class Evaluator {
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  #patienceMs = PATIENCE_MS + START_MS;
  #isAlive = true;
  #settle: ((answer: Answer) => void) | undefined;

  /** @throws Error when the system refuses to start it; where it does so later, every question is answered by that. */
  constructor(file: string, clock: Clock) {
    this.#clock = clock;
    this.#child = startLimited(file);
    this.#child.on('message', ({ answer, isSwollen }: Reply) => {
      this.#settle?.(answer);
      if (isSwollen) this.kill('it has grown too large');
    });
    this.ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#isAlive = false;
        this.#settle?.(failure(reason));
        resolve();
      };
      this.#child.once('exit', (status, signal) => end(reasonOfEnd(status, signal)));
      this.#child.on('error', (error) => {
        end(`its process cannot be asked: ${messageOf(error)}`);
        this.#child.kill('SIGKILL');
      });
    });
    this.#letGo();
  }

  /** Can it still be asked? */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Never rejects: a process that ends or is not heard of in time answers with a failure, and is dead then. */
  async ask(question: Question): Promise<Answer> {
    const timer = this.#clock.setTimeout(() => this.kill(TOO_LONG), this.#patienceMs);
    this.#hold();
    const answer = await new Promise<Answer>((settle) => {
      this.#settle = settle;
      this.#send(question);
    });
    this.#settle = undefined;
    this.#patienceMs = PATIENCE_MS;
    this.#clock.clearTimeout(timer);
    this.#letGo();
    return answer;
  }

  /** Ends it at once, whatever it does; a question that it was asked fails for this reason. */
  kill(reason: string): void {
    this.#isAlive = false;
    this.#child.kill('SIGKILL');
    // Whoever waits for the end must live to see it.
    this.#child.ref();
    this.#settle?.(failure(reason));
  }

  #send(question: Question): void {
    // A process that has just died is not asked; how it died is told by its end.
    if (this.#child.connected) this.#child.send(question, () => undefined);
  }

  #hold(): void {
    this.#child.channel?.ref();
  }

  /** An idle process is no reason to stay. */
  #letGo(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }
}

const TOO_LONG = `it ran for more than ${EXPRESSION_LIMITS.timeoutMs / 1000} s`;

/** How V8 ends a process that has no memory left, on POSIX and on Windows. */
const OUT_OF_MEMORY = new Set<unknown>(['SIGABRT', 'SIGTRAP', 'SIGILL', 134, 0x80000003]);

function reasonOfEnd(status: number | null, signal: string | null): string {
  const how = signal ?? status;
  if (OUT_OF_MEMORY.has(how)) return `it needed more than ${EXPRESSION_LIMITS.memoryMiB} MiB of memory`;
  return `its process ended (${signal ?? `status ${status}`})`;
}

const HEAP = `--max-old-space-size=${EXPRESSION_LIMITS.memoryMiB}`;

const SHELL = '/bin/sh';

/**
 * V8 lets a single value be larger than its heap may become, so the system watches as well, where it can: over twice
 * the heap. It is not to write down the memory of a process that dies of that either. A limit that cannot be set is
 * lower already, or not known here.
 */
const LIMIT_AND_START = `for limit in "-c 0" "-d ${EXPRESSION_LIMITS.memoryMiB * 2 * 1024}"; do
  (ulimit $limit) 2>/dev/null && ulimit $limit
done
exec "$0" "$@"`;

/**
 * Starts a program of Node.js with a bound on its memory and nothing of the server's surroundings: neither its
 * secrets nor its flags, nor a folder that may go away.
 *
 * @throws Error when the system refuses to; what it refuses later is told by the event `error`
 */
function startLimited(file: string): ChildProcess {
  return fork(file, {
    ...(existsSync(SHELL)
      ? { execPath: SHELL, execArgv: ['-c', LIMIT_AND_START, process.execPath, HEAP] }
      : { execArgv: [HEAP] }),
    env: {},
    cwd: dirname(file),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}
