import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemClock } from '../../../lib/common/clock.js';
import { ToolError } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json.js';
import { createTransform } from '../../../lib/tools/builtin/transform.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import { ExpressionPool } from '../../../lib/tools/expressions/process-pool.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';

const execute = promisify(execFile);
const PROGRAM = join(ROOT, 'dist', 'expression-process.cjs');
const ODD_PROGRAM = join(ROOT, 'spec/tools/expressions/odd-process.cjs');
const PARENT = ['--import', 'tsx', join(ROOT, 'spec/tools/expressions/parent.ts'), PROGRAM];
const ENDLESS = '($f := function($n) { $f($n + 1) }; $f(0))';
const doubleRepeatedly = (times: number): string =>
  `$reduce([1..${times}], function($a, $b) { $a & $a }, "0123456789")`;

/** Expressions that exhaust the memory of a process or a thread. */
const BOMBS = {
  'a long text made of a pad': '$pad("", 1000000, "  - {id: t, tool: mock}")',
  'a text doubled again and again': `$length($uppercase(${doubleRepeatedly(25)}))`,
  'a list of long lists': '[1..1000].[[1..100000]]',
  'a list doubled again and again':
    '($f := function($x, $n) { $n = 0 ? $x : $f([[$x, $x]], $n - 1) }; $f(1, 60))',
  'long texts joined': '$join([1..1000].$pad("", 1000000, "ab"))',
  'bytes beside the heap': '$length($base64encode($pad("", 200000000, "x")))',
  'a long number format': '$formatNumber(1, $pad("", 50000000, "#"))',
  'an endless recursion': '($f := function($n) { $f($n + 1) + 1 }; $f(0))',
};

describe('ExpressionPool', function () {
  let pool: ExpressionPool;

  before(() => requireBuild());

  beforeEach(() => {
    pool = new ExpressionPool(PROGRAM, 2, systemClock);
  });

  afterEach(() => pool.close());

  it('evaluates to the same result as an Evaluator in this process', async () => {
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
      '{"__proto__": [1, null, "\\u00e9\\ud83d\\ude00"]}',
    ]) {
      expect(await pool.evaluate(source, input, { rate: 2 })).to.deep.equal(
        new Evaluator().evaluate(source, input, { rate: 2 }),
      );
    }
  });

  it('returns results of several megabytes', async () => {
    const long = await pool.evaluate('[1..9].$pad("", 1000000, "x")', null, {});
    expect(long).to.deep.equal(Array.from({ length: 9 }, () => 'x'.repeat(1_000_000)));
  });

  it('rejects with the error of the expression, and keeps evaluating', async () => {
    const error = await catchRejection(pool.evaluate('a + ', null, {}));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    expect(error).to.have.property(
      'message',
      'the expression failed: Unexpected end of expression (at character 4)',
    );
    expect(await pool.evaluate('1 + 1', null, {})).to.equal(2);
  });

  it('rejects an input that JSON cannot represent', async () => {
    let deep: Json = null;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    const error = await catchRejection(pool.evaluate('1', deep, {}));
    expect(error)
      .to.be.instanceOf(ToolError)
      .with.property('message', 'the expression failed: Maximum call stack size exceeded');
    expect(await pool.evaluate('1 + 1', null, {})).to.equal(2);
  });

  it('leaves the event loop free during a long evaluation', async () => {
    const rejection = catchRejection(pool.evaluate(ENDLESS, null, {}));
    let ticks = 0;
    const count = (): void => {
      ticks++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    expect(await rejection)
      .to.have.property('message')
      .that.matches(/nested too deeply|ran for more than/);
    clearImmediate(timer);
    expect(ticks).to.be.above(100);
  });

  it('queues evaluations beyond the number of processes', async () => {
    const sums = await Promise.all(Array.from({ length: 50 }, (_, n) => pool.evaluate('$ + 1', n, {})));
    expect(sums).to.deep.equal(Array.from({ length: 50 }, (_, n) => n + 1));
  });

  for (const [what, bomb] of Object.entries(BOMBS)) {
    it(`survives ${what}`, async () => {
      const before = process.memoryUsage().heapUsed;
      const [error, other] = await Promise.all([
        catchRejection(pool.evaluate(bomb, {}, {})),
        pool.evaluate('1 + 1', null, {}),
      ]);
      expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
      expect(error)
        .to.have.property('message')
        .that.matches(/more than 256 MiB|more than 1 s|limit of 10 MiB|allocate|nested too deeply/);
      expect(other).to.equal(2);
      expect(process.memoryUsage().heapUsed - before).to.be.below(64 * 2 ** 20);
      expect(await pool.evaluate('2 + 2', null, {})).to.equal(4);
    });
  }

  it('reports an exceeded memory limit', async () => {
    const error = await catchRejection(pool.evaluate(BOMBS['a text doubled again and again'], {}, {}));
    expect(error).to.have.property('message', 'the expression failed: it needed more than 256 MiB of memory');
  });

  it('limits a single value larger than the heap', async function () {
    if (process.platform !== 'linux') this.skip(); // other systems do not limit the data segment
    const error = await catchRejection(pool.evaluate(`$count($split(${doubleRepeatedly(23)}, ""))`, {}, {}));
    expect(error).to.have.property('message').that.includes('more than 256 MiB');
  });

  it('evaluates a regular expression in linear time', async () => {
    const text = 'a'.repeat(100_000);
    expect(await pool.evaluate('$replace($, /(a+)+$/, "b")', text, {})).to.equal('b');
  });

  it('fails running, waiting and later evaluations when it is closed', async () => {
    const one = new ExpressionPool(PROGRAM, 1, systemClock);
    expect(await one.evaluate('1', null, {})).to.equal(1);
    const asked = [one.evaluate(ENDLESS, null, {}), one.evaluate('2', null, {})].map(catchRejection);
    await nextTick();
    await one.close();
    const errors = await Promise.all([...asked, catchRejection(one.evaluate('3', null, {}))]);
    for (const error of errors) {
      expect(error).to.have.property('message', 'the expression failed: the server is shutting down');
    }
  });

  it('evaluates for the tool transform of a server', async () => {
    const transform = createTransform((...request) => pool.evaluate(...request));
    const catalog = builtinCatalog().withReplacement(transform);
    expect(catalog.get('transform')).to.equal(transform);
    expect(catalog.names()).to.deep.equal(builtinCatalog().names());
  });
});

