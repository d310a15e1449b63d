import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { type Limit, shareLimit } from '../../common/memory/shared-limit.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { directPrograms } from '../../common/workers/programs/direct-programs.js';
import {
  HAS_PROCESS_GROUPS,
  type ProgramLauncher,
  type StartedProgram,
} from '../../common/workers/programs/program-launcher.js';
import { systemEnvironment } from '../../common/config/environment.js';
import { AllowedCommands } from '../../common/config/allowed-commands.js';
import { COMMAND_LIMITS, type CommandResult, type ToolCommand } from './command.js';
import { NO_LEDGER, type CommandLedger } from './command-ledger.js';
import type { CommandCaller } from './command-caller.js';
import { publishFiles } from './publish-files.js';
import { RunningCommand } from './running-command.js';

/** Starts the programs of tasks, where a person has allowed it (D88). */
export interface CommandAccess {
  readonly allowed: AllowedCommands;
  /** How a person allows more, as the end of a sentence. */
  readonly advice: string;
  /** As `command` of a tool's context does. */
  run(command: ToolCommand, caller: CommandCaller): Promise<CommandResult>;
  /** Ends the programs at work, and resolves when none is left. */
  close(): Promise<void>;
}

export interface CommandAccessOptions {
  /** A function is asked for each run and each command. Default: none. */
  readonly allowed?: AllowedCommands | (() => AllowedCommands);
  readonly advice?: string;
  /** Default: this process starts them. */
  readonly programs?: ProgramLauncher;
  /** Where commands start that name no folder. Default: each in a folder of its own. */
  readonly folder?: string | undefined;
  /** PATH, HOME and LANG are taken from it. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Programs at work at once. Default: 100, of which each tenant is guaranteed a tenth. */
  readonly atWork?: Limit;
  /** Names the programs at work to the next process that opens the same store. Default: nowhere. */
  readonly ledger?: CommandLedger;
}

/** @returns access to the programs that somebody has allowed; by default to none */
export function commandAccess(options: CommandAccessOptions = {}): CommandAccess {
  return new LocalCommands(options);
}

class LocalCommands implements CommandAccess {
  readonly advice: string;
  readonly #allowed: () => AllowedCommands;
  readonly #programs: ProgramLauncher;
  readonly #folder: string | undefined;
  readonly #env: Readonly<Record<string, string>>;
  readonly #atWork: ConcurrencyLimiter;
  readonly #ledger: CommandLedger;
  readonly #running = new Map<RunningCommand, Promise<unknown>>();

  constructor({
    allowed = AllowedCommands.none,
    advice = 'the option "commands" of the library allows them',
    programs = directPrograms,
    folder,
    env = systemEnvironment(),
    atWork = shareLimit(COMMAND_LIMITS.atWork),
    ledger = NO_LEDGER,
  }: CommandAccessOptions) {
    this.#allowed = typeof allowed === 'function' ? allowed : () => allowed;
    this.advice = advice;
    this.#programs = programs;
    this.#folder = folder;
    this.#env = inheritedEnvironment(env);
    this.#atWork = new ConcurrencyLimiter(atWork, stoppedError);
    this.#ledger = ledger;
  }

  get allowed(): AllowedCommands {
    return this.#allowed();
  }

  async run(command: ToolCommand, caller: CommandCaller): Promise<CommandResult> {
    const { tenantId, signal, pauseTimeout } = caller;
    this.#assertAllowed(command, tenantId);
    if (!HAS_PROCESS_GROUPS)
      throw ToolError.nonRetryable(
        'the tool "command" does not work on Windows, which has no process groups',
      );
    if (signal.aborted) throw stoppedError(signal);
    const run = (): Promise<CommandResult> => this.#runIn(command, caller);
    return await this.#atWork.run({ tenant_id: tenantId, signal, pauseTimeout }, run);
  }

