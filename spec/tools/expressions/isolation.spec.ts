import { expect } from 'chai';
import { runInContext } from 'node:vm';
import { errorMessage } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json/json.js';
import { EXPRESSION_LIMITS } from '../../../lib/common/limits.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import { createExpressionContext } from '../../../lib/tools/expressions/sandbox.js';
import { probe } from './probes.js';

/** Has so much time that a busy machine does not make it fail. */
const LIMITS = { ...EXPRESSION_LIMITS, timeoutMs: 60_000, hardTimeoutMs: 60_000 };

/** Input with the keys that mark functions, as only an attacker writes them. */
const FORGED: Json = {
  lambda: { _jsonata_lambda: true, arguments: [], body: { type: 'value', value: 1 } },
  native: { _jsonata_function: true, implementation: null },
  off: { _jsonata_lambda: false },
};

describe('Expressions of one run', () => {
  let evaluator: Evaluator;
  let untouched: string[];

  beforeEach(() => {
    evaluator = new Evaluator(LIMITS);
    untouched = probe(new Evaluator(LIMITS), 'fresh');
  });

  function attempt(source: string, input: Json = null): string {
    try {
      return JSON.stringify(evaluator.evaluate(source, input, {}, 'run'));
    } catch (error) {
      return errorMessage(error);
    }
  }

  function expectUntouched(): void {
    expect(probe(evaluator, 'run')).to.deep.equal(untouched);
  }

  it('cannot replace a built-in function to read and falsify what the next one computes', () => {
    const planted = `($box := {"stolen": []};
      {"a":1} ~> |$sum|function($x){ ($ignore := ({"z":1} ~> |$box|{"stolen": $append($box.stolen, [$x])}|);
        $x = "give" ? $box.stolen : 666) }|; "planted")`;
    const replaced = '{"a":1} ~> |$sum|{"implementation": function($x){ 666 }}|';
    for (const source of [planted, replaced]) attempt(source);
    expect(attempt('$sum([100,200,300])')).to.equal('600');
    expectUntouched();
  });

  it('cannot delete the fields of a built-in function', () => {
    attempt('{"a":1} ~> |$string|{}, ["implementation","signature"]|');
    expect(attempt('$string(12)')).to.equal('"12"');
    expectUntouched();
  });

  for (const [what, target] of Object.entries({
    'a built-in function': '$sum',
    'a function of the expression': 'function($x){ $x }',
    'a function made by ~>': '($sum ~> $string)',
    'a function with some arguments given': '$substring(?, 1)',
    'a regular expression': '($r := /a/; $r)',
    'a list with a function': '[{"a": 1}, $sum]',
    'a match, which has a function': '($f := function($s){ $s }; $m := /a/; $m("a"))',
  })) {
    it(`cannot change ${what} with the operator ~> |…|…|`, () => {
      expect(attempt(`{"a":1} ~> |${target}|{"x": 1}|`)).to.contain(
        'the expression failed: the operator ~> |…| changes data only, and no functions (at character 12)',
      );
      expectUntouched();
    });
  }

  it('can still change data with the operator ~> |…|…|', () => {
    expect(attempt('$ ~> |lines[n > 1]|{"big": true}, "n"|', { lines: [{ n: 1 }, { n: 2 }] })).to.equal(
      '{"lines":[{"n":1},{"big":true}]}',
    );
  });

  for (const [what, source] of Object.entries({
    $spread: '$count($spread($sum)) & $count($spread(function($x){ $x }))',
    $each: '($each_of := $each(?, ?); $l := function($x){ $x }; [$l ~> $each_of(function($v,$k){ $k })])',
    $sift: '($sift_of := $sift(?, ?); $l := function($x){ $x }; $string($l ~> $sift_of(function(){ true })))',
    $merge: '($merged := $merge(?); $l := function($x){ $x }; $keys([$l, {"a": 1}] ~> $merged()))',
    $keys: '[$keys($sum), $keys(function($x){ $x })]',
    'a wildcard': '[$sum.*, $sum.**.implementation, ($l := function($x){ $x }).*.environment]',
    'a name': '[$sum.implementation, (function($x){ $x }).environment]',
  })) {
    it(`cannot read the fields of a function with ${what}`, () => {
      expect(attempt(source)).not.to.match(
        /implementation|signature|environment|body|arguments|lookup|contains a function/,
      );
      expectUntouched();
    });
  }

  it('cannot forge a function from data', () => {
    for (const [name, value] of Object.entries(FORGED)) {
      expect(attempt('$()', value), name).to.equal(
        'the expression failed: its data has a key that JSONata reserves for functions',
      );
    }
    expect(attempt('text', { text: '"_jsonata_lambda": is only text here' })).to.contain('only text');
  });

  it('leave no position for the message of the next one', () => {
    const alone = new Evaluator(LIMITS);
    const source = '$map(["x"], $sqrt)';
    expect(() => alone.evaluate(source, null, {}, 'run')).to.throw();
    attempt('"some text before it" & $sqrt("y")');
    expectUntouched();
  });

  it('wait for no function that is named then', () => {
    const source = '($f := function($then) { {"then": $then} }; $f(function($resolve) { 1 }))';
    expect(attempt(source)).to.equal('the result of the expression contains a function at "then"');
    expect(attempt('{"then": 1}')).to.equal('{"then":1}');
    expectUntouched();
  });
});

