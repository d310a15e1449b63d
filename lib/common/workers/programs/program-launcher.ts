import type { Readable, Writable } from 'node:stream';
import type { WorkerExit } from '../launcher.js';

/** A program of somebody else, which is used by its standard streams. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** All that the program sees of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The time that the program has to end by itself when Wavetrain has died without a word, and then after SIGTERM. */
  readonly graceMs: number;
}

/** How a program ended, or why it could not be started; then with the code of the error of Node.js. */
export type ProgramExit = WorkerExit & { readonly code?: string | undefined };

/**
 * A program that leads a process group of its own: Ctrl-C in a terminal does not reach it, and what it has started itself
 * (`npx` starts another program) ends with it.
 */
export interface StartedProgram {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended, or nobody will know how it ends. Its group has then been killed. */
  readonly exited: Promise<WorkerExit>;
  /** Resolves when the program has ended, and so have its output streams, which somebody must read. */
  readonly closed: Promise<void>;
  /** Sends a signal to the program and to what it has started. Does nothing when it has ended. */
  signal(signal: ProgramSignal): void;
}

export type ProgramSignal = 'SIGTERM' | 'SIGKILL';

/** Starts programs. */
export interface ProgramLauncher {
  /** Resolves when the program runs; rejects with the message and code of Node.js when it cannot be started. */
  start(program: Program): Promise<StartedProgram>;
}

/** Windows has none: what a program has started there goes on when the program ends. */
export const HAS_PROCESS_GROUPS = process.platform !== 'win32';

/** @returns false when the group has ended, or the system has no groups (Windows) */
export function signalGroup(leader: number, signal: ProgramSignal): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** Kills a process that this one need not have started. @returns false when it has ended, or belongs to another user */
export function killProcess(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
