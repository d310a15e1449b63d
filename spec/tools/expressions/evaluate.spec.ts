import { expect } from 'chai';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTick } from 'node:timers/promises';
import { errorMessage, ToolError } from '../../../lib/common/errors.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { EXPRESSION_LIMITS } from '../../../lib/common/limits.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';

/** Has so much time that a busy machine does not make it fail. */
const longEvaluator = new Evaluator({ ...EXPRESSION_LIMITS, timeoutMs: 60_000, hardTimeoutMs: 60_000 });
/** Has little time, for expressions that must exceed it. */
const shortEvaluator = new Evaluator({ ...EXPRESSION_LIMITS, timeoutMs: 100, hardTimeoutMs: 200 });

function compute(expression: string, input: Json = null, bindings: JsonObject = {}): Json {
  return longEvaluator.evaluate(expression, input, bindings, 'run');
}

function catchMessage(expression: string, input: Json = null, evaluator = longEvaluator): string {
  try {
    evaluator.evaluate(expression, input, {}, 'run');
  } catch (error) {
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    return errorMessage(error);
  }
  throw new Error(`${expression} was evaluated`);
}

function deepFreeze<V>(value: V): V {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

const DOUBLING = '$f := function($x, $n) { $n = 0 ? $x : $f({"a": $x, "b": $x}, $n - 1) }';

describe('Evaluator', () => {
  describe('returns plain JSON', () => {
    it('without the properties that JSONata adds to lists', () => {
      const result = compute('items.n', { items: [{ n: 1 }, { n: 2 }] });
      expect(result).to.deep.equal([1, 2]);
      expect(Object.getOwnPropertyNames(result)).to.deep.equal(['0', '1', 'length']);
      expect(Object.getPrototypeOf(result)).to.equal(Array.prototype);
    });

    it('with null for an expression that matches nothing', () => {
      expect(compute('nothing.here')).to.equal(null);
      expect(compute('{"a": nothing, "b": [nothing]}')).to.deep.equal({ b: [] });
    });

    it('and rejects functions and numbers that JSON cannot represent', () => {
      expect(catchMessage('$sum')).to.contain('is a function, not a value');
      expect(catchMessage('function($x) { $x }')).to.contain('is a function, not a value');
      expect(catchMessage('/a/')).to.contain('is a function, not a value');
      expect(catchMessage('{"deep": [{"f": $sum}]}')).to.contain('contains a function at "f"');
      expect(catchMessage('1 / 0')).to.contain('Infinity');
    });
  });

  it('reads bindings by name', () => {
    expect(compute('$a & $b', null, { a: 'x', b: 'y' })).to.equal('xy');
  });

  it('neither changes nor shares data', () => {
    const input = deepFreeze({ list: [{ a: 1 }, { a: 2 }] });
    expect(compute('$ ~> |list|{"b": a}|', input)).to.deep.equal({
      list: [
        { a: 1, b: 1 },
        { a: 2, b: 2 },
      ],
    });
    expect(compute('list', input) === input.list).to.equal(false);
    expect(
      compute('$sort($x, function($l, $r) { $l < $r })', null, deepFreeze({ x: [1, 3, 2] })),
    ).to.deep.equal([3, 2, 1]);
    expect(compute('$append($x, 4)[]', null, deepFreeze({ x: [1] }))).to.deep.equal([1, 4]);
  });

  it('keeps no variables between evaluations', () => {
    expect(compute('($seen := 1; $seen)')).to.equal(1);
    expect(compute('$seen')).to.equal(null);
    expect(compute('$a', null, { a: 1 })).to.equal(1);
    expect(compute('$a')).to.equal(null);
  });

  it('reads own properties only', () => {
    const hostile: Json = JSON.parse('{"__proto__": {"x": 1}}');
    for (const name of ['constructor', 'toString', '__proto__'])
      expect(compute(name, {}), name).to.equal(null);
    expect(compute('$keys($)', hostile)).to.equal('__proto__');
    compute('$merge([$, {"a": 1}])', hostile);
    compute('{"__proto__": {"polluted": 1}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).to.equal(false);
  });

  it('provides the functions that need globals', () => {
    expect(compute('$base64decode($base64encode("hello"))')).to.equal('hello');
    expect(compute('$now()')).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it('does not evaluate a string as an expression', () => {
    expect(catchMessage('$eval("1 + 1")')).to.contain('$eval is switched off');
    expect(catchMessage('($e := $eval; $e("1"))')).to.contain('$eval is switched off');
  });

  describe('shows the line of the expression that failed, and carets under the place', () => {
    const placed: [source: string, place: string][] = [
      ['"a" + 1', '  "a" + 1\n      ^'],
      ['a.$number("x")', '  a.$number("x")\n    ^^^^^^^'],
      ['$number ("x")', '  $number ("x")\n  ^^^^^^^'],
      ['(\n\t$x := 2;\n\t$x & "a" + 1\n)', '  \t$x & "a" + 1\n  \t         ^'],
      [
        '$map([1], function($v) { $v + "x" })',
        '  $map([1], function($v) { $v + "x" })\n                              ^',
      ],
    ];
    for (const [source, place] of placed) {
      it(`of ${JSON.stringify(source)}`, () => {
        expect(catchMessage(source, { a: 1 }).split('\n').slice(1).join('\n')).to.equal(place);
      });
    }

    it('but no part of a text, which may be a secret: a part of it could not be masked (D61)', () => {
      expect(catchMessage('"one\ntwo" + 1')).not.to.include('\n');
      expect(catchMessage('$error("one\ntwo")')).not.to.include('\n  ');
      expect(catchMessage(`"${'x'.repeat(250)}" + 1`)).not.to.include('\n');
    });
  });

  describe('fails with a message and a position', () => {
    it('on a syntax error', () => {
      expect(catchMessage('a + ')).to.equal(
        'the expression failed: Unexpected end of expression (at character 4)\n  a +\n    ^',
      );
      expect(catchMessage('a b')).to.match(/at character 3/);
      expect(catchMessage(' ')).to.contain('the expression failed');
    });

    it('on invalid data', () => {
      expect(catchMessage('$number(a)', { a: 'x' }))
        .to.contain('Unable to cast value to a number: "x"')
        .and.contain('at character 8');
      expect(catchMessage('$error("my own words")')).to.contain('my own words');
      expect(catchMessage('$nothing(1)')).to.contain('non-function');
    });

    it('and evaluates again afterwards', () => {
      catchMessage(')');
      expect(compute('1 + 1')).to.equal(2);
    });
  });

  describe('stays within its limits', () => {
    const hostile: [name: string, expression: string, expected: string][] = [
      ['endless recursion', '($f := function($x) { 1 + $f($x) }; $f(1))', 'nested too deeply'],
      ['a range bomb', '[1..10000000]', 'maximum sequence length'],
      ['an expression without end', '('.repeat(50_000), 'Maximum call stack size exceeded'],
      ['a result that repeats itself', `(${DOUBLING}; $f(1, 40))`, 'larger than the limit of 10 MiB'],
    ];
    for (const [name, expression, expected] of hostile) {
      it(`against ${name}`, () => {
        expect(catchMessage(expression)).to.contain(expected);
        expect(compute('1 + 1')).to.equal(2);
      });
    }

    const endless: [name: string, expression: string, expected: string][] = [
      ['an endless loop', '($f := function($x) { $f($x) }; $f(1))', 'ran for more than 0.1 s'],
      ['a value that is printed for ever', `(${DOUBLING}; $string($f(1, 40)))`, 'ran for more than 0.1 s'],
      ['a comparison of each with each', '$count($distinct([1..300000]))', 'ran for more than 0.1 s'],
      ['a pad without end', '$length($pad("x", 500000000, "ab"))', 'the expression failed'],
      [
        'a regular expression made from a signature',
        `($f := function($a)<${'s+'.repeat(12)}n:s>{ 1 }; $f(${Array(60).fill('"a"').join()}))`,
        'ran for more than 0.1 s',
      ],
    ];
    for (const [name, expression, expected] of endless) {
      it(`of time, against ${name}`, () => {
        expect(catchMessage(expression, null, shortEvaluator)).to.contain(expected);
        expect(compute('1 + 1')).to.equal(2);
      });
    }

    it('in a process that uses async hooks, and does not end it', async () => {
      await new AsyncLocalStorage<string>().run('context', async () => {
        for (const [, expression, expected] of endless) {
          await Promise.resolve();
          expect(catchMessage(expression, null, shortEvaluator)).to.contain(expected);
          await nextTick();
        }
      });
    });

    it('which are 1 s by default, and 1.25 s inside one function', () => {
      expect(EXPRESSION_LIMITS).to.include({ timeoutMs: 1000, hardTimeoutMs: 1250 });
      const loop = '($f := function($x) { $f($x) }; $f(1))';
      expect(catchMessage(loop, null, new Evaluator())).to.contain('ran for more than 1 s');
    });

    it('and still evaluates large data', () => {
      const rows = Array.from({ length: 100_000 }, (_, i) => ({ v: i % 7 }));
      expect(compute('$sum(rows.v)', { rows })).to.equal(rows.reduce((sum, { v }) => sum + v, 0));
    });
  });
});
