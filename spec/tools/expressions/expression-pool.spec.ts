import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemClock } from '../../../lib/common/clock.js';
import { ToolError } from '../../../lib/common/errors.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import type { Steps } from '../../../lib/common/scheduling/steps.js';
import { createTransform } from '../../../lib/tools/builtin/values/transform.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import {
  ExpressionPool,
  type ExpressionPoolOptions,
} from '../../../lib/tools/expressions/expression-pool.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { catchRejection } from '../../support/rejection.js';
import { ManualClock } from '../../support/manual-clock.js';
import { PauseCounter, toolContext } from '../../support/tool-context.js';
import { isAlive, listWorkers } from '../../common/workers/processes.js';

const execute = promisify(execFile);
const PROGRAM = join(ROOT, 'dist', 'expression-process.cjs');
const FORK_SERVER = join(ROOT, 'dist', 'fork-server-process.cjs');
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

function open(options: Partial<ExpressionPoolOptions> = {}): ExpressionPool {
  return new ExpressionPool({
    file: PROGRAM,
    parallelism: 2,
    tenantShare: 10,
    clock: systemClock,
    ...options,
  });
}

describe('ExpressionPool', function () {
  let pool: ExpressionPool;

  before(() => requireBuild());

  beforeEach(() => {
    pool = open();
  });

  afterEach(() => pool.close());

  function evaluate(source: string, input: Json = null, bindings: JsonObject = {}): Promise<Json> {
    return pool.evaluate(source, input, bindings, toolContext());
  }

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
      expect(await evaluate(source, input, { rate: 2 })).to.deep.equal(
        new Evaluator().evaluate(source, input, { rate: 2 }, 'run'),
      );
    }
  });

  it('writes long data in steps, which the server does in turns with other requests', async () => {
    let steps = 0;
    const countSteps = async <T>(work: Steps<T>): Promise<T> => {
      for (;;) {
        const step = work.next();
        if (step.done === true) return step.value;
        steps++;
      }
    };
    const counting = open({ parallelism: 1, runSteps: countSteps });
    try {
      const lists = Array.from({ length: 20_000 }, (_, index) => [index, 'and some text']);
      expect(await counting.evaluate('$count($)', lists, {}, toolContext())).to.equal(20_000);
      expect(steps).to.be.above(4);
    } finally {
      await counting.close();
    }
  });

  it('reads a long result in steps, which the server does in turns with other requests', async () => {
    let steps = 0;
    const runSteps = async <T>(work: Steps<T>): Promise<T> => {
      for (let step = work.next(); ; step = work.next(), steps++) if (step.done === true) return step.value;
    };
    const reading = open({ parallelism: 1, runSteps });
    try {
      const list = await reading.evaluate('[1..100000]', null, {}, toolContext());
      expect(list).to.have.length(100_000);
      expect(steps).to.be.greaterThan(30);
    } finally {
      await reading.close();
    }
  });

  it('rejects with the error of the expression, and keeps evaluating', async () => {
    const error = await catchRejection(evaluate('a + '));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    expect(error).to.have.property(
      'message',
      'the expression failed: Unexpected end of expression (at character 4)\n  a +\n    ^',
    );
    expect(await evaluate('1 + 1')).to.equal(2);
  });

  it('rejects an input that JSON cannot represent', async () => {
    let deep: Json = null;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    const error = await catchRejection(evaluate('1', deep));
    expect(error)
      .to.be.instanceOf(ToolError)
      .with.property('message', 'the expression failed: its data is nested deeper than 1000 levels');
    expect(await evaluate('1 + 1')).to.equal(2);
  });

  it('leaves the event loop free during a long evaluation', async () => {
    const rejection = catchRejection(evaluate(ENDLESS));
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
    const sums = await Promise.all(Array.from({ length: 50 }, (_, n) => evaluate('$ + 1', n)));
    expect(sums).to.deep.equal(Array.from({ length: 50 }, (_, n) => n + 1));
  });

  for (const [what, bomb] of Object.entries(BOMBS)) {
    it(`survives ${what}`, async () => {
      const before = process.memoryUsage().heapUsed;
      const [error, other] = await Promise.all([catchRejection(evaluate(bomb)), evaluate('1 + 1')]);
      expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
      expect(error)
        .to.have.property('message')
        .that.matches(/more than 256 MiB|more than 1 s|limit of 10 MiB|allocate|nested too deeply/);
      expect(other).to.equal(2);
      expect(process.memoryUsage().heapUsed - before).to.be.below(64 * 2 ** 20);
      expect(await evaluate('2 + 2')).to.equal(4);
    });
  }

  /**
   * A pool whose patience does not end: on a busy machine, a process takes long to die. An expression that asks for all
   * the memory in one call cannot be interrupted by its own time limit either.
   */
  const usePatientPool = async (): Promise<void> => {
    await pool.close();
    pool = open({ clock: new ManualClock() });
  };

  it('reports an exceeded memory limit', async () => {
    await usePatientPool();
    const error = await catchRejection(evaluate(BOMBS['a text doubled again and again']));
    expect(error).to.have.property('message', 'the expression failed: it needed more than 256 MiB of memory');
  });

  it('limits a single value larger than the heap', async function () {
    if (process.platform !== 'linux') this.skip(); // other systems do not limit the data segment
    await usePatientPool();
    const error = await catchRejection(evaluate(`$count($split(${doubleRepeatedly(23)}, ""))`));
    expect(error).to.have.property('message').that.includes('more than 256 MiB');
  });

  it('fails running, waiting and later evaluations when it is closed', async () => {
    const asked = [ENDLESS, ENDLESS, '1'].map((source) => catchRejection(evaluate(source)));
    await nextTick();
    await pool.close();
    const errors = await Promise.all([...asked, catchRejection(evaluate('3'))]);
    for (const error of errors)
      expect(error).to.have.property('message', 'the expression failed: the server is shutting down');
  });

  describe('obeys the attempt that asked (D19, rule 13)', () => {
    it('drops and ends expressions whose signal aborts, so that the next one need not wait for them', async () => {
      const contexts = Array.from({ length: 40 }, () => toolContext());
      const asked = contexts.map((context) => catchRejection(pool.evaluate(ENDLESS, null, {}, context)));
      await nextTick();
      for (const context of contexts) context.abort();
      for (const error of await Promise.all(asked))
        expect(error).to.have.property('message', 'the expression failed: it was aborted');
      expect(await evaluate('1 + 1')).to.equal(2);
    });

    it('pauses its time limit until the expression is evaluated', async () => {
      // A set: only the first call ends a pause.
      const log = new Set<string>();
      const ask = (name: string, source: string): Promise<unknown> => {
        const pauseTimeout = () => {
          log.add(`${name} waits`);
          return () => void log.add(`${name} starts`);
        };
        return pool.evaluate(source, null, {}, { ...toolContext(), pauseTimeout });
      };
      const first = catchRejection(ask('first', ENDLESS));
      const second = catchRejection(ask('second', ENDLESS));
      const third = ask('third', '3');
      await Promise.all([first, second, third]);
      // One of the processes may take so long to start that the other one evaluates all.
      const names = ['first', 'second', 'third'];
      expect([...log]).to.have.members(names.flatMap((name) => [`${name} waits`, `${name} starts`]));
      for (const name of names)
        expect([...log].indexOf(`${name} waits`)).to.be.below([...log].indexOf(`${name} starts`));
      expect([...log].find((entry) => entry.endsWith('starts'))).to.not.equal('third starts');
    });
  });

  it('refuses data whose JSON would be longer than 16 MiB, before it is made', async () => {
    const text = 'x'.repeat(9_000_000);
    const list = Array.from({ length: 1000 }, (_, index) => index);
    const lists = new Array<Json>(1_000_000).fill(list);
    const texts = new Array<Json>(200).fill(text);
    expect(await evaluate('$count($)', [text])).to.equal(1);
    const refused: [Json, JsonObject?][] = [[[text, text]], [lists], [texts], [null, { a: text, b: text }]];
    for (const [input, bindings] of refused) {
      const error = await catchRejection(evaluate('1', input, bindings));
      expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
      expect(error)
        .to.have.property('message')
        .that.contains('its input and bindings are longer than 16 MiB');
    }
  });

  it('evaluates for the tool transform of a server', async () => {
    const transform = createTransform((...request) => pool.evaluate(...request));
    const catalog = builtinCatalog().withVariant(transform);
    expect(catalog.get('transform')).to.equal(transform);
    expect(catalog.names()).to.deep.equal(builtinCatalog().names());
  });

  it('lets the time limit of the attempt run again when the process never starts (rule 13)', async () => {
    const startless = open({ file: join(ROOT, 'dist', 'no-such-process.cjs') });
    const pauses = new PauseCounter();
    const { pauseTimeout } = pauses;
    try {
      const error = await catchRejection(
        startless.evaluate('1', null, {}, { ...toolContext(), pauseTimeout }),
      );
      expect(error).to.be.instanceOf(ToolError);
      expect(pauses).to.include({ begun: 1, open: 0 });
    } finally {
      await startless.close();
    }
  });

  for (const [kind, program] of Object.entries({ 'its processes': '', 'a fork server': FORK_SERVER })) {
    const parentArguments = [...PARENT, program];

    it(`lets its idle parent exit, which has started ${kind}`, async () => {
      const { stdout } = await execute(process.execPath, parentArguments, { cwd: ROOT });
      expect(stdout).to.equal('evaluated\n');
    });

    it(`keeps its parent, which has started ${kind}, alive until it has ended after close`, async () => {
      const { stdout } = await execute(process.execPath, [...parentArguments, 'close'], { cwd: ROOT });
      expect(stdout).to.equal('evaluated\nclosed\n');
    });

    it(`ends with its parent, which has started ${kind}, and ignores SIGINT, SIGTERM and SIGHUP`, async function () {
      if (process.platform === 'win32') this.skip();
      const parent = spawn(process.execPath, [...parentArguments, 'stay'], { cwd: ROOT });
      await once(parent.stdout, 'data');
      const forkServers = await listWorkers(parent.pid, 'fork-server-process.cjs');
      const children = await listWorkers(forkServers[0] ?? parent.pid, 'expression-process.cjs');
      // A third one may still be starting, for the next tenant.
      const started = children.slice(0, 2);
      for (const child of [...forkServers, ...started]) {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(child, signal);
      }
      const rest = await listWorkers(forkServers[0] ?? parent.pid, 'expression-process.cjs');
      expect(rest).to.include.members(started).and.have.length.at.least(2);
      parent.kill('SIGKILL');
      await once(parent, 'exit');
      for (const child of [...forkServers, ...children]) while (await isAlive(child));
    });
  }
});