describe('ExpressionWorker', function () {
  let pool: ExpressionPool;

  before(() => requireBuild());

  beforeEach(() => {
    pool = new ExpressionPool(ODD_PROGRAM, 1, systemClock);
  });

  afterEach(() => pool.close());

  it('evaluates one expression after another in the same process', async () => {
    expect(await pool.evaluate('pid', null, {})).to.equal(await pool.evaluate('pid', null, {}));
  });

  it('kills a process that does not respond in time, and starts another', async () => {
    const clock = new ManualClock();
    const silent = new ExpressionPool(ODD_PROGRAM, 1, clock);
    const first = await silent.evaluate('pid', null, {});
    const asked = catchRejection(silent.evaluate('nothing', null, {}));
    const next = silent.evaluate('pid', null, {});
    await nextTick();
    clock.advance(2250);
    expect(await asked).to.have.property('message', 'the expression failed: it ran for more than 1 s');
    expect(await next).not.to.equal(first);
    await waitForExit(first);
    await silent.close();
  });

  it('allows five more seconds for the first response', async () => {
    const clock = new ManualClock();
    const silent = new ExpressionPool(ODD_PROGRAM, 1, clock);
    const first = silent.evaluate('pid', null, {});
    await nextTick();
    clock.advance(7249);
    expect(await first).to.be.a('number');
    await silent.close();
  });

  it('fails the evaluation when the process exits', async () => {
    const error = await catchRejection(pool.evaluate('exit', null, {}));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    expect(error).to.have.property('message', 'the expression failed: its process ended (status 3)');
    expect(await pool.evaluate('pid', null, {})).to.be.a('number');
  });

  it('fails the evaluation when the process cannot start', async () => {
    const none = new ExpressionPool(join(ROOT, 'no', 'such', 'folder', 'file.cjs'), 1, systemClock);
    for (const _ of [1, 2]) {
      const error = await catchRejection(none.evaluate('pid', null, {}));
      expect(error).to.be.instanceOf(ToolError).with.property('message').that.includes('its process');
    }
    await none.close();
  });

  it('replaces a process that died while idle', async () => {
    const first = await pool.evaluate('pid', null, {});
    process.kill(Number(first), 'SIGKILL');
    await waitForExit(first);
    expect(await pool.evaluate('pid', null, {}))
      .to.be.a('number')
      .and.not.to.equal(first);
  });

  it('replaces a process that retains too much memory', async () => {
    const first = await pool.evaluate('oversized', null, {});
    expect(await pool.evaluate('pid', null, {}))
      .to.be.a('number')
      .and.not.to.equal(first);
    await waitForExit(first);
  });

  it('starts without the environment variables and flags of the server', async () => {
    process.env['SPEC_SECRET'] = 'swordfish';
    try {
      const environment = await pool.evaluate('environment', null, {});
      expect(JSON.stringify(environment)).not.to.include('swordfish');
      expect(environment).to.deep.include({ flags: ['--max-old-space-size=256'] });
    } finally {
      delete process.env['SPEC_SECRET'];
    }
  });

  it('ends when the pool is closed', async () => {
    const pid = await pool.evaluate('pid', null, {});
    await pool.close();
    expect(() => process.kill(Number(pid), 0)).to.throw('ESRCH');
  });

  it('lets its idle parent exit', async () => {
    const { stdout } = await execute(process.execPath, PARENT, { cwd: ROOT });
    expect(stdout).to.equal('evaluated\n');
  });

  it('keeps its parent alive until it has ended after close', async () => {
    const { stdout } = await execute(process.execPath, [...PARENT, 'close'], { cwd: ROOT });
    expect(stdout).to.equal('evaluated\nclosed\n');
  });

  it('ends with its parent, and ignores SIGINT, SIGTERM and SIGHUP', async function () {
    if (process.platform === 'win32') this.skip();
    const parent = spawn(process.execPath, [...PARENT, ENDLESS], { cwd: ROOT });
    await once(parent.stdout, 'data');
    const children = await listWorkers(parent.pid);
    expect(children).to.have.lengthOf(2);
    for (const child of children) {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(child, signal);
    }
    expect(await listWorkers(parent.pid)).to.deep.equal(children);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    for (const child of children) while (await isAlive(child));
  });
});

/** Waits until a child of this process has ended. */
async function waitForExit(pid: Json): Promise<void> {
  for (;;) {
    try {
      process.kill(Number(pid), 0);
    } catch {
      return;
    }
    await nextTick();
  }
}

/** Lists the worker processes of a parent. */
async function listWorkers(parent: number | undefined): Promise<number[]> {
  const { stdout } = await execute('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const lines = stdout.split('\n').filter((line) => line.includes('expression-process.cjs'));
  const all = lines.map((line) => line.trim().split(/\s+/).slice(0, 2).map(Number));
  return all.filter(([, of]) => of === parent).map(([pid = 0]) => pid);
}

/** A zombie counts as ended: its parent may not have reaped it. */
async function isAlive(pid: number): Promise<boolean> {
  const state = await execute('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return state.stdout.trim() !== '' && !state.stdout.startsWith('Z');
}
