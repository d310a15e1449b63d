import { errorMessage, WavetrainError } from '../../common/errors.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { CliContext } from '../context.js';
import { EXIT, exitStatusForError } from '../exit-status.js';
import type { HelpPage } from '../render/help.js';
import { PROGRAM } from '../package-info.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { escapeControlCharacters, wrapLine } from '../render/text.js';

/** A mistake in the command line. The hint says what to write instead (D40). */
export class UsageError extends WavetrainError {
  override readonly name = 'UsageError';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super('bad_usage', message);
    this.hint = hint;
  }
}

/**
 * Prints the error that a command threw: the cause and a hint, without a stack. Returns the error as it was printed.
 * @param pages the help of all commands, to explain errors of clipanion
 */
export function printError(
  thrown: unknown,
  argv: readonly string[],
  pages: readonly HelpPage[],
  context: CliContext,
): unknown {
  // clipanion marks the errors that it throws about the command line.
  const isClipanionError = thrown instanceof Error && 'clipanion' in thrown;
  const error = isClipanionError ? explainUsageError(argv, pages, thrown.message) : thrown;
  const terminal = detectTerminal(context.stderr, context.env);
  const { style } = terminal;
  const message = escapeControlCharacters(errorMessage(error));
  const lines = wrapMessage(`${style.red(`${PROGRAM}:`)} ${message}`, terminal);
  if (error instanceof UsageError && error.hint !== undefined)
    lines.push(...wrapMessage(`  ${escapeControlCharacters(error.hint)}`, terminal).map(style.dim));
  if (exitStatusForError(error) === EXIT.internal) lines.push(...describeInternalError(error, context));
  context.stderr.write(`${lines.join('\n')}\n`);
  return error;
}

/** Wraps lines on a narrow terminal, but not the commands among them, which users copy. */
function wrapMessage(text: string, terminal: Terminal): string[] {
  return text
    .split('\n')
    .flatMap((line) => (/^ *(?:as in|try:) /.test(line) ? [line] : wrapLine(line, terminal)));
}

/** An internal error is a bug. The stack is printed on request only. */
function describeInternalError(error: unknown, { env }: CliContext): string[] {
  if (env['WAVETRAIN_DEBUG'] && error instanceof Error) return [error.stack ?? ''];
  return ['  this is a bug in Wavetrain; set WAVETRAIN_DEBUG=1 to print the stack trace'];
}

/** Explains why clipanion did not accept the command line. `reason` is the message of clipanion. */
function explainUsageError(argv: readonly string[], pages: readonly HelpPage[], reason: string): UsageError {
  const [first = '', second] = argv;
  if (first.startsWith('-')) return misplacedOption(first, pages);
  const group = pages.filter(({ path }) => path[0] === first);
  const page = group.find(({ path }) => path.every((word, index) => argv[index] === word));
  if (page !== undefined) return rejectedArguments(argv, page, reason);
  return group.length > 0 ? wrongSubcommand(first, second, group) : unknownCommand(first, pages);
}

function misplacedOption(option: string, pages: readonly HelpPage[]): UsageError {
  const exists = pages.some((page) => optionNames(page).includes(withoutValue(option)));
  return exists
    ? new UsageError(`${option} must come after the command`, `as in ${PROGRAM} run FILE ${option}`)
    : new UsageError(`there is no option ${option}`, seeHelp(''));
}

const RUNS = 'runs';

function unknownCommand(word: string, pages: readonly HelpPage[]): UsageError {
  const names = [...new Set([...pages.flatMap(({ path }) => path.slice(0, 1)), 'help'])];
  // The word after `runs`, without it: `rerun` for `runs rerun`.
  const subcommands = pages.flatMap(({ path: [group, name] }) => (group === RUNS && name ? [name] : []));
  const known = [...names, ...subcommands];
  const meant = nearest(word, known) ?? known.find((name) => word !== '' && name.startsWith(word));
  const suggestion = meant === undefined || names.includes(meant) ? meant : `${RUNS} ${meant}`;
  const hint =
    suggestion === undefined
      ? `the commands are ${names.join(', ')}`
      : `did you mean ${PROGRAM} ${suggestion}?`;
  return new UsageError(`there is no command "${word}"`, hint);
}

/** Explains `wavetrain schema` and `wavetrain schema task`. */
function wrongSubcommand(
  command: string,
  subcommand: string | undefined,
  group: readonly HelpPage[],
): UsageError {
  const message =
    subcommand === undefined
      ? `"${command}" needs a subcommand`
      : `"${command}" has no subcommand "${subcommand}"`;
  const subcommands = group.map(({ path }) => path.slice(1).join(' '));
  return new UsageError(message, `write ${PROGRAM} ${command} ${subcommands.join(' or ')}`);
}

