import { expect } from 'chai';
import * as fc from 'fast-check';
import jsonata from 'jsonata';
import { errorMessage } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json/json.js';
import { EXPRESSION_LIMITS } from '../../../lib/common/limits.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import { RandomExpressions } from './random-expressions.js';

/** Has so much time that a busy machine does not make it fail. */
const evaluator = new Evaluator({ ...EXPRESSION_LIMITS, timeoutMs: 60_000, hardTimeoutMs: 60_000 });
const INPUT = {
  a: [3, 1, 2],
  b: { name: 'x', list: [{ a: 1 }, { a: 2, b: 'y' }] },
  list: ['q', 'w'],
  name: 'n',
};

/** The functions that both may answer differently, and texts of the refusals that the package jsonata does not have. */
const DIFFERS = /\$(random|shuffle|now|millis|eval)/;
const REFUSED =
  /changes data only|is a function, not a value|contains a function|which JSON cannot represent/;

function ours(source: string, input: Json = INPUT): string {
  return JSON.stringify(evaluator.evaluate(source, input, {}, 'run'));
}

async function theirs(source: string, input: Json = INPUT): Promise<string> {
  const { depth: stack, listLength: sequence } = EXPRESSION_LIMITS;
  return (
    JSON.stringify(await jsonata(source, { timeout: 60_000, stack, sequence }).evaluate(input)) ?? 'null'
  );
}

/** The result as JSON, or the message of the error. */
function attempt(source: string): { readonly result: string } | { readonly failure: string } {
  try {
    return { result: ours(source) };
  } catch (error) {
    return { failure: errorMessage(error) };
  }
}

/** Without the results that hold functions. */
async function attemptTheirs(source: string): Promise<string | undefined> {
  const result = await theirs(source).catch(() => undefined);
  return result?.includes('_jsonata_') === true ? undefined : result;
}

describe('JSONata without promises', () => {
  it('returns what the package jsonata returns for random expressions', async () => {
    const random = new RandomExpressions(7);
    let compared = 0;
    for (let count = 0; count < 400; count++) {
      const source = random.next();
      if (DIFFERS.test(source)) continue;
      const outcome = attempt(source);
      if ('failure' in outcome && REFUSED.test(outcome.failure)) continue;
      const expected = await attemptTheirs(source);
      if (expected === undefined) continue;
      compared++;
      expect(outcome, source).to.deep.equal({ result: expected });
    }
    expect(compared).to.be.greaterThan(30);
  });

  for (const source of [
    '$sort(a)',
    '$sort(b.list, function($l, $r) { $l.a < $r.a })',
    'b.list^(>a).a',
    'b.list{$string(a): b}',
    '[$map(a, function($v, $i) { $v * $i }), $filter(a, function($v) { $v > 1 })]',
    '$reduce(a, function($x, $y) { $x - $y })',
    '$replace("abc", /b/, function($m) { $uppercase($m.match) })',
    '$single(a, function($v) { $v = 3 })',
    '$each(b, function($v, $k) { $k })',
    '$sift(b, function($v, $k) { $k = "name" })',
    'b.list ~> |$|{"c": a + 1}, "b"|',
    '($twice := function($f) { function($x) { $f($f($x)) } }; $twice($sqrt)(81))',
    '($add := function($x, $y) { $x + $y }; $map(a, $add(1, ?)))',
    '{"a": a, "then": list[0]}',
  ]) {
    it(`returns what the package jsonata returns for ${source}`, async () => {
      expect(ours(source)).to.equal(await theirs(source));
    });
  }

  it('sorts lists with equal items as the package jsonata does', async () => {
    const rows = fc.array(fc.record({ key: fc.nat(5), at: fc.nat(100) }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(rows, async (list) => {
        const source = '$sort($, function($l, $r) { $l.key > $r.key })';
        expect(ours(source, list)).to.equal(await theirs(source, list));
      }),
    );
  });

  it('sorts 100,000 items', () => {
    const numbers = Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 100_003);
    expect(ours('$sort($)', numbers)).to.equal(JSON.stringify(numbers.toSorted((l, r) => l - r)));
  });
});
