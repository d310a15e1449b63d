import { Cli, type Command, type CommandClass } from 'clipanion';
import type { CliContext } from './context.js';
import { PROGRAM } from './package-info.js';
import type { Style } from './render/terminal.js';
import { table, wrap } from './render/text.js';

/** What there is to say about a command. */
export interface HelpPage {
  readonly command: CommandClass<CliContext>;
  /** The words that call it: `['schema', 'pipeline']`. */
  readonly path: readonly string[];
  /** With its positionals: `wavetrain run <FILE>`. */
  readonly synopsis: string;
  /** `definition` is clipanion's: `--tools,-t #0`, where `#0` stands for a value. */
  readonly options: readonly { readonly definition: string; readonly description: string }[];
  readonly description?: string;
  readonly details?: string;
  readonly examples?: readonly (readonly [label: string, command: string])[];
}

/** Longer lines are hard to read, however wide the terminal. */
const WIDEST = 100;

const START: readonly (readonly [command: string, meaning: string])[] = [
  [`${PROGRAM} init demo`, 'writes a pipeline to start from'],
  [`${PROGRAM} validate FILE`, 'is it sound, and what will it do?'],
  [`${PROGRAM} run FILE --params '{"city": "Oslo"}'`, 'runs it, with parameters'],
  [`${PROGRAM} run FILE --json | jq .report`, 'hands its outputs on'],
];

const STATUSES = '0 done; 1 the definition is invalid; 2 bad usage; 3 the run failed; 130 interrupted';

const MORE = `${PROGRAM} <command> --help says more about a command, ${PROGRAM} --version which version this is.`;

/** The help of the whole program. */
function overview(pages: readonly HelpPage[], style: Style, columns: number): string {
  const width = Math.min(columns, WIDEST);
  const commands = pages.map((page) => [shortSynopsis(page), page.description ?? ''] as const);
  return text([
    `${style.bold(PROGRAM)} runs pipelines, YAML files of tasks that call tools, and plans of several pipelines.`,
    '',
    style.bold('Usage'),
    `  ${PROGRAM} <command> [options]`,
    '',
    style.bold('Commands'),
    ...table(commands, width, style.cyan),
    '',
    style.bold('To begin'),
    ...table(START, width, style.cyan),
    '',
    style.bold('Exit status'),
    ...wrap(STATUSES, width - 2).map((line) => `  ${line}`),
    '',
    ...wrap(MORE, width),
  ]);
}

/** The help of commands that begin with the same word. */
function groupHelp(pages: readonly HelpPage[], style: Style, columns: number): string {
  const width = Math.min(columns, WIDEST);
  const commands = pages.map((page) => [shortSynopsis(page), page.description ?? ''] as const);
  return text([style.bold('Commands'), ...table(commands, width, style.cyan), '', ...wrap(MORE, width)]);
}

/** The help of one command. */
function commandHelp(page: HelpPage, style: Style, columns: number): string {
  const width = Math.min(columns, WIDEST);
  const options = page.options.map(optionRow);
  return text([
    ...wrap(`${capitalised(page.description ?? '')}.`, width),
    '',
    style.bold('Usage'),
    `  ${page.synopsis.replaceAll(/[<>]/g, '')}${options.length > 0 ? ' [options]' : ''}`,
    ...section(style, 'Options', table(options, width, style.cyan)),
    ...section(style, 'Details', paragraphs(page.details ?? '', width)),
    ...section(style, 'Examples', examples(page, style)),
  ]);
}

function section(style: Style, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', style.bold(title), ...lines];
}

/** Options say what their value is at the start of their description: `<SECONDS> longest time of one attempt`. */
function optionRow({ definition, description }: HelpPage['options'][number]): readonly [string, string] {
  const [, value, meaning = description] = /^<([^>]+)> (.*)$/s.exec(description) ?? [];
  const names = definition.replace(/ #\d+.*$/, '').replaceAll(',', ', ');
  return [value === undefined ? names : `${names} ${value}`, meaning];
}

function paragraphs(details: string, width: number): string[] {
  const blocks = details.trim().split(/\n\s*\n/);
  const lines = blocks.flatMap((block) => [...wrap(block, width - 2).map((line) => `  ${line}`), '']);
  return lines.slice(0, -1).length === 0 ? [] : lines.slice(0, -1);
}

function examples({ examples: all = [] }: HelpPage, style: Style): string[] {
  const shown = all.flatMap(([label, command]) => [
    `  ${style.dim(`# ${label}`)}`,
    `  ${command.replace('$0', PROGRAM)}`,
    '',
  ]);
  return shown.slice(0, -1);
}

function shortSynopsis({ synopsis }: HelpPage): string {
  return synopsis.slice(PROGRAM.length + 1).replaceAll(/[<>]/g, '');
}

function capitalised(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
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
