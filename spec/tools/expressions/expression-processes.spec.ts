import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemClock } from '../../../lib/common/clock.js';
import { ToolError } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json.js';
import { transformWith } from '../../../lib/tools/builtin/transform.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { evaluate } from '../../../lib/tools/expressions/evaluate.js';
import { ExpressionProcesses } from '../../../lib/tools/expressions/expression-processes.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { rejectionOf } from '../../support/rejection.js';

const execute = promisify(execFile);
const PROGRAM = join(ROOT, 'dist', 'expression-process.cjs');
const ODD = join(ROOT, 'spec/tools/expressions/odd-process.cjs');
const PARENT = ['--import', 'tsx', join(ROOT, 'spec/tools/expressions/parent.ts'), PROGRAM];
const ENDLESS = '($f := function($n) { $f($n + 1) }; $f(0))';
const DOUBLED = (times: number): string =>
  `$reduce([1..${times}], function($a, $b) { $a & $a }, "0123456789")`;

/** What it takes to bring down a process, a thread of it or not. */
const BOMBS = {
  'a long text made of a pad': '$pad("", 1000000, "  - {id: t, tool: mock}")',
  'a text doubled again and again': `$length($uppercase(${DOUBLED(25)}))`,
  'a list of long lists': '[1..1000].[[1..100000]]',
  'a list doubled again and again':
    '($f := function($x, $n) { $n = 0 ? $x : $f([[$x, $x]], $n - 1) }; $f(1, 60))',
  'long texts joined': '$join([1..1000].$pad("", 1000000, "ab"))',
  'bytes beside the heap': '$length($base64encode($pad("", 200000000, "x")))',
  'a picture of a number': '$formatNumber(1, $pad("", 50000000, "#"))',
  'an endless recursion': '($f := function($n) { $f($n + 1) + 1 }; $f(0))',
};

