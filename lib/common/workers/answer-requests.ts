import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../errors.js';
import { MessageSocket } from './message-socket.js';
import type { WorkerHead } from './protocol.js';

/** The memory that a program of a worker process may retain between requests. */
interface AnswerOptions {
  /** In MiB. A process that retains more is replaced. */
  readonly maxIdleMiB: number;
}

/**
 * The program of a worker process: answers the requests of a {@link ProcessPool}, one after another, until the server
 * closes the socket. Its file is an entry point of `scripts/build.mjs`, and starts with one call:
 *
 *     answerRequests((request: CheckRequest): CheckResponse => …, { maxIdleMiB: 128 });
 *
 * @param answer returns the response, which structured cloning must be able to copy; its fields that are long texts or
 *   bytes are fastest. An error thrown by `answer` reaches the caller of the pool as a `WorkerError`, so an expected
 *   failure is better a part of the response.
 */
export function answerRequests<Response>(
  answer: (request: never) => Response | Promise<Response>,
  { maxIdleMiB }: AnswerOptions,
): void {
  // The launcher says which file descriptor is the socket to the server.
  const socket = new Socket({ fd: Number(process.argv[2]) });
  // The server's side of the pool has the same type of request; messages between processes have none.
  const messages = new MessageSocket<WorkerHead, undefined>(
    socket,
    (_, request) => void respond(request as never),
  );
  // The close of the socket follows, and ends the process.
  socket.on('error', () => undefined);
  socket.on('close', () => process.exit());
  // Ctrl-C and a service stop signal all processes, but a server that shuts down still finishes its runs.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  void messages.send({ kind: 'ready' });
  endWithServer();

  async function respond(request: never): Promise<void> {
    const { response, error } = await answerOrFail(request);
    await messages.send({ kind: 'response', error, isOversized: isOversized() }, response);
  }

  async function answerOrFail(request: never): Promise<{ response?: Response; error?: string }> {
    try {
      return { response: await answer(request) };
    } catch (error) {
      return { error: errorMessage(error) };
    }
  }

  function isOversized(): boolean {
    return process.memoryUsage.rss() > maxIdleMiB * 2 ** 20;
  }
}

/** How often a process looks whether its server is still there. */
const WATCH_INTERVAL_MS = 1000;

/**
 * Ends the process when its server has died without a word. A process at work would not notice: a thread looks, and a
 * process whose parent has died has another one.
 */
function endWithServer(): void {
  const program = `
    const server = process.ppid;
    setInterval(() => {
      if (process.ppid !== server) process.kill(process.pid, 'SIGKILL');
    }, ${WATCH_INTERVAL_MS});`;
  try {
    const thread = new Worker(program, {
      eval: true,
      // Node.js 24 would reserve half a gigabyte for the code of the thread, which exceeds the limit of the data segment.
      resourceLimits: { maxOldGenerationSizeMb: 8, codeRangeSizeMb: 8, stackSizeMb: 1 },
    });
    thread.on('error', () => undefined);
    thread.unref();
  } catch {
    // A process with too little memory for a thread has too little for long work.
  }
}
