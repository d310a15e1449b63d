import { writeSync } from 'node:fs';
import { EXIT } from './exit-status.js';

const STDERR = 2;

/** With these the process ends by an error that it has told itself. */
const TOLD = new Set<unknown>([1, 7]);

/**
 * Tells of an end that the command did not come to by itself, and lets it count as a failure: a tool that waits for
 * what nothing is left to bring, and a tool that ends the process. Both would look like success, or like nothing.
 *
 * @returns to be called when the command has come to its own end
 */
export function watchTheEnd(): () => void {
  const onBeforeExit = (): void => {
    tell('a tool or a tool file waits for what nothing is left to bring, so this can never end');
    process.exitCode = EXIT.failed;
    close();
  };
  const onExit = (status: unknown): void => {
    if (TOLD.has(status)) return;
    tell('a tool or a tool file ended the process, and the run with it');
    process.exitCode = EXIT.failed;
  };
  const close = (): void => {
    process.off('beforeExit', onBeforeExit);
    process.off('exit', onExit);
  };
  process.on('beforeExit', onBeforeExit);
  process.on('exit', onExit);
  return close;
}

function tell(what: string): void {
  writeSync(STDERR, `wavetrain: ${what}\n`);
}
