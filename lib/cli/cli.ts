import { Cli, type Command, type CommandClass } from 'clipanion';
import { commandHelp, groupHelp, type HelpPage, overview } from './help.js';
import type { CliContext } from './context.js';
import { PROGRAM } from './program.js';
import type { Style } from './style.js';

/** One option of a command: its names, whether a value follows, and what it is for. */
export interface OptionHelp {
  readonly definition: string;
  readonly description: string;
}

/**
 * clipanion's Cli with its own opinions taken out: errors are kept for `main` to print on standard error instead
 * of being written to standard output, and help is drawn by this program, coloured only where colours are shown.
 */
export class WavetrainCli extends Cli<CliContext> {
  readonly #style: Style;
  readonly #columns: number;
  /** What the command threw; undefined when it returned. */
  failure: { readonly error: unknown } | undefined;

  constructor(style: Style, columns: number) {
    super({ binaryName: PROGRAM, enableColors: false });
    this.#style = style;
    this.#columns = columns;
  }

  /** Called by clipanion for everything that is thrown; what it returns goes to standard output. */
  override error(error: unknown): string {
    this.failure = { error };
    return '';
  }

  /** Called by clipanion for `--help` and by the help command. */
  override usage(command: CommandClass<CliContext> | Command<CliContext> | null = null): string {
    if (command === null) return overview(this.pages(), this.#style, this.#columns);
    const wanted = typeof command === 'function' ? command : command.constructor;
    const page = this.pages().find((candidate) => candidate.command === wanted);
    return page === undefined ? this.usage() : commandHelp(page, this.#style, this.#columns);
  }

  /** `runs --help`: clipanion knows no such command. Tells what there is, and answers whether it was asked for. */
  tellGroup([group, second]: readonly string[], { stdout }: CliContext): boolean {
    const pages = this.pages().filter(({ path }) => path[0] === group && path.length > 1);
    if (pages.length === 0 || (second !== '--help' && second !== '-h')) return false;
    stdout.write(groupHelp(pages, this.#style, this.#columns));
    return true;
  }

  /** Every documented command, in the order of registration. */
  pages(): HelpPage[] {
    return [...this.registrations.keys()].flatMap((command) => {
      if (command.usage === undefined) return [];
      const { usage, options } = this.getUsageByRegistration(command, { inlineOptions: false });
      return [{ command, path: command.paths?.[0] ?? [], synopsis: usage, options, ...command.usage }];
    });
  }
}
