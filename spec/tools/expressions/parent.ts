// Evaluates in two worker processes and prints "evaluated". Then exits, closes the pool or evaluates an endless expression.
import { systemClock } from '../../../lib/common/clock.js';
import { ExpressionPool } from '../../../lib/tools/expressions/expression-pool.js';
import { toolContext } from '../../support/tool-context.js';

const [program = '', last] = process.argv.slice(2);

async function main(): Promise<void> {
  const pool = new ExpressionPool({ file: program, parallelism: 2, tenantShare: 10, clock: systemClock });
  await Promise.all([
    pool.evaluate('1 + 1', null, {}, toolContext()),
    pool.evaluate('1 + 1', null, {}, toolContext()),
  ]);
  process.stdout.write('evaluated\n');
  if (last === 'close') {
    await pool.close();
    process.stdout.write('closed\n');
  } else if (last !== undefined) {
    await pool.evaluate(last, null, {}, toolContext()).catch(() => undefined);
  }
}

void main();
