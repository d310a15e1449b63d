import { messageOf } from '../common/errors.js';
import { BadUsage } from './bad-usage.js';
import type { CliContext } from './context.js';
import { EXIT, statusOfError } from './exit-status.js';
import type { HelpPage } from './help.js';
import { explainMisuse } from './misuse.js';
import { printable } from './printable.js';
import { styleOf } from './style.js';
import { type Terminal, terminalOf } from './terminal.js';
import { screenLines } from './wrap.js';

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
