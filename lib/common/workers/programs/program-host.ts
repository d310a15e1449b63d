import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { errorCode, errorMessage } from '../../errors.js';
import { lowerPriority, lowerSessionPriority, SESSION_PRIORITY } from '../priority.js';
import { NO_SOCKETS, PROGRAM_STREAMS, type ProgramSocket } from './forked-program.js';
import { DEFAULT_PATH, killOnExit } from './kill-on-exit.js';
import { type Program, type ProgramExit, signalGroup } from './program-launcher.js';
import { connectPairs, destroyPairs } from './program-sockets.js';

/** Receives what happens to the programs of a {@link ProgramHost}, by their numbers. */
interface ProgramHostListener {
  /** A stream of a program that runs, to be sent to the server. */
  readonly onSocket: (id: number, socket: Socket, program: ProgramSocket) => void;
  /** The program has ended, or cannot start. Called once. */
  readonly onExit: (id: number, exit: ProgramExit) => void;
}

/**
 * Starts programs for a server, in the small process that forks for it. A shell for each ends it when that process has
 * ended, for whatever reason.
 */
export class ProgramHost {
  readonly #listener: ProgramHostListener;
  readonly #starting = new Set<Promise<void>>();
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

  /** Starts no more programs. Resolves when each one that was started has its shell. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#starting);
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
      lowerPriority(pid, SESSION_PRIORITY);
      lowerSessionPriority(pid);
      const { PATH = DEFAULT_PATH } = program.env;
      const stopWatching = killOnExit(pid, program.graceMs, { PATH });
      for (const { far } of pairs) far.destroy();
      child.once('exit', (status, signal) => {
        signalGroup(pid, 'SIGKILL');
        stopWatching();
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
