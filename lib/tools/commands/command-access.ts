import type { Clock } from '../../common/clock.js';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { directPrograms } from '../../common/workers/programs/direct-programs.js';
import type { ProgramLauncher, StartedProgram } from '../../common/workers/programs/program-launcher.js';
import type { WorkerExit } from '../../common/workers/launcher.js';
import { AllowedCommands } from './allowed-commands.js';
import { COMMAND_LIMITS } from './command-limits.js';

/** A program that a task starts (D88). */
export interface CommandLine {
  /** A name that PATH leads to, or a path; then its arguments. No shell reads them. */
  readonly argv: readonly [string, ...string[]];
  /** All that the program sees of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Written to its standard input, which is closed then. */
  readonly stdin: string;
}

/** Receives what a program writes. An error that one throws ends the program. */
export interface CommandListener {
  readonly onStdout: (bytes: Uint8Array) => void;
  readonly onStderr: (bytes: Uint8Array) => void;
}

/** The attempt that starts a command. */
interface CommandCaller extends CommandListener {
  /** Ends the program with all that it has started. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Starts the programs of tasks, where a person has allowed it. */
export interface CommandAccess {
  readonly allowed: AllowedCommands;
  /** How a person allows more, as the end of a sentence. */
  readonly advice: string;
  /** Where commands start that name no folder; undefined: each in a folder of its own. */
  readonly folder: string | undefined;
  /**
   * Resolves when the program and all that it has started have ended. Rejects with a ToolError, not retryable, when it is not
   * allowed or cannot be started.
   */
  run(line: CommandLine, caller: CommandCaller): Promise<WorkerExit>;
}

interface CommandAccessOptions {
  readonly allowed?: AllowedCommands;
  readonly advice?: string;
  /** Default: this process starts them. */
  readonly programs?: ProgramLauncher;
  readonly folder?: string;
}

/** @returns access to the programs that somebody has allowed; by default to none */
export function commandAccess({
  allowed = AllowedCommands.none,
  advice = 'whoever embeds Wavetrain allows them by the option "commands"',
  programs = directPrograms,
  folder,
}: CommandAccessOptions = {}): CommandAccess {
  return {
    allowed,
    advice,
    folder,
    run: async (line, caller) => {
      assertAllowed(allowed, line.argv[0]);
      if (process.platform === 'win32')
        throw ToolError.nonRetryable('the tool "command" does not work on Windows, which has no process groups');
      return new Command(await start(programs, line), caller).end(line.stdin);
    },
  };
}

/** @throws ToolError, not retryable */
function assertAllowed(allowed: AllowedCommands, program: string): void {
  if (allowed.allows(program)) return;
  const what = allowed.isEmpty ? 'no commands are' : `only ${allowed.describe()} may be`;
  throw ToolError.nonRetryable(`"${program}" was not started: ${what} allowed here`);
}

async function start(programs: ProgramLauncher, { argv, env, cwd }: CommandLine): Promise<StartedProgram> {
  const [command, ...args] = argv;
  try {
    return await programs.start({ command, args, env, cwd, graceMs: COMMAND_LIMITS.graceMs });
  } catch (error) {
    const reason =
      errorCode(error) === 'ENOENT' ? 'there is no such program, or no such folder to start it in' : errorMessage(error);
    throw ToolError.nonRetryable(`"${command}" cannot be started: ${reason}`, error);
  }
}

/** A program at work. */
class Command {
  readonly #program: StartedProgram;
  readonly #caller: CommandCaller;
  #killTimer: unknown;
  /** Thrown by a listener. */
  #failure: { readonly error: unknown } | undefined;

  constructor(program: StartedProgram, caller: CommandCaller) {
    this.#program = program;
    this.#caller = caller;
    const { onStdout, onStderr } = caller;
    program.stdout.on('data', (bytes: Uint8Array) => this.#take(bytes, onStdout));
    program.stderr.on('data', (bytes: Uint8Array) => this.#take(bytes, onStderr));
    // A program that ends without reading its input, or a stream that breaks, is no failure: its exit says more.
    for (const stream of [program.stdin, program.stdout, program.stderr]) stream.on('error', () => undefined);
  }

  async end(stdin: string): Promise<WorkerExit> {
    const { exited, closed } = this.#program;
    const { signal, clock } = this.#caller;
    const stop = (): void => this.#stop();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    this.#program.stdin.end(stdin);
    try {
      const exit = await exited;
      await closed;
      if (this.#failure !== undefined) throw this.#failure.error;
      return exit;
    } finally {
      signal.removeEventListener('abort', stop);
      clock.clearTimeout(this.#killTimer);
    }
  }

  #take(bytes: Uint8Array, listener: (bytes: Uint8Array) => void): void {
    if (this.#failure !== undefined) return;
    try {
      listener(bytes);
    } catch (error) {
      this.#failure = { error };
      this.#stop();
    }
  }

  /** Asks the group to end, and ends it when it does not. */
  #stop(): void {
    if (this.#killTimer !== undefined) return;
    this.#program.signal('SIGTERM');
    this.#killTimer = this.#caller.clock.setTimeout(() => this.#program.signal('SIGKILL'), COMMAND_LIMITS.graceMs);
  }
}
