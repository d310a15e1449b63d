// Asks two processes and says so; then closes them, or asks one of them an expression without end, or does no more.
import { systemClock } from '../../../lib/common/clock.js';
import { ExpressionProcesses } from '../../../lib/tools/expressions/expression-processes.js';

const [program = '', last] = process.argv.slice(2);

async function ask(): Promise<void> {
  const processes = new ExpressionProcesses(program, 2, systemClock);
  await Promise.all([processes.evaluate('1 + 1', null, {}), processes.evaluate('1 + 1', null, {})]);
  process.stdout.write('asked\n');
  if (last === 'close') {
    await processes.close();
    process.stdout.write('closed\n');
  } else if (last !== undefined) {
    await processes.evaluate(last, null, {}).catch(() => undefined);
  }
}

void ask();
