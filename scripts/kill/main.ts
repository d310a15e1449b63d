import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countFaults, Trial } from './trial.js';

/**
 * `npm run kill -- [KILLS]`: kills a server with SERVICE_STORE by SIGKILL at random moments and starts it again, until it
 * has been killed so often, and compares every run with one of a server that nobody disturbed. Prints the figures; the
 * exit status is 1 when a run was lost, one differs, or a call was made twice that must not be (D68).
 */
async function main(kills: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wavetrain-kill-'));
  const print = (line: string): void => void process.stderr.write(`${line}\n`);
  const trial = new Trial({ folder, random: Math.random, isTimed: true, print });
  const figures = await trial.run(kills);
  rmSync(folder, { recursive: true });
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  process.exitCode = countFaults(figures) === 0 ? 0 : 1;
}

await main(Number(process.argv[2] ?? 100));