describe('Expressions of different runs', () => {
  it('are evaluated in different contexts', () => {
    const evaluator = new Evaluator(LIMITS);
    const untouched = probe(new Evaluator(LIMITS), 'fresh');
    expect(probe(evaluator, 'alice')).to.deep.equal(untouched);
    expect(probe(evaluator, 'bob')).to.deep.equal(untouched);
  });

  it('are evaluated in different contexts also when that of the next run is prepared ahead', () => {
    const evaluator = new Evaluator(LIMITS);
    const untouched = probe(new Evaluator(LIMITS), 'fresh');
    evaluator.prepareNextRun();
    for (const runId of ['alice', 'bob', 'carol']) {
      expect(evaluator.evaluate('[$x, $y := 1]', null, { x: runId }, runId)).to.deep.equal([runId, 1]);
      evaluator.prepareNextRun();
      evaluator.prepareNextRun();
      expect(probe(evaluator, runId)).to.deep.equal(untouched);
    }
  });
});

describe('The context of expressions', () => {
  const context = createExpressionContext(LIMITS);

  it('holds nothing of the host', () => {
    const names = ['globalThis', 'jsonata', 'evaluateToGlobals', 'global', 'notes', 'harden', 'freezeAll'];
    const foreign: unknown = runInContext(
      `(() => {
        const seen = new Set();
        const foreign = [];
        const waiting = [${names.map((name) => `['${name}', ${name}]`).join()}];
        while (waiting.length > 0) {
          const [path, value] = waiting.pop();
          if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
          seen.add(value);
          if (typeof value === 'function' && !(value instanceof Function) && value !== Function.prototype) foreign.push(path);
          const parent = Object.getPrototypeOf(value);
          if (parent !== null && !(value instanceof Object) && value !== Object.prototype) foreign.push(path);
          waiting.push([path + '.__proto__', parent]);
          for (const key of Reflect.ownKeys(value)) {
            const { value: part, get, set } = Reflect.getOwnPropertyDescriptor(value, key);
            for (const next of [part, get, set]) waiting.push([path + '.' + String(key), next]);
          }
        }
        return JSON.stringify([foreign, seen.size > 500]);
      })()`,
      context,
    );
    expect(foreign).to.equal('[[],true]');
  });

  it('makes no code of text', () => {
    for (const code of ['Function("return 1")()', 'eval("1")', '(async () => {}).constructor("return 1")()'])
      expect(() => runInContext(code, context), code).to.throw('Code generation from strings disallowed');
  });

  it('freezes what evaluations share', () => {
    const sums: unknown = runInContext(
      `(() => {
        const definition = jsonata('$sum').evaluate();
        return () => [definition, definition.implementation, definition.signature, definition.signature.validate].map(Object.isFrozen);
      })()`,
      context,
    );
    expect((sums as () => unknown)()).to.deep.equal([true, true, true, true]);
  });
});
