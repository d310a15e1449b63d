// Evaluates in two worker processes and prints "evaluated". Then exits, closes the pool or evaluates an endless expression.
import { systemClock } from '../../../lib/common/clock.js';
import { ExpressionPool } from '../../../lib/tools/expressions/process-pool.js';

const [program = '', last] = process.argv.slice(2);

async function main(): Promise<void> {
  const pool = new ExpressionPool(program, 2, systemClock);
  await Promise.all([pool.evaluate('1 + 1', null, {}), pool.evaluate('1 + 1', null, {})]);
  process.stdout.write('evaluated\n');
  if (last === 'close') {
    await pool.close();
    process.stdout.write('closed\n');
  } else if (last !== undefined) {
    await pool.evaluate(last, null, {}).catch(() => undefined);
  }
}

void main();