describe('expressions in processes of their own', function () {
  this.timeout(30_000);
  let processes: ExpressionProcesses;

  before(() => requireBuild());

  beforeEach(() => {
    processes = new ExpressionProcesses(PROGRAM, 2, systemClock);
  });

  afterEach(() => processes.close());

  it('give what they give in this process', async () => {
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
      expect(await processes.evaluate(source, input, { rate: 2 })).to.deep.equal(
        evaluate(source, input, { rate: 2 }),
      );
    }
  });

  it('give large results as well', async () => {
    const long = await processes.evaluate('[1..9].$pad("", 1000000, "x")', null, {});
    expect(long).to.deep.equal(Array.from({ length: 9 }, () => 'x'.repeat(1_000_000)));
  });

  it('fail in the same words, and can be used again', async () => {
    const error = await rejectionOf(processes.evaluate('a + ', null, {}));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    expect(error).to.have.property(
      'message',
      'the expression failed: Unexpected end of expression (at character 4)',
    );
    expect(await processes.evaluate('1 + 1', null, {})).to.equal(2);
  });

  it('fail when what they are given cannot be written down', async () => {
    let deep: Json = null;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    const error = await rejectionOf(processes.evaluate('1', deep, {}));
    expect(error)
      .to.be.instanceOf(ToolError)
      .with.property('message', 'the expression failed: Maximum call stack size exceeded');
    expect(await processes.evaluate('1 + 1', null, {})).to.equal(2);
  });

  it('leave the event loop free, however long they take', async () => {
    const answer = rejectionOf(processes.evaluate(ENDLESS, null, {}));
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

  it('are answered all, though more are asked than there are processes', async () => {
    const sums = await Promise.all(Array.from({ length: 50 }, (_, n) => processes.evaluate('$ + 1', n, {})));
    expect(sums).to.deep.equal(Array.from({ length: 50 }, (_, n) => n + 1));
  });

  for (const [what, bomb] of Object.entries(BOMBS)) {
    it(`cannot bring down this process: ${what}`, async () => {
      const before = process.memoryUsage().heapUsed;
      const [error, other] = await Promise.all([
        rejectionOf(processes.evaluate(bomb, {}, {})),
        processes.evaluate('1 + 1', null, {}),
      ]);
      expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
      expect(error)
        .to.have.property('message')
        .that.matches(/more than 256 MiB|more than 1 s|limit of 10 MiB|allocate|nested too deeply/);
      expect(other).to.equal(2);
      expect(process.memoryUsage().heapUsed - before).to.be.below(64 * 2 ** 20);
      expect(await processes.evaluate('2 + 2', null, {})).to.equal(4);
    });
  }

  it('fail for their memory in words', async () => {
    const error = await rejectionOf(processes.evaluate(BOMBS['a text doubled again and again'], {}, {}));
    expect(error).to.have.property('message', 'the expression failed: it needed more than 256 MiB of memory');
  });

  it('cannot have by one value what the heap must not hold', async function () {
    if (process.platform !== 'linux') this.skip(); // elsewhere the system does not watch
    const error = await rejectionOf(processes.evaluate(`$count($split(${DOUBLED(23)}, ""))`, {}, {}));
    expect(error).to.have.property('message').that.includes('more than 256 MiB');
  });

  it('cannot be held up by a regular expression', async () => {
    const text = 'a'.repeat(100_000);
    expect(await processes.evaluate('$replace($, /(a+)+$/, "b")', text, {})).to.equal('b');
  });

  it('are told that the server is shutting down: those at work, those that wait and those that come', async () => {
    const one = new ExpressionProcesses(PROGRAM, 1, systemClock);
    expect(await one.evaluate('1', null, {})).to.equal(1);
    const asked = [one.evaluate(ENDLESS, null, {}), one.evaluate('2', null, {})].map(rejectionOf);
    await turn();
    await one.close();
    const errors = await Promise.all([...asked, rejectionOf(one.evaluate('3', null, {}))]);
    for (const error of errors) {
      expect(error).to.have.property('message', 'the expression failed: the server is shutting down');
    }
  });

  it('stand behind the tool transform of a server', async () => {
    const transform = transformWith((...question) => processes.evaluate(...question));
    const catalog = builtinCatalog().replacing(transform);
    expect(catalog.get('transform')).to.equal(transform);
    expect(catalog.names()).to.deep.equal(builtinCatalog().names());
  });
});

describe('a process that evaluates expressions', function () {
  this.timeout(30_000);
  let odd: ExpressionProcesses;

  before(() => requireBuild());

  beforeEach(() => {
    odd = new ExpressionProcesses(ODD, 1, systemClock);
  });

  afterEach(() => odd.close());

  it('is asked again and again', async () => {
    expect(await odd.evaluate('pid', null, {})).to.equal(await odd.evaluate('pid', null, {}));
  });

  it('is given up when it does not answer, and the next is asked of a new one', async () => {
    const clock = new ManualClock();
    const silent = new ExpressionProcesses(ODD, 1, clock);
    const first = await silent.evaluate('pid', null, {});
    const asked = rejectionOf(silent.evaluate('nothing', null, {}));
    const next = silent.evaluate('pid', null, {});
    await turn();
    clock.advance(2250);
    expect(await asked).to.have.property('message', 'the expression failed: it ran for more than 1 s');
    expect(await next).not.to.equal(first);
    await gone(first);
    await silent.close();
  });

  it('may take its time to start', async () => {
    const clock = new ManualClock();
    const silent = new ExpressionProcesses(ODD, 1, clock);
    const first = silent.evaluate('pid', null, {});
    await turn();
    clock.advance(7249);
    expect(await first).to.be.a('number');
    await silent.close();
  });

  it('fails what it was asked when it ends', async () => {
    const error = await rejectionOf(odd.evaluate('exit', null, {}));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    expect(error).to.have.property('message', 'the expression failed: its process ended (status 3)');
    expect(await odd.evaluate('pid', null, {})).to.be.a('number');
  });

  it('fails what it was asked when it cannot start', async () => {
    const none = new ExpressionProcesses(join(ROOT, 'no', 'such', 'folder', 'file.cjs'), 1, systemClock);
    for (const _ of [1, 2]) {
      const error = await rejectionOf(none.evaluate('pid', null, {}));
      expect(error).to.be.instanceOf(ToolError).with.property('message').that.includes('its process');
    }
    await none.close();
  });

  it('is replaced when it died while nobody asked', async () => {
    const first = await odd.evaluate('pid', null, {});
    process.kill(Number(first), 'SIGKILL');
    await gone(first);
    expect(await odd.evaluate('pid', null, {}))
      .to.be.a('number')
      .and.not.to.equal(first);
  });

  it('is replaced when it has grown too large', async () => {
    const first = await odd.evaluate('swell', null, {});
    expect(await odd.evaluate('pid', null, {}))
      .to.be.a('number')
      .and.not.to.equal(first);
    await gone(first);
  });

  it('knows nothing of the surroundings of the server', async () => {
    process.env['SPEC_SECRET'] = 'swordfish';
    try {
      const surroundings = await odd.evaluate('surroundings', null, {});
      expect(JSON.stringify(surroundings)).not.to.include('swordfish');
      expect(surroundings).to.deep.include({ flags: ['--max-old-space-size=256'] });
    } finally {
      delete process.env['SPEC_SECRET'];
    }
  });

  it('ends when it is closed', async () => {
    const pid = await odd.evaluate('pid', null, {});
    await odd.close();
    expect(() => process.kill(Number(pid), 0)).to.throw('ESRCH');
  });

  it('does not hold the process that asked', async () => {
    const { stdout } = await execute(process.execPath, PARENT, { cwd: ROOT });
    expect(stdout).to.equal('asked\n');
  });

  it('is waited for when it is closed, though nothing else is left to wait for', async () => {
    const { stdout } = await execute(process.execPath, [...PARENT, 'close'], { cwd: ROOT });
    expect(stdout).to.equal('asked\nclosed\n');
  });

  it('does not outlive the process that asked, idle or at work, and is not stopped by its signals', async function () {
    if (process.platform === 'win32') this.skip();
    const parent = spawn(process.execPath, [...PARENT, ENDLESS], { cwd: ROOT });
    await once(parent.stdout, 'data');
    const children = await childrenOf(parent.pid);
    expect(children).to.have.lengthOf(2);
    for (const child of children) {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(child, signal);
    }
    expect(await childrenOf(parent.pid)).to.deep.equal(children);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    for (const child of children) while (await isAlive(child));
  });
});

/** Waits for the end of a child of this process. */
async function gone(pid: Json): Promise<void> {
  for (;;) {
    try {
      process.kill(Number(pid), 0);
    } catch {
      return;
    }
    await turn();
  }
}

/** The programs that evaluate, among the children of a process. */
async function childrenOf(parent: number | undefined): Promise<number[]> {
  const { stdout } = await execute('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const lines = stdout.split('\n').filter((line) => line.includes('expression-process.cjs'));
  const all = lines.map((line) => line.trim().split(/\s+/).slice(0, 2).map(Number));
  return all.filter(([, of]) => of === parent).map(([pid = 0]) => pid);
}

/** Nobody may have asked how an orphan ended, so that its number is still there. */
async function isAlive(pid: number): Promise<boolean> {
  const state = await execute('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return state.stdout.trim() !== '' && !state.stdout.startsWith('Z');
}
