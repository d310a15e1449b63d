import { expect } from 'chai';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.js';
import { ToolError } from '../../../lib/errors.js';
import { transformWith } from '../../../lib/tools/builtin/transform.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { evaluate } from '../../../lib/tools/expressions/evaluate.js';
import { ExpressionThreads } from '../../../lib/tools/expressions/expression-threads.js';
import { requireBuild, ROOT } from '../../docs/project.js';
import { deferred, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { rejectionOf } from '../../support/rejection.js';

const PROGRAM = join(ROOT, 'dist', 'expression-thread.cjs');
const ENDLESS = '($f := function($n) { $f($n + 1) }; $f(0))';
const GREEDY =
  '($f := function($x, $n) { $n = 0 ? $x : $f($append($x, $x), $n - 1) }; $count($f([1..1000], 16)))';

describe('expressions in threads of their own', () => {
  let threads: ExpressionThreads;

  before(() => requireBuild());

  beforeEach(() => {
    threads = new ExpressionThreads(PROGRAM, 2, systemClock);
  });

  afterEach(() => threads.close());

  it('give what they give in this thread', async () => {
    const input = {
      lines: [
        { price: 2, quantity: 3 },
        { price: 5, quantity: 1 },
      ],
    };
    for (const source of [
      '$sum(lines.(price * quantity))',
      'nothing.here',
      'lines[price > 2]',
      '$rate & "x"',
    ]) {
      expect(await threads.evaluate(source, input, { rate: 2 })).to.deep.equal(
        evaluate(source, input, { rate: 2 }),
      );
    }
  });

  it('fail in the same words, and can be used again', async () => {
    const error = await rejectionOf(threads.evaluate('a + ', null, {}));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    expect(error).to.have.property(
      'message',
      'the expression failed: Unexpected end of expression (at character 4)',
    );
    expect(await threads.evaluate('1 + 1', null, {})).to.equal(2);
  });

  it('leave the event loop free, however long they take', async () => {
    const answer = rejectionOf(threads.evaluate(ENDLESS, null, {}));
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    expect(await answer)
      .to.have.property('message')
      .that.matches(/nested too deeply|ran for more than/);
    clearImmediate(timer);
    expect(turns).to.be.above(100);
  });

  it('are answered all, though more are asked than there are threads', async () => {
    const sums = await Promise.all(Array.from({ length: 50 }, (_, n) => threads.evaluate('$ + 1', n, {})));
    expect(sums).to.deep.equal(Array.from({ length: 50 }, (_, n) => n + 1));
  });

  it('cannot eat the memory of the process', async function () {
    this.timeout(20_000);
    const before = process.memoryUsage().heapUsed;
    const error = await rejectionOf(threads.evaluate(GREEDY, null, {}));
    expect(error).to.be.instanceOf(ToolError);
    expect(process.memoryUsage().heapUsed - before).to.be.below(64 * 2 ** 20);
    expect(await threads.evaluate('1 + 1', null, {})).to.equal(2);
  });

  it('are given up when their thread does not answer, and the next is asked in a new one', async () => {
    const clock = new ManualClock();
    const silent = new ExpressionThreads(join(ROOT, 'spec/tools/expressions/silent-thread.cjs'), 1, clock);
    const first = rejectionOf(silent.evaluate('1', null, {}));
    const second = rejectionOf(silent.evaluate('2', null, {}));
    const ended = deferred<string>();
    void second.then(() => ended.resolve('second'));
    clock.advance(2250);
    expect(await first).to.have.property('message', 'the expression failed: it ran for more than 1 s');
    await settle();
    clock.advance(2250);
    expect(await ended.promise).to.equal('second');
    await silent.close();
  });

  it('stand behind the tool transform of a server', async () => {
    const transform = transformWith((...question) => threads.evaluate(...question));
    const catalog = builtinCatalog().replacing(transform);
    expect(catalog.get('transform')).to.equal(transform);
    expect(catalog.names()).to.deep.equal(builtinCatalog().names());
  });
});