function rejectedArguments(argv: readonly string[], page: HelpPage, reason: string): UsageError {
  const command = page.path.join(' ');
  const [, unknownOption] = /^(?:Unsupported|Invalid) option name \("(.*)"\)/s.exec(reason) ?? [];
  if (unknownOption !== undefined) return rejectedOption(unknownOption, page);
  const [, incompleteOption] = /^Not enough arguments to option (.+)\.$/m.exec(reason) ?? [];
  if (incompleteOption !== undefined) return optionWithoutValue(incompleteOption, argv, page);
  const [, extra] = /^Extraneous positional argument \("(.*)"\)/s.exec(reason) ?? [];
  if (extra !== undefined) return unexpectedArgument(extra, page);
  if (reason.startsWith('Not enough positional')) {
    const missing = page.synopsis.split(' ')[page.path.length + 1] ?? 'an argument';
    return new UsageError(`${command} needs ${missing}`, usageHint(page));
  }
  return explainArguments(argv.slice(page.path.length), page, command);
}

/** clipanion says no more of a command whose arguments may be left out than that they do not match. */
function explainArguments(args: readonly string[], page: HelpPage, command: string): UsageError {
  const names = optionNames(page);
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-') || arg === '-') words.push(arg);
    else if (!names.includes(withoutValue(arg))) return rejectedOption(arg, page);
    else if (arg.includes('=')) {
      if (!takesValue(withoutValue(arg), page)) return rejectedOption(arg, page);
    } else if (takesValue(arg, page) && ++index === args.length) return optionWithoutValue(arg, args, page);
  }
  const [first, second] = words;
  if (second === undefined) return new UsageError(`cannot understand "${args.join(' ')}"`, usageHint(page));
  if (!page.synopsis.includes(TEXT_ARGUMENT)) return unexpectedArgument(second, page);
  const text = words.join(' ').replaceAll("'", "'\\''");
  return new UsageError(
    `${command} takes one description, and "${first}" and "${second}" are two`,
    `put the description in quotes\n  as in ${PROGRAM} ${command} '${text.slice(0, MAX_SHOWN)}'`,
  );
}

/** The commands on a store take its file by a flag, because `store backup` takes another file as well. */
function unexpectedArgument(argument: string, page: HelpPage): UsageError {
  const isStore = page.path[0] === 'store' && page.path[1] !== 'backup';
  const hint = isStore ? `--store ${argument} names the file of the store` : usageHint(page);
  return new UsageError(`unexpected argument "${argument}"`, hint);
}

/** The argument of a command that is words, which the shell takes apart. */
const TEXT_ARGUMENT = 'PROMPT';

const MAX_SHOWN = 200;

function takesValue(option: string, page: HelpPage): boolean {
  const help = page.options.find(({ names }) => names.includes(option));
  return help?.description.startsWith('<') === true;
}

/** Explains an option that does not exist, or one that has a value but takes none. */
function rejectedOption(option: string, page: HelpPage): UsageError {
  const names = optionNames(page);
  const name = withoutValue(option);
  if (names.includes(name)) return new UsageError(`${name} takes no value`, usageHint(page));
  const command = page.path.join(' ');
  const suggestion = suggestOption(name, names);
  const hint = suggestion === undefined ? seeHelp(command) : `did you mean ${suggestion}?`;
  return new UsageError(`${command} has no option ${name}`, hint);
}

/** Options under the names that they have in other programs. */
const FOREIGN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  '--concurrency': ['--parallel', '--parallelism', '--max-parallel', '--workers', '--jobs'],
  '--params': ['--set', '--var', '--arg'],
  '--tools': ['--plugin'],
  '--verbose': ['--debug'],
  '--server': ['--url', '--host'],
  '--retry-base-delay': ['--retry-delay', '--backoff'],
  '--timeout': ['--time-limit'],
  '--tenant': ['--namespace'],
};

/** Finds the option of a command that was probably meant, also by the name that another program has for it. */
function suggestOption(name: string, names: readonly string[]): string | undefined {
  const foreign = names.flatMap((own) => FOREIGN_OPTIONS[own] ?? []);
  const meant = nearest(name, [...names, ...foreign]);
  return names.find((own) => own === meant || FOREIGN_OPTIONS[own]?.includes(meant ?? ''));
}

function optionWithoutValue(option: string, argv: readonly string[], page: HelpPage): UsageError {
  const next = argv[argv.indexOf(option) + 1];
  const hint =
    next === undefined ? seeHelp(page.path.join(' ')) : `write ${option}=${next} if "${next}" is its value`;
  return new UsageError(`${option} needs a value`, hint);
}

function optionNames(page: HelpPage): string[] {
  return page.options.flatMap(({ names }) => names);
}

/** `--json` for `--json=yes` */
function withoutValue(option: string): string {
  return option.replace(/=.*$/s, '');
}

function usageHint({ synopsis }: HelpPage): string {
  return `usage: ${synopsis}`;
}

function seeHelp(command: string): string {
  return `${[PROGRAM, command, '--help'].filter((word) => word !== '').join(' ')} lists the options`;
}
