import { Cli, Command, type CommandClass } from 'clipanion';
import type { CliContext } from '../context.js';
import { PROGRAM, readPackageJson } from '../package-info.js';
import type { Style, Terminal } from './terminal.js';
import { formatTable, wrapText } from './text.js';

/**
 * The Cli of clipanion with two changes: it keeps the error for `main`, which prints it on standard error, instead of
 * writing it to standard output; and it renders help itself, with colours only where the terminal has them.
 */
export class WavetrainCli extends Cli<CliContext> {
  readonly #style: Style;
  readonly #columns: number;
  /** The error that the command threw; undefined if it returned. */
  failure: { readonly error: unknown } | undefined;

  constructor({ style, columns, interactive }: Terminal) {
    super({ binaryName: PROGRAM, enableColors: false });
    this.#style = style;
    // The last column of a terminal stays free: some break the line there.
    this.#columns = Math.min(interactive ? columns - 1 : columns, MAX_COLUMNS);
  }

  /** Called by clipanion with each thrown error; it writes the returned text to standard output. */
  override error(error: unknown): string {
    this.failure = { error };
    return '';
  }

  /** Called by clipanion for `--help`, and by the help command without a command. */
  override usage(command: CommandClass<CliContext> | Command<CliContext> | null = null): string {
    const wanted = typeof command === 'function' ? command : command?.constructor;
    const page = this.pages().find((candidate) => candidate.command === wanted);
    return page === undefined
      ? overviewHelp(this.pages(), this.#style, this.#columns)
      : commandHelp(page, this.#style, this.#columns);
  }

  /** Prints the help of a group, such as `runs --help`, which clipanion lacks. Returns false for other command lines. */
  printGroupHelp([group, flag]: readonly string[], { stdout }: CliContext): boolean {
    const pages = this.pages().filter(({ path }) => path[0] === group && path.length > 1);
    if (pages.length === 0 || (flag !== '--help' && flag !== '-h')) return false;
    const commands = commandsSection(pages, this.#style, this.#columns);
    stdout.write(joinLines([...commands, '', ...wrapText(MORE, this.#columns)]));
    return true;
  }

  /** The help pages of the documented commands, in the order of registration. */
  pages(): HelpPage[] {
    return [...this.registrations.keys()].flatMap((command) => {
      if (command.usage === undefined) return [];
      const { usage, options } = this.getUsageByRegistration(command, { inlineOptions: false });
      const path = command.paths?.[0] ?? [];
      return [
        {
          ...command.usage,
          command,
          path,
          synopsis: cleanSynopsis(usage),
          options: options.map(cleanOption).toSorted((a, b) => placeOf(a) - placeOf(b)),
        },
      ];
    });
  }
}

/** `wavetrain` and `wavetrain --help`. After the name of a command, clipanion handles `--help`. */
export class HelpCommand extends Command<CliContext> {
  static override paths = [Command.Default, ['-h'], ['--help']];

  override async execute(): Promise<void> {
    this.context.stdout.write(this.cli.usage());
  }
}

export class VersionCommand extends Command<CliContext> {
  static override paths = [['--version'], ['-v']];

  override async execute(): Promise<void> {
    this.context.stdout.write(`${readPackageJson().version}\n`);
  }
}

export interface HelpPage {
  readonly command: CommandClass<CliContext>;
  /** The words of the command: `['schema', 'pipeline']`. */
  readonly path: readonly string[];
  /** The command with its positionals: `wavetrain run FILE`, `wavetrain tools [NAME]`. */
  readonly synopsis: string;
  readonly options: readonly OptionHelp[];
  readonly description?: string;
  readonly details?: string;
  readonly examples?: readonly (readonly [label: string, command: string])[];
}

interface OptionHelp {
  /** `['--tools', '-t']` */
  readonly names: readonly string[];
  /** Begins with the value, if the option takes one: `<SECONDS> time limit of each attempt`. */
  readonly description: string;
}

/** clipanion writes required positionals as `<FILE>`. */
function cleanSynopsis(usage: string): string {
  return usage.replaceAll(/[<>]/g, '');
}

/** clipanion defines an option as `--tools,-t #0`, where `#0` stands for a value. */
function cleanOption({ definition, description }: { definition: string; description: string }): OptionHelp {
  return { names: definition.replace(/ #\d+.*$/, '').split(','), description };
}

/** Flags that many commands share, and that say nothing of what a command does: help lists them last, in this order. */
const SHARED_FLAGS = ['--server', '--store', '--tools', '--mcp', '--env-file'];

function placeOf({ names: [name = ''] }: OptionHelp): number {
  return SHARED_FLAGS.indexOf(name);
}

/** Longer lines are hard to read, however wide the terminal is. */
const MAX_COLUMNS = 100;

const GETTING_STARTED: readonly (readonly [command: string, meaning: string])[] = [
  [`${PROGRAM} init demo`, 'creates a pipeline to start from'],
  [`${PROGRAM} validate FILE`, 'checks it and shows its waves'],
  [`${PROGRAM} run FILE --params '{"city": "Oslo"}'`, 'runs it with params'],
  [`${PROGRAM} run FILE --json | jq .report`, 'passes its outputs to another program'],
];

const PURPOSE = 'runs pipelines, YAML files of tasks that call tools, and plans of several pipelines.';

const EXIT_STATUSES =
  '0 success; 1 the definition is invalid; 2 bad usage; 3 the run failed; 130 the run was interrupted';

const MORE = `${PROGRAM} <command> --help describes a command, ${PROGRAM} --version prints the version.`;

function overviewHelp(pages: readonly HelpPage[], style: Style, columns: number): string {
  return joinLines([
    ...wrapText(`${style.bold(PROGRAM)} ${PURPOSE}`, columns),
    '',
    style.bold('Usage'),
    `  ${PROGRAM} <command> [options]`,
    '',
    ...commandsSection(pages, style, columns),
    '',
    style.bold('Getting started'),
    ...formatTable(GETTING_STARTED, columns, style.cyan),
    '',
    style.bold('Exit status'),
    ...wrapText(EXIT_STATUSES, columns - 2).map((line) => `  ${line}`),
    '',
    ...wrapText(MORE, columns),
  ]);
}

function commandsSection(pages: readonly HelpPage[], style: Style, columns: number): string[] {
  const rows = pages.map(
    ({ synopsis, description = '' }) => [synopsis.slice(PROGRAM.length + 1), description] as const,
  );
  return [style.bold('Commands'), ...formatTable(rows, columns, style.cyan)];
}

function commandHelp(page: HelpPage, style: Style, columns: number): string {
  const { description = '', synopsis, options, details = '' } = page;
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  return joinLines([
    ...wrapText(sentence, columns),
    '',
    style.bold('Usage'),
    ...hangingLines(`${synopsis}${options.length > 0 ? ' [options]' : ''}`, '  ', '    ', columns),
    ...section(style, 'Options', formatTable(options.map(optionRow), columns, style.cyan)),
    ...section(style, 'Details', wrapParagraphs(details, columns)),
    ...section(style, 'Examples', exampleLines(page, style, columns)),
  ]);
}

function section(style: Style, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', style.bold(title), ...lines];
}

function optionRow({ names, description }: OptionHelp): readonly [string, string] {
  const [, value, meaning = description] = /^<([^>]+)> (.*)$/s.exec(description) ?? [];
  return [`${names.join(', ')}${value === undefined ? '' : ` ${value}`}`, meaning];
}

function wrapParagraphs(details: string, columns: number): string[] {
  const paragraphs = details.trim().split(/\n\s*\n/);
  return paragraphs
    .flatMap((text) => [...wrapText(text, columns - 2).map((line) => `  ${line}`), ''])
    .slice(0, -1);
}

/** The commands are not wrapped, so that they can be copied. */
function exampleLines({ examples = [] }: HelpPage, style: Style, columns: number): string[] {
  return examples
    .flatMap(([label, command]) => [
      ...hangingLines(label, '  # ', '  # ', columns).map(style.dim),
      `  ${command.replace('$0', PROGRAM)}`,
      '',
    ])
    .slice(0, -1);
}

/** Wraps a text, with one head for its first line and another for the others. */
function hangingLines(text: string, first: string, others: string, columns: number): string[] {
  return wrapText(text, columns - others.length).map((line, index) => (index === 0 ? first : others) + line);
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
