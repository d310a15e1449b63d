import { expect } from 'chai';
import fc from 'fast-check';
import jsonata from 'jsonata';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Bindings } from '../../../lib/tools/expressions/check-names.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import { EXPRESSION_FUNCTIONS } from '../../../lib/tools/expressions/functions.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { RandomExpressions } from './random-expressions.js';

const evaluator = new Evaluator();

function problemsIn(source: string, bindings: Bindings = new Set()) {
  return evaluator.findProblems(source, bindings);
}

describe('Evaluator.findProblems: names (D49)', () => {
  const wrong: [source: string, message: string, at: number, help: string][] = [
    ['$summ(lines.price)', 'calls $summ, which does not exist', 0, '$summ → $sum'],
    ['a.b ~> $upercase', 'calls $upercase, which does not exist', 7, '$upercase → $uppercase'],
    ['$map(a, $uppercas)', 'reads $uppercas, which is not defined', 8, '$uppercas → $uppercase'],
    ['($rate := 2; $rat * a)', 'reads $rat, which is not defined', 13, '$rat → $rate'],
    [
      'a * $zzzzzzz',
      'reads $zzzzzzz, which is not defined',
      4,
      'add zzzzzzz to the input "bindings", or bind it with $zzzzzzz := …',
    ],
    [
      '$zzzzzzz(?, 1)',
      'calls $zzzzzzz, which does not exist',
      0,
      'https://docs.jsonata.org lists the functions; functions of your own are bound with :=',
    ],
    [
      '$substring(a)($b)',
      'reads $b, which is not defined',
      14,
      'add b to the input "bindings", or bind it with $b := …',
    ],
    ['$sum(a, b)', 'calls $sum with 2 arguments, and it takes 1', 0, 'write $sum(numbers)'],
    ['$now(1, 2, 3)', 'calls $now with 3 arguments, and it takes 0 to 2', 0, 'write $now([format[, zone]])'],
    ['$millis(1)', 'calls $millis with 1 argument, and it takes none', 0, 'write $millis()'],
    ['$zip()', 'calls $zip with 0 arguments, and it takes 1 or more', 0, 'write $zip(list, ...)'],
    [
      '$uppercase(a, b)',
      'calls $uppercase with 2 arguments, and it takes 0 or 1',
      0,
      'write $uppercase(text); without the first one, it takes the value of the context',
    ],
    [
      'a ~> $join(";", 1)',
      'calls $join with 3 arguments, and it takes 1 or 2',
      5,
      'write $join(texts[, separator])',
    ],
    ['a ~> $append', 'calls $append with 1 argument, and it takes 2', 5, 'write $append(list, value)'],
    ['a[$count() > 1]', 'calls $count with 0 arguments, and it takes 1', 2, 'write $count(list)'],
    [
      'function($x) { $sum($x, 1) }(2)',
      'calls $sum with 2 arguments, and it takes 1',
      15,
      'write $sum(numbers)',
    ],
    ['sum(a)', 'calls the field sum, which is no function', 0, 'sum → $sum'],
    ['$eval("1")', 'calls $eval, which is switched off', 0, ''],
  ];
  for (const [source, message, at, help] of wrong) {
    it(`finds that ${source} ${message}`, () => {
      const [problem, ...others] = problemsIn(source);
      const { rename } = problem ?? {};
      expect([problem?.message, problem?.at, others]).to.deep.equal([message, at, []]);
      expect(rename === undefined ? (problem?.hint ?? '') : `${rename.from} → ${rename.to}`).to.equal(help);
    });
  }

  const right = [
    'a.b.$uppercase()',
    'a ~> $uppercase ~> $trim() ~> $substring(1)',
    '($twice := function($f) { function($x) { $f($f($x)) } }; $twice($sqrt)(81))',
    '($add := function($x, $y) { $x + $y }; $map(a, $add(1, ?)))',
    '$map(a, $substring(?, 0, 2))',
    'a@$l.b#$i[$l.key = $i]',
    'a#$i.$i',
    'a[b > 1]#$i.$i',
    '$$.a.($ & "x")',
    '$reduce(a, function($x, $y) { $x + $y }, 0)',
    '($fact := function($n) { $n < 2 ? 1 : $n * $fact($n - 1) }; $fact(5))',
    '(a.($later := 1); $later)',
    '($sum := function($x, $y) { $x + $y }; $sum(1, 2))',
    '{"sum": function($x) { $x }}.sum(1)',
    'rows{$string(id): $sum(price)}',
    'a^(>$number(b)).c',
    'a ~> |$|{"b": $now()}, ["c"]|',
    '$zip(a, b, c, d)',
    '($f := $sum ~> $string; $f(a))',
    'items.(name; count)',
  ];
  for (const source of right) {
    it(`finds nothing in ${source}`, () => {
      expect(problemsIn(source)).to.deep.equal([]);
    });
  }

  it('knows the bindings that a task gives; of unknown ones, only what is called is certain', () => {
    expect(problemsIn('$rate * $rates', new Set(['rate', 'rates']))).to.deep.equal([]);
    expect(problemsIn('$rate * $summ(a)', 'unknown').map(({ at }) => at)).to.deep.equal([8]);
    expect(problemsIn('$rate * $summ(a)', 'any')).to.deep.equal([]);
  });

  it('finds several mistakes, in their order, and ten at most', () => {
    expect(problemsIn('$summ(a) + $b + $coun(c)').map(({ at }) => at)).to.deep.equal([0, 11, 16]);
    const many = Array.from({ length: 50 }, (_, index) => `$zz${index}`).join(' + ');
    expect(problemsIn(many)).to.have.length(10);
  });

  it('knows each function of the package, with its signature', () => {
    const library = readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8');
    const bound = [...library.matchAll(/staticFrame\.bind\('(\w+)'/g)].map(([, name]) => name);
    expect([...EXPRESSION_FUNCTIONS.keys()]).to.have.members([...bound, 'now', 'millis']);
  });

  /** Refused because of the number of its arguments, before its values are looked at. */
  const NUMBER_OF_ARGUMENTS = 'T0410';

  it('refuses exactly the numbers of arguments that the package refuses whatever the arguments are', async () => {
    for (const [name] of EXPRESSION_FUNCTIONS) {
      if (name === 'eval') continue;
      for (let count = 0; count <= 6; count++) {
        const source = `$${name}(${Array.from({ length: count }, () => 'nothing').join()})`;
        const code = await codeOf(source, null);
        const refused = problemsIn(source).length > 0;
        // Nothing at all is an argument of each type but a function.
        const mayDiffer = /^\$(?:map|filter|each|sift|reduce|single|sort|match)\(/.test(source);
        if (!mayDiffer || refused)
          expect([source, code === NUMBER_OF_ARGUMENTS]).to.deep.equal([source, refused]);
      }
    }
  });

  async function codeOf(source: string, input: unknown): Promise<string | undefined> {
    try {
      await jsonata(source).evaluate(input);
      return undefined;
    } catch (error) {
      return (error as { readonly code?: string }).code ?? 'none';
    }
  }

  it('refuses no call that succeeds, of random expressions', async () => {
    const inputs = [
      { a: [1, 2, 3], b: { a: 1, list: [{ a: 2 }], name: 'x' }, list: [{ a: 1 }] },
      null,
      'abc',
      [1, 2],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.constantFrom(...inputs),
        async (seed, input) => {
          const source = new RandomExpressions(seed).next();
          if (/\$(?:shuffle|random|eval|error|now|millis)/.test(source)) return;
          for (const { message, at } of problemsIn(source)) {
            // A variable that nothing binds has no value, which is no error; and what is not reached never fails. Two functions
            // that ~> joins fail when somebody calls them.
            const isJoined = source.slice(0, at).endsWith('~> ') && /^\$\w+(?!\w|\()/.test(source.slice(at));
            if (message.startsWith('reads') || isJoined || !(await isReached(source, at, input))) continue;
            expect(await codeOf(source, input), `${source} at ${at}`).to.be.a('string');
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  /** Returns true if an evaluation comes to the call at an offset: it fails where a call of nothing stands in its place. */
  async function isReached(source: string, at: number, input: unknown): Promise<boolean> {
    const marker = '$error("reached")';
    const marked = `${source.slice(0, at)}(${marker}; ${source.slice(at).replace(/^\$?\w+/, '$&)')}`;
    try {
      await jsonata(marked, { timeout: 1000, stack: 200, sequence: 10_000 }).evaluate(input);
      return false;
    } catch (error) {
      return String((error as { readonly message?: string }).message).includes('reached');
    }
  }

  itTimed('takes time linear in the length of an expression', () => {
    const source = Array.from({ length: 400 }, (_, index) => `$f${index}(a, $x)`)
      .join(' + ')
      .slice(0, 9_000);
    const cpuMs = measureCpuMsSync(() => problemsIn(`${source} + 1`));
    expect(cpuMs).to.be.lessThan(500);
  });

  itTimed('suggests names for the first problems alone, however many there are', () => {
    const source = Array.from({ length: 1_000 }, (_, index) => `$q${index}()`).join(' + ');
    const bindings = new Set(Array.from({ length: 80_000 }, (_, index) => `k${index}`));
    const cpuMs = measureCpuMsSync(() => expect(problemsIn(source, bindings)).to.have.length(10));
    expect(cpuMs).to.be.lessThan(500);
  });
});
