import { messageOf, WavetrainError } from '../common/errors.js';
import { nearest } from '../definition/suggest.js';
import type { CliContext } from './context.js';
import { EXIT, statusOfError } from './exit-status.js';
import type { HelpPage } from './help.js';
import { PROGRAM } from './package-info.js';
import { styleOf, type Terminal, terminalOf } from './render/terminal.js';
import { printable, screenLines } from './render/text.js';

/** The command line was not understood: says what was wrong and, in the hint, what to write instead (D40). */
export class BadUsage extends WavetrainError {
  override readonly name = 'BadUsage';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super('bad_usage', message);
    this.hint = hint;
  }
}

/** Says in plain words why clipanion did not understand `argv`. `reason` are clipanion's own words. */
function explainMisuse(argv: readonly string[], pages: readonly HelpPage[], reason: string): BadUsage {
  const [first = ''] = argv;
  if (first.startsWith('-')) return misplacedOption(first, pages);
  const candidates = pages.filter(({ path }) => path[0] === first);
  const page = candidates.find(({ path }) => path.every((word, index) => argv[index] === word));
  if (page !== undefined) return misusedCommand(argv, page, reason);
  return candidates.length > 0 ? unfinishedCommand(argv, candidates) : unknownCommand(first, pages);
}

function misplacedOption(option: string, pages: readonly HelpPage[]): BadUsage {
  const known = pages.some((page) => namesOf(page).includes(nameIn(option)));
  return known
    ? new BadUsage(`the command comes first, then ${option}`, `as in ${PROGRAM} run FILE ${option}`)
    : new BadUsage(`there is no option ${option}`, seeHelp(''));
}

function unknownCommand(word: string, pages: readonly HelpPage[]): BadUsage {
  const words = [...new Set([...pages.flatMap(({ path }) => path.slice(0, 1)), 'help'])];
  const meant = nearest(word, words) ?? words.find((known) => word !== '' && known.startsWith(word));
  const hint =
    meant === undefined ? `the commands are ${words.join(', ')}` : `did you mean ${PROGRAM} ${meant}?`;
  return new BadUsage(`there is no command "${word}"`, hint);
}

/** `wavetrain schema`, without saying of what. */
function unfinishedCommand(argv: readonly string[], candidates: readonly HelpPage[]): BadUsage {
  const [first = '', second] = argv;
  const words = candidates.map(({ path }) => path.slice(1).join(' '));
  const what = second === undefined ? `"${first}" wants one word more` : `"${first}" knows no "${second}"`;
  return new BadUsage(what, `write ${PROGRAM} ${first} ${words.join(' or ')}`);
}

function misusedCommand(argv: readonly string[], page: HelpPage, reason: string): BadUsage {
  const name = page.path.join(' ');
  const unknown = /^(?:Unsupported|Invalid) option name \("(.*)"\)/s.exec(reason)?.[1];
  if (unknown !== undefined) return wrongOption(unknown, page);
  const wanting = /^Not enough arguments to option (.+)\.$/m.exec(reason)?.[1];
  if (wanting !== undefined) return optionWithoutValue(wanting, argv, page);
  const extra = /^Extraneous positional argument \("(.*)"\)/s.exec(reason)?.[1];
  if (extra !== undefined)
    return new BadUsage(`${name} does not know what to do with "${extra}"`, synopsis(page));
  if (reason.startsWith('Not enough positional')) {
    const [missing = 'an argument'] = /<(\w+)>/.exec(page.synopsis)?.slice(1) ?? [];
    return new BadUsage(`${name} needs ${missing}`, synopsis(page));
  }
  return new BadUsage(`cannot understand "${argv.join(' ')}"`, synopsis(page));
}

function wrongOption(option: string, page: HelpPage): BadUsage {
  const names = namesOf(page);
  const name = page.path.join(' ');
  const bare = nameIn(option);
  if (names.includes(bare)) return new BadUsage(`${bare} takes no value`, synopsis(page));
  const meant = nearest(bare, names);
  const hint = meant === undefined ? seeHelp(name) : `did you mean ${meant}?`;
  return new BadUsage(`${name} has no option ${bare}`, hint);
}

function optionWithoutValue(option: string, argv: readonly string[], page: HelpPage): BadUsage {
  const next = argv[argv.indexOf(option) + 1];
  const hint =
    next === undefined ? seeHelp(page.path.join(' ')) : `write ${option}=${next} if "${next}" is its value`;
  return new BadUsage(`${option} needs a value`, hint);
}

function namesOf(page: HelpPage): string[] {
  return page.options.flatMap(({ definition }) => definition.replace(/ #\d+.*$/, '').split(','));
}

function nameIn(option: string): string {
  return option.split('=', 1)[0] ?? option;
}

function synopsis(page: HelpPage): string {
  return `write ${page.synopsis.replaceAll(/[<>]/g, '')}`;
}

function seeHelp(command: string): string {
  return `${[PROGRAM, command, '--help'].filter((word) => word !== '').join(' ')} lists what there is`;
}

/**
 * Tells on standard error what a command threw: what went wrong and what to do, never a stack.
 *
 * @returns the error that was told, for its exit status.
 */
export function tellFailure(
  thrown: unknown,
  argv: readonly string[],
  pages: readonly HelpPage[],
  context: CliContext,
): unknown {
  const error = isMisuse(thrown) ? explainMisuse(argv, pages, thrown.message) : thrown;
  const terminal = terminalOf(context.stderr, context.env);
  const style = styleOf(terminal);
  const lines = fitted(`${style.red('wavetrain:')} ${printable(messageOf(error))}`, terminal);
  if (error instanceof BadUsage && error.hint !== undefined)
    lines.push(...fitted(`  ${printable(error.hint)}`, terminal).map(style.dim));
  if (statusOfError(error) === EXIT.internal) lines.push(...aboutFault(error, context));
  context.stderr.write(`${lines.join('\n')}\n`);
  return error;
}

/** Broken at blanks where the terminal is too narrow, but for commands, which are there to be copied. */
function fitted(text: string, terminal: Terminal): string[] {
  return text.split('\n').flatMap((line) => (/^ *as in /.test(line) ? [line] : screenLines(line, terminal)));
}

/** clipanion marks the errors that it throws about the words of the command line. */
function isMisuse(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'clipanion' in thrown;
}

/** Only a bug comes here; whoever reports it can ask for the stack. */
function aboutFault(error: unknown, { env }: CliContext): string[] {
  const wanted = env['WAVETRAIN_DEBUG'] !== undefined && env['WAVETRAIN_DEBUG'] !== '';
  if (wanted && error instanceof Error) return [error.stack ?? ''];
  return ['  this is a fault in Wavetrain itself; WAVETRAIN_DEBUG=1 shows where it is'];
}
