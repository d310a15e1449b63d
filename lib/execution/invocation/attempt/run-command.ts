import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../common/clock.js';
import { ToolError } from '../../../common/errors.js';
import { ellipsize, formatCount } from '../../../common/text.js';
import { CapturedOutput } from '../../../tools/commands/captured-output.js';
import type { CommandAccess } from '../../../tools/commands/command-access.js';
import { COMMAND_LIMITS } from '../../../tools/commands/command-limits.js';
import { type LineMasker, MaskedLines } from '../../../tools/commands/masked-lines.js';
import type { CommandResult, ToolCommand } from '../../../tools/tool.js';

/** The attempt that starts a command, and the services that it has for that. */
interface CommandServices {
  readonly commands: CommandAccess;
  readonly masker: LineMasker;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
  readonly holdMemory: (bytes: number) => void;
}

/** Starts a program as `ToolContext.command` promises (D88). */
export async function runCommand(
  { argv, env = {}, cwd = undefined, stdin = '' }: ToolCommand,
  services: CommandServices,
): Promise<CommandResult> {
  const { commands, masker, clock, signal, log, holdMemory } = services;
  const folder = cwd ?? commands.folder;
  const own = folder === undefined ? await mkdtemp(join(tmpdir(), 'wavetrain-command-')) : undefined;
  const output = new CapturedOutput(COMMAND_LIMITS.outputBytes, holdMemory);
  const lines = new CommandLog(log);
  const [stdout, stderr] = [0, 0].map(() => new MaskedLines(masker, (line) => lines.add(line)));
  try {
    const exit = await commands.run(
      { argv, env: { ...inheritedEnvironment(), ...env }, cwd: folder ?? own ?? tmpdir(), stdin },
      {
        clock,
        signal,
        onStdout: (bytes) => {
          output.write(bytes);
          stdout?.write(bytes);
        },
        onStderr: (bytes) => stderr?.write(bytes),
      },
    );
    stdout?.end();
    stderr?.end();
    lines.end();
    if ('error' in exit) throw ToolError.nonRetryable(`nobody knows how "${argv[0]}" has ended: ${exit.error}`);
    const { text, cut } = output;
    return { status: exit.status, signal: exit.signal, stdout: text, cut, lastLines: lines.last };
  } finally {
    if (own !== undefined) await rm(own, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Commands see no other variables, which may be keys of the operator. */
function inheritedEnvironment(): Record<string, string> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', LANG = 'C.UTF-8', HOME = homedir() } = process.env;
  return { PATH, LANG, HOME };
}

/** Logs the lines of a command up to a limit, and keeps the last ones for its error. */
class CommandLog {
  readonly last: string[] = [];
  readonly #log: (message: string) => void;
  #lines = 0;
  #characters = 0;
  #leftOut = 0;

  constructor(log: (message: string) => void) {
    this.#log = log;
  }

  add(line: string): void {
    if (line.trim() !== '') this.#keep(line);
    const { loggedLines, loggedCharacters } = COMMAND_LIMITS;
    this.#lines++;
    this.#characters += line.length;
    if (this.#lines > loggedLines || this.#characters > loggedCharacters) this.#leftOut++;
    else this.#log(line);
  }

  end(): void {
    if (this.#leftOut > 0) this.#log(`… ${formatCount(this.#leftOut, 'more line')} not logged`);
  }

  #keep(line: string): void {
    this.last.push(ellipsize(line, COMMAND_LIMITS.lastLineLength));
    if (this.last.length > COMMAND_LIMITS.lastLines) this.last.shift();
  }
}
