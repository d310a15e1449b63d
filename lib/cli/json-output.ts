import type { CliContext } from './context.js';
import { terminalOf } from './terminal.js';

/** Prints one JSON document: indented for people, on one line for programs (D41). */
export function printJson(value: unknown, { stdout, env }: Pick<CliContext, 'stdout' | 'env'>): void {
  const { interactive } = terminalOf(stdout, env);
  stdout.write(`${JSON.stringify(value, null, interactive ? 2 : 0)}\n`);
}
