import { parseEnv } from 'node:util';
import type { CliContext } from '../context.js';
import { readText } from '../source.js';

/**
 * Sets the variables of a file in the environment, before anything reads it; those that are set already win (D42).
 *
 * @throws WavetrainError `unreadable_file`.
 */
export async function readEnvFile(name: string | undefined, context: CliContext): Promise<void> {
  if (name === undefined) return;
  const variables = parseEnv(await readText(name, '--env-file', context));
  for (const [variable, value] of Object.entries(variables)) context.env[variable] ??= value;
}
