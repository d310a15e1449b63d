import type { Socket } from 'node:net';
import type { WorkerExit } from '../launcher.js';
import {
  type ProgramExit,
  type ProgramSignal,
  signalGroup,
  type StartedProgram,
} from './program-launcher.js';

/** The standard streams of a program, by their file descriptors. Each is a socket of its own. */
export const PROGRAM_STREAMS = ['stdin', 'stdout', 'stderr'] as const;

type StreamName = (typeof PROGRAM_STREAMS)[number];

/** The program that a socket belongs to, and which of its streams it is. */
export interface ProgramSocket {
  readonly pid: number;
  readonly stream: StreamName;
}

/** The code of a program that was not started because there was no place for the address of its sockets. */
export const NO_SOCKETS = 'no_sockets';

/** A program that another process starts, as the server sees it. */
export class ForkedProgram {
  /** Rejects when the program cannot be started. */
  readonly started: Promise<StartedProgram>;
  #resolve: (program: StartedProgram) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #resolveExit: (exit: WorkerExit) => void = () => undefined;
  readonly #exited: Promise<WorkerExit>;
  readonly #sockets: Partial<Record<StreamName, Socket>> = {};
  readonly #outputs: Promise<void>[] = [];
  #pid: number | undefined;
  #hasExited = false;

  constructor() {
    this.#exited = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
    this.started = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  onSocket(socket: Socket, { pid, stream }: ProgramSocket): void {
    this.#pid = pid;
    this.#sockets[stream] = socket;
    // A program that ends without reading resets the connection; whoever writes or reads gets the error, too.
    socket.on('error', () => undefined);
    // When a program closes its standard input, the next write fails, as to a pipe.
    if (stream === 'stdin') socket.allowHalfOpen = true;
    else this.#outputs.push(new Promise((resolve) => socket.once('close', () => resolve())));
    const { stdin, stdout, stderr } = this.#sockets;
    if (stdin === undefined || stdout === undefined || stderr === undefined) return;
    const closed = Promise.all([this.#exited, ...this.#outputs]).then(() => undefined);
    this.#resolve({
      pid,
      stdin,
      stdout,
      stderr,
      exited: this.#exited,
      closed,
      signal: (signal) => this.#signal(signal),
    });
  }

  /** The program has ended, or cannot start; or an error says that nobody will know. */
  onExit(exit: ProgramExit): void {
    // The process that has started it kills its group, unless it is gone itself.
    if ('error' in exit) this.#signal('SIGKILL');
    this.#hasExited = true;
    this.#sockets.stdin?.destroy();
    this.#resolveExit(exit);
    if (!('error' in exit)) return;
    // The rejection does nothing when the program has started before.
    this.#reject(Object.assign(new Error(exit.error), exit.code !== undefined && { code: exit.code }));
  }

  #signal(signal: ProgramSignal): void {
    if (this.#pid !== undefined && !this.#hasExited) signalGroup(this.#pid, signal);
  }
}