  #assertAllowed({ argv: [program], env = {} }: ToolCommand, tenantId: string): void {
    const problem = this.allowed.refuse(program, tenantId);
    if (problem !== undefined) throw ToolError.nonRetryable(`${problem}: ${this.advice}`);
    const name = this.allowed.allowsAll(tenantId)
      ? undefined
      : Object.keys(env).find((key) => LOADS_CODE.test(key));
    if (name !== undefined)
      throw ToolError.nonRetryable(
        `"env": ${name} could make "${program}" run another program, which only * allows: ${this.advice}`,
      );
  }

  async #runIn(command: ToolCommand, caller: CommandCaller): Promise<CommandResult> {
    if (this.#folder !== undefined) return await this.#start(command, this.#folder, caller);
    const own = await mkdtemp(join(tmpdir(), 'wavetrain-command-'));
    try {
      return await this.#start(command, own, caller);
    } finally {
      // A file that cannot be removed, as one in a folder without permissions, is left to who cleans the folder.
      await rm(own, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  async #start(command: ToolCommand, folder: string, caller: CommandCaller): Promise<CommandResult> {
    const cwd = resolve(folder, command.cwd ?? '.');
    const noted = await this.#ledger.open(caller);
    try {
      const env = { ...this.#env, ...command.env, ...noted.environment };
      const program = await this.#launch(command, env, cwd);
      const result = await this.#end(new RunningCommand(program, caller), command);
      if (result.succeeded) await publishFiles(command.files ?? [], cwd, folder, caller);
      return result;
    } finally {
      await noted.ended();
    }
  }

  async #end(running: RunningCommand, command: ToolCommand): Promise<CommandResult> {
    const ended = running.end(command);
    this.#running.set(running, ended);
    try {
      return await ended;
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    const ended = [...this.#running.values()];
    for (const running of this.#running.keys()) running.stop();
    await Promise.allSettled(ended);
  }

  async #launch({ argv }: ToolCommand, env: Record<string, string>, cwd: string): Promise<StartedProgram> {
    const [command, ...args] = argv;
    try {
      return await this.#programs.start({ command, args, env, cwd, graceMs: COMMAND_LIMITS.graceMs });
    } catch (error) {
      const reason = REASONS.get(errorCode(error) ?? '') ?? errorMessage(error);
      throw ToolError.nonRetryable(`"${command}" cannot be started in ${cwd}: ${reason}`, error);
    }
  }
}

/** Variables by which a program is found, or loads code: with them, each allowed name would stand for all programs. */
const LOADS_CODE =
  /^(?:PATH|HOME|IFS|ENV|BASH_.*|BASHOPTS|SHELLOPTS|PS4|LD_.*|DYLD_.*|GCONV_PATH|NODE_.*|PYTHON.*|PERL.*|RUBY.*|JAVA_.*|JDK_.*|_JAVA_.*|GIT_.*|SSH_.*|PAGER|EDITOR|VISUAL|BROWSER|NPM_.*|npm_.*|XDG_.*)$/;

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such program, or no such folder'],
  ['EACCES', 'it is not a program that this user may start, or the folder is closed to this user'],
  [
    'E2BIG',
    'its arguments and variables are longer than the system takes: give it values on standard input ("stdin")',
  ],
  ['ENOTDIR', 'there is no such folder'],
]);

function stoppedError({ reason }: AbortSignal): ToolError {
  return new ToolError('the command was stopped', { retryable: false, cause: reason });
}

/** Commands see no other variables of this process: they may be keys of the operator. */
function inheritedEnvironment(env: NonNullable<CommandAccessOptions['env']>): Record<string, string> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', LANG = 'C.UTF-8', HOME } = env;
  return { PATH, LANG, ...(HOME !== undefined && { HOME }) };
}

/** @returns access that no check before a run refuses, and that starts nothing: for runs whose tools are replaced */
export function withoutPrograms(reason: string): CommandAccess {
  return {
    allowed: AllowedCommands.all,
    advice: '',
    run: () => Promise.reject(ToolError.nonRetryable(reason)),
    close: () => Promise.resolve(),
  };
}
