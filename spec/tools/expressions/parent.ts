// Evaluates in two worker processes and prints "evaluated". Then exits, closes the pool, or stays.
// Arguments: the program of a process; that of a fork server, or nothing; "close", "stay", or nothing.
import { systemClock } from '../../../lib/common/clock.js';
import { ForkServer } from '../../../lib/common/workers/fork-server.js';
import { directLauncher } from '../../../lib/common/workers/launcher.js';
import { ExpressionPool } from '../../../lib/tools/expressions/expression-pool.js';
import { toolContext } from '../../support/tool-context.js';

const [program = '', forkServer = '', last] = process.argv.slice(2);

async function main(): Promise<void> {
  const launcher = forkServer === '' ? directLauncher : new ForkServer(forkServer);
  const pool = new ExpressionPool({
    launcher,
    file: program,
    parallelism: 2,
    tenantShare: 10,
    clock: systemClock,
  });
  await Promise.all([
    pool.evaluate('1 + 1', null, {}, toolContext()),
    pool.evaluate('1 + 1', null, {}, toolContext()),
  ]);
  process.stdout.write('evaluated\n');
  if (last === 'close') {
    await pool.close();
    await launcher.close();
    process.stdout.write('closed\n');
  } else if (last === 'stay') {
    setInterval(() => undefined, 60_000);
  }
}

void main();
