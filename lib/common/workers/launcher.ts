import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { errorMessage } from '../errors.js';
import { lowerPriority } from './priority.js';

/** A Node.js program that runs in a process of its own. */
export interface WorkerProgram {
  /** Calls `answerRequests`. */
  readonly file: string;
  /** Maximum memory of all values in the process; it ends when it needs more. Node.js itself takes up to 80 MiB besides. */
  readonly memoryMiB: number;
  /** From 1 to 19, the last. Default 3. */
  readonly priority?: number;
}

/** How a process ended, or why there is none. */
export type WorkerExit =
  | { readonly status: number | null; readonly signal: string | null }
  | { readonly error: string };

export interface LaunchListener {
  /** The process has started; this is the server's end of the socket between both. */
  readonly onSocket: (socket: Socket) => void;
  /** The process has ended, or cannot start. Called once. */
  readonly onExit: (exit: WorkerExit) => void;
}

/** A process that was launched. */
export interface LaunchedProcess {
  kill(): void;
  /** Keeps the server alive until the process has ended. */
  ref(): void;
  /** Lets the server exit before; initially so. */
  unref(): void;
}

/** Starts worker processes. */
export interface Launcher {
  /** Never throws: a failure is an exit. Calls the listener later. */
  launch(program: WorkerProgram, listener: LaunchListener): LaunchedProcess;
  /** Ends all of its processes that still run, if it has started them through another one. */
  close(): Promise<void>;
}

/** The file descriptors that a process may get its socket as. */
const SOCKET_AT = {
  /** Node.js reads from all pipes to a child, except from its standard input: such a pipe can be given to another process. */
  stdin: 0,
  fourth: 3,
} as const;

/**
 * Forks the process at once. The system copies the page tables of this process for that, which takes some milliseconds
 * for each gigabyte of its memory: a server has a {@link ForkServer}.
 */
export const directLauncher: Launcher = {
  launch(program, { onSocket, onExit }) {
    const child = spawnWorker(program, 'fourth', onExit);
    const socket = child?.stdio[SOCKET_AT.fourth] as Socket | null | undefined;
    child?.unref();
    socket?.unref();
    if (child?.pid !== undefined && socket != null) queueMicrotask(() => onSocket(socket));
    return {
      kill: () => void child?.kill('SIGKILL'),
      ref: () => child?.ref(),
      unref: () => child?.unref(),
    };
  },
  close: async () => undefined,
};

/**
 * Starts the process of a worker with a socket to this one, limited memory, a low priority, and nothing of the
 * environment: no secrets, no flags, and a working directory that stays.
 *
 * V8 allows values to exceed the maximal heap, such as bytes, so the system limits the data segment too, and disables core
 * dumps. A limit that cannot be set is lower already, or not supported.
 *
 * Threads would not do: when V8 cannot allocate memory for a thread, it ends the whole process.
 *
 * @param onExit also called, later, when there is no process; then undefined is returned, or a child without an id
 */
export function spawnWorker(
  { file, memoryMiB, priority }: WorkerProgram,
  socketAt: keyof typeof SOCKET_AT,
  onExit: LaunchListener['onExit'],
): ChildProcess | undefined {
  const limitAndStart = `for limit in "-c 0" "-d ${dataLimitKiB(memoryMiB)}"; do
  (ulimit $limit) 2>/dev/null && ulimit $limit
done
exec "$0" "$@"`;
  const fd = SOCKET_AT[socketAt];
  const command = [process.execPath, `--max-old-space-size=${memoryMiB}`, file, String(fd)];
  const [executable = '', ...args] = existsSync(SHELL) ? [SHELL, '-c', limitAndStart, ...command] : command;
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore'];
  stdio[fd] = 'overlapped';
  try {
    const child = spawn(executable, args, { env: {}, cwd: dirname(file), stdio, windowsHide: true });
    lowerPriority(child.pid, priority);
    let hasEnded = false;
    const end = (exit: WorkerExit): void => {
      if (!hasEnded) onExit(exit);
      hasEnded = true;
    };
    child.once('exit', (status, signal) => end({ status, signal }));
    child.on('error', (error) => end({ error: errorMessage(error) }));
    return child;
  } catch (error) {
    const exit = { error: errorMessage(error) };
    queueMicrotask(() => onExit(exit));
    return undefined;
  }
}

/** Memory of a process besides its values: Node.js, the stacks of its threads, and young values that V8 copies. */
const BESIDE_MIB = 128;

/** Limit of the data segment of a process, in KiB. @param memoryMiB of its values */
export function dataLimitKiB(memoryMiB: number): number {
  return (memoryMiB + BESIDE_MIB) * 1024 + reservedKiB();
}

let reserved: number | undefined;

/**
 * Memory that the engine reserves and does not use, in KiB. It counts to the data segment: none in Node.js 20, half a
 * gigabyte in Node.js 24.
 */
function reservedKiB(): number {
  reserved ??= measureReserved();
  return reserved;
}

/** Smaller differences are memory that this process has used before, and so is more. */
const MIN_RESERVED_KIB = 256 * 1024;
const MAX_RESERVED_KIB = 700 * 1024;

/** A worker with more threads than this process has reserves more, by some tens of megabytes. */
const MORE_RESERVED_KIB = 64 * 1024;

function measureReserved(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const read = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
    const unused = read('VmData') - read('RssAnon');
    return unused > MIN_RESERVED_KIB ? Math.min(unused + MORE_RESERVED_KIB, MAX_RESERVED_KIB) : 0;
  } catch {
    // Systems without these values do not limit the data segment either.
    return 0;
  }
}

const SHELL = '/bin/sh';
