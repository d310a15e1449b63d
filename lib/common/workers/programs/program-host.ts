import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { errorCode, errorMessage } from '../../errors.js';
import { lowerSessionPriority } from '../priority.js';
import { NO_SOCKETS, PROGRAM_STREAMS, type ProgramSocket } from './forked-program.js';
import { killOnExit } from './kill-on-exit.js';
import { type Program, type ProgramExit, signalGroup } from './program-launcher.js';
import { connectPairs, destroyPairs, type SocketPair } from './program-sockets.js';

/** Receives what happens to the programs of a {@link ProgramHost}, by their numbers. */
interface ProgramHostListener {
  /** A stream of a program that runs, to be sent to the server. */
  readonly onSocket: (id: number, socket: Socket, program: ProgramSocket) => void;
  /** The program has ended, or cannot start. Called once. */
  readonly onExit: (id: number, exit: ProgramExit) => void;
}

/**
 * Starts programs for a server, in the small process that forks for it, and ends them when the server has died. Each has a
 * shell that ends it when somebody kills the small process with the process group of the server.
 */
export class ProgramHost {
  readonly #listener: ProgramHostListener;
  readonly #starting = new Set<Promise<void>>();
  readonly #running = new Map<number, RunningProgram>();
  #isEnding = false;

  constructor(listener: ProgramHostListener) {
    this.#listener = listener;
  }

  /** @param folder where the address of its sockets may be */
  start(id: number, program: Program, folder: string): void {
    const starting = this.#start(id, program, folder).catch((error: unknown) =>
      this.#listener.onExit(id, { error: errorMessage(error), code: errorCode(error) }),
    );
    this.#starting.add(starting);
    void starting.then(() => this.#starting.delete(starting));
  }

  /** Ends all programs. They have read the end of their standard input, because the server has died. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#starting);
    await Promise.all(Array.from(this.#running.values(), (program) => program.end()));
  }

  async #start(id: number, program: Program, folder: string): Promise<void> {
    const { onSocket, onExit } = this.#listener;
    const pairs = await connectPairs(PROGRAM_STREAMS.length, folder).catch((error: unknown) =>
      onExit(id, { error: errorMessage(error), code: NO_SOCKETS }),
    );
    if (pairs === undefined) return;
    if (this.#isEnding) return destroyPairs(pairs);
    try {
      const child = spawn(program.command, program.args, {
        env: { ...program.env },
        cwd: program.cwd,
        stdio: pairs.map(({ far }) => far),
        detached: true,
      });
      child.on('error', (error) => {
        if (child.pid === undefined) onExit(id, { error: errorMessage(error), code: errorCode(error) });
      });
      const { pid } = child;
      if (pid === undefined) return destroyPairs(pairs);
      lowerSessionPriority(pid);
      const stopWatching = killOnExit(pid, program);
      for (const { far } of pairs) far.destroy();
      this.#running.set(id, new RunningProgram(child, pid, pairs, program.graceMs));
      child.once('exit', (status, signal) => {
        signalGroup(pid, 'SIGKILL');
        stopWatching();
        this.#running.delete(id);
        onExit(id, { status, signal });
      });
      for (const [index, stream] of PROGRAM_STREAMS.entries()) {
        const near = pairs[index]?.near;
        if (near !== undefined) onSocket(id, near, { pid, stream });
      }
    } catch (error) {
      destroyPairs(pairs);
      throw error;
    }
  }
}

class RunningProgram {
  readonly #pid: number;
  readonly #pairs: readonly SocketPair[];
  readonly #graceMs: number;
  readonly #exited: Promise<unknown>;

  constructor(child: ChildProcess, pid: number, pairs: readonly SocketPair[], graceMs: number) {
    this.#pid = pid;
    this.#pairs = pairs;
    this.#graceMs = graceMs;
    this.#exited = new Promise((resolve) => child.once('exit', resolve));
  }

  async end(): Promise<void> {
    // Sockets that could not be sent any more are closed, so that the program reads the end of its standard input.
    destroyPairs(this.#pairs);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#exitsInTime()) return;
      signalGroup(this.#pid, signal);
    }
  }

  #exitsInTime(): Promise<boolean> {
    return new Promise((resolve) => {
      setTimeout(() => resolve(false), this.#graceMs);
      void this.#exited.then(() => resolve(true));
    });
  }
}
