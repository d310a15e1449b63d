import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { errorCode, errorMessage } from '../errors.js';
import {
  directLauncher,
  type LaunchedProcess,
  type Launcher,
  type LaunchListener,
  type WorkerProgram,
} from './launcher.js';
import { directPrograms } from './programs/direct-programs.js';
import { ForkedProgram, NO_SOCKETS, type ProgramSocket } from './programs/forked-program.js';
import type { Program, ProgramExit, ProgramLauncher, StartedProgram } from './programs/program-launcher.js';

/** A message to the fork server, about the process with a number. */
export type ForkRequest =
  | { readonly kind: 'launch'; readonly id: number; readonly program: WorkerProgram }
  | { readonly kind: 'kill'; readonly id: number }
  | {
      readonly kind: 'start';
      readonly id: number;
      readonly program: Program;
      /** Where the address of its sockets may be for a moment. */
      readonly folder: string;
    };

/** A message of the fork server. The first one brings the socket of a worker, the first three those of a program. */
export type ForkEvent =
  | { readonly kind: 'started'; readonly id: number; readonly program?: ProgramSocket }
  | { readonly kind: 'exited'; readonly id: number; readonly exit: ProgramExit };

/** Launches the workers of a server, and starts programs of others. */
export interface ServerLauncher extends Launcher {
  readonly programs: ProgramLauncher;
}

/**
 * Starts what launches the processes of a server: a {@link ForkServer}; on Windows, which copies no memory to start a
 * process, nothing else.
 *
 * @param file the program of the small process, `fork-server-process`
 */
export function startLauncher(file: string): ServerLauncher {
  return process.platform === 'win32'
    ? { ...directLauncher, programs: directPrograms }
    : new ForkServer(file);
}

/**
 * Starts worker processes and programs through a small process, which was forked while the server was small: it can fork
 * in a millisecond however large the server has become, and the server does not stand still meanwhile. The sockets of each
 * process are passed to the server, so that messages take no detour.
 *
 * The small process ends its processes when the server disconnects or dies: workers at once, and programs as an orderly
 * end would. When it dies itself, they end too, and their requests fail; the next launch starts another one.
 */
export class ForkServer implements ServerLauncher {
  readonly programs: ProgramLauncher = { start: (program) => this.#start(program) };
  readonly #file: string;
  #process: ForkServerProcess;
  #isClosed = false;

  /** @param file the program of the small process, `fork-server-process` */
  constructor(file: string) {
    this.#file = file;
    this.#process = new ForkServerProcess(file);
  }

  launch(program: WorkerProgram, listener: LaunchListener): LaunchedProcess {
    return this.#living().launch(program, listener);
  }

  /** Ends the small process, and all processes that it has started. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#process.close();
  }

  async #start(program: Program): Promise<StartedProgram> {
    try {
      return await this.#living().start(program);
    } catch (error) {
      if (errorCode(error) !== NO_SOCKETS) throw error;
      // A machine where nothing can be written has no place for the address of a socket.
      return await directPrograms.start(program);
    }
  }

  #living(): ForkServerProcess {
    if (!this.#process.isAlive && !this.#isClosed) this.#process = new ForkServerProcess(this.#file);
    return this.#process;
  }
}

/** A worker or a program, as its handle learns of it. */
interface ForkListener {
  readonly onSocket: (socket: Socket, program: ProgramSocket | undefined) => void;
  readonly onExit: (exit: ProgramExit) => void;
}

/** The server's handle of one small process. */
class ForkServerProcess {
  readonly #child: ChildProcess;
  readonly #listeners = new Map<number, ForkListener>();
  /** The processes for whose end the server stays alive. */
  readonly #awaited = new Set<number>();
  readonly #ended: Promise<void>;
  isAlive = true;
  #lastId = 0;

  constructor(file: string) {
    this.#child = fork(file, {
      execArgv: [],
      env: {},
      cwd: dirname(file),
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (event, socket) =>
      this.#receive(event as ForkEvent, socket as Socket | undefined),
    );
    this.#ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#fail(reason);
        resolve();
      };
      this.#child.once('exit', (status, signal) => end(signal ?? `status ${status}`));
      this.#child.on('error', (error) => {
        this.#child.kill('SIGKILL');
        end(errorMessage(error));
      });
    });
    this.#child.unref();
    this.#child.channel?.unref();
    // Nothing is written to it: its end says that the server has ended.
    this.#child.stdin?.on('error', () => undefined);
    (this.#child.stdin as Socket | null)?.unref();
  }

  launch(program: WorkerProgram, { onSocket, onExit }: LaunchListener): LaunchedProcess {
    const id = ++this.#lastId;
    this.#listeners.set(id, { onSocket: (socket) => onSocket(socket.unref()), onExit });
    this.#send({ kind: 'launch', id, program });
    return {
      kill: () => this.#send({ kind: 'kill', id }),
      ref: () => {
        if (this.#listeners.has(id)) this.#await(id, true);
      },
      unref: () => this.#await(id, false),
    };
  }

  /** The server stays alive until the program has ended. */
  start(program: Program): Promise<StartedProgram> {
    const id = ++this.#lastId;
    const forked = new ForkedProgram();
    if (!this.isAlive) {
      forked.onExit({ error: 'the process that starts others has ended' });
      return forked.started;
    }
    this.#listeners.set(id, {
      onSocket: (socket, of) => of && forked.onSocket(socket, of),
      onExit: (exit) => forked.onExit(exit),
    });
    this.#await(id, true);
    this.#send({ kind: 'start', id, program, folder: tmpdir() });
    return forked.started;
  }

  async close(): Promise<void> {
    this.isAlive = false;
    this.#child.ref();
    if (this.#child.connected) this.#child.disconnect();
    this.#child.stdin?.destroy();
    await this.#ended;
  }

  /** A small process that has just died gets no message; its exit event fails its launches. */
  #send(request: ForkRequest): void {
    if (this.#child.connected) this.#child.send(request, () => undefined);
  }

  #receive(event: ForkEvent, socket: Socket | undefined): void {
    const listener = this.#listeners.get(event.id);
    if (event.kind === 'exited') {
      this.#listeners.delete(event.id);
      this.#await(event.id, false);
      listener?.onExit(event.exit);
      return;
    }
    if (listener === undefined) socket?.destroy();
    else if (socket !== undefined) listener.onSocket(socket, event.program);
  }

  #await(id: number, isAwaited: boolean): void {
    if (isAwaited) this.#awaited.add(id);
    else this.#awaited.delete(id);
    if (this.#awaited.size > 0) this.#child.channel?.ref();
    else this.#child.channel?.unref();
  }

  /** Fails all processes: without their parent, they end too. */
  #fail(reason: string): void {
    this.isAlive = false;
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const { onExit } of listeners) onExit({ error: `the process that starts others ended (${reason})` });
  }
}
