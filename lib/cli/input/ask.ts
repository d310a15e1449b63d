import { createInterface } from 'node:readline/promises';
import type { CliContext } from '../context.js';
import { escapeControlCharacters } from '../render/text.js';

/** Returns true when a person can be asked. */
export function isTerminal({ stdin, stderr }: Pick<CliContext, 'stdin' | 'stderr'>): boolean {
  return isTty(stdin) && isTty(stderr);
}

/** Returns true when a stream is a terminal: nobody presses Enter in a file or a pipe. */
export function isTty(stream: CliContext['stdin' | 'stderr']): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}

/**
 * Asks a person, who is at a terminal. Resolves with the answer in lower case; empty when the input has ended.
 *
 * @param question may contain texts of anybody, which hide nothing behind control characters
 */
export async function ask(
  question: string,
  { stdin, stderr }: Pick<CliContext, 'stdin' | 'stderr'>,
): Promise<string> {
  const prompt = createInterface({ input: stdin, output: stderr });
  const ended = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  const shown = question.split('\n').map(escapeControlCharacters).join('\n');
  try {
    return (await Promise.race([prompt.question(shown), ended])).trim().toLowerCase();
  } finally {
    prompt.close();
  }
}

/**
 * Asks a person, who is at a terminal, whether to go on. Everything but a clear yes is a no: nothing must begin because
 * somebody has pressed Enter, or because the input has ended.
 *
 * @param question ends with a question mark
 */
export async function askToGoOn(
  question: string,
  context: Pick<CliContext, 'stdin' | 'stderr'>,
): Promise<boolean> {
  return isYes(await ask(`${question} y or N: `, context));
}

/** Returns true for an answer that is a clear yes. @param answer of {@link ask} */
export function isYes(answer: string): boolean {
  return ['y', 'yes'].includes(answer);
}
