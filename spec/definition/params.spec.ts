import { expect } from 'chai';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../lib/common/json/json.js';
import { coerce, resolveParams, resolveParamsInSteps } from '../../lib/definition/params.js';
import type { ParamDefinition } from '../../lib/definition/schema/schema.js';
import { itTimed, measureCpuMsSync } from '../support/measuring/cpu-time.js';

function resolve(params: Record<string, ParamDefinition>, given: JsonObject = {}) {
  return resolveParams({ params }, given);
}

function countSteps(params: Record<string, ParamDefinition>, given: JsonObject): number {
  let count = 0;
  const steps = resolveParamsInSteps({ params }, given);
  for (let step = steps.next(); step.done !== true; step = steps.next()) count++;
  return count;
}

describe('resolveParams (rule 10, D4)', () => {
  const coerced: [string, Json, Json][] = [
    ['integer', '42', 42],
    ['integer', ' -7 ', -7],
    ['integer', 3, 3],
    ['integer', '1e3', 1000],
    ['number', '1.5', 1.5],
    ['number', '-.5', -0.5],
    ['boolean', 'TRUE', true],
    ['boolean', 'yes', true],
    ['boolean', 1, true],
    ['boolean', '1', true],
    ['boolean', 'No', false],
    ['boolean', 0, false],
    ['string', 7, '7'],
    ['string', true, 'true'],
    ['string', '', ''],
    ['list', [1], [1]],
    ['object', { a: 1 }, { a: 1 }],
  ];
  for (const [type, given, value] of coerced) {
    it(`coerces ${JSON.stringify(given)} to the ${type} ${JSON.stringify(value)}`, () => {
      expect(resolve({ p: { type: type as 'string' } }, { p: given })).to.deep.equal({
        ok: true,
        values: { p: value },
      });
    });
  }

  const refused: [string, Json][] = [
    ['integer', 1.5],
    ['integer', '1.5'],
    ['integer', ''],
    ['integer', 'twelve'],
    ['integer', '0x10'],
    ['integer', true],
    ['integer', 2 ** 53],
    ['integer', '9007199254740993'],
    ['number', 'NaN'],
    ['number', 'Infinity'],
    ['number', '1e999'],
    ['number', null],
    ['boolean', 'maybe'],
    ['boolean', 2],
    ['string', [1]],
    ['string', null],
    ['list', '[1]'],
    ['list', { length: 0 }],
    ['object', '{}'],
    ['object', []],
  ];
  for (const [type, given] of refused) {
    it(`does not coerce ${JSON.stringify(given)} to ${type}`, () => {
      const resolved = resolve({ p: { type: type as 'string' } }, { p: given });
      expect(resolved.ok).to.equal(false);
    });
  }

  it('never rounds a fraction', () => {
    fc.assert(
      fc.property(fc.double({ noInteger: true, noNaN: true }), fc.boolean(), (number, asText) => {
        expect(coerce(asText ? String(number) : number, 'integer').ok).to.equal(false);
      }),
    );
  });

  it('uses the type string when none is declared', () => {
    expect(resolve({ p: {} }, { p: 5 })).to.deep.equal({ ok: true, values: { p: '5' } });
  });

  it('uses and coerces the default of a param that is not supplied', () => {
    expect(resolve({ p: { type: 'integer', default: '5' } })).to.deep.equal({ ok: true, values: { p: 5 } });
  });

  it('treats a param whose default is null as optional', () => {
    expect(resolve({ p: { type: 'integer', default: null } })).to.deep.equal({
      ok: true,
      values: { p: null },
    });
    expect(resolve({ p: { type: 'integer', default: null } }, { p: null })).to.deep.equal({
      ok: true,
      values: { p: null },
    });
  });

  it('reports all missing, unknown and invalid params at once', () => {
    const resolved = resolve(
      { city: { description: 'where to look' }, limit: { type: 'integer' }, mode: {} },
      { limit: 'many', mod: 'x' },
    );
    expect(resolved).to.deep.equal({
      ok: false,
      problems: [
        'there is no param "mod"; did you mean "mode"?',
        'param "city" (string) is required: where to look',
        'param "limit" must be a whole number, not "many"',
        'param "mode" (string) is required',
      ],
    });
  });

  it('omits values that violate a keyword from messages, which logs and records show', () => {
    const params: Record<string, ParamDefinition> = {
      code: { pattern: '^[A-Z]{3}$' },
      count: { type: 'integer', maximum: 9 },
      level: { enum: ['low', 'high'] },
    };
    const resolved = resolve(params, { code: 'secret', count: 12345, level: 'secret' });
    expect(resolved).to.deep.equal({
      ok: false,
      problems: [
        'param "code" must match the pattern ^[A-Z]{3}$',
        'param "count" must be at most 9',
        'param "level" must be one of "low", "high"',
      ],
    });
  });

  it('validates the JSON Schema keywords after coercion', () => {
    const params: Record<string, ParamDefinition> = {
      level: { enum: ['low', 'high'] },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      code: { pattern: '^[A-Z]{3}$' },
      rows: { type: 'list', items: { type: 'number' } },
    };
    expect(resolve(params, { level: 'low', count: '3', code: 'ABC', rows: [1, 2] })).to.deep.include({
      ok: true,
    });
    const refusedValues = resolve(params, { level: 'mid', count: 10, code: 'abc', rows: ['x'] });
    expect(refusedValues.ok ? [] : refusedValues.problems).to.have.length(4);
    expect(refusedValues.ok ? '' : refusedValues.problems[0]).to.include('"low", "high"');
  });

  it('matches a hostile pattern in linear time', () => {
    const resolved = resolve({ p: { pattern: '^(a+)+$' } }, { p: `${'a'.repeat(50)}!` });
    expect(resolved.ok).to.equal(false);
  });

  itTimed(
    'refuses a number that is written in more than 100 characters, and takes no longer for a long text',
    () => {
      const digits = '1'.repeat(100);
      expect(resolve({ p: { type: 'number' } }, { p: ` ${digits} ` })).to.have.property('ok', true);
      for (const [type, noun] of [
        ['number', 'a number'],
        ['integer', 'a whole number'],
      ] as const) {
        const long = resolve({ p: { type } }, { p: `${digits}1` });
        expect(long.ok ? '' : long.problems[0]).to.match(
          new RegExp(`^param "p" must be ${noun} of at most 100 characters, not "1{59}…$`),
        );
      }
      const cpuMs = measureCpuMsSync(() => {
        for (const type of ['number', 'integer', 'boolean'] as const) {
          for (const hostile of [
            `${'1'.repeat(200_000)}x`,
            ' '.repeat(200_000),
            `1${' '.repeat(200_000)}x`,
          ]) {
            expect(resolve({ p: { type } }, { p: hostile }).ok).to.equal(false);
            expect(resolve({ p: { type, default: hostile } }).ok).to.equal(false);
          }
        }
      });
      expect(cpuMs).to.be.lessThan(500);
    },
  );

  it('writes no more of a value of another type than it shows', () => {
    let shared: Json = ['text'];
    for (let level = 0; level < 40; level++) shared = [shared, shared];
    const resolved = resolve({ p: { type: 'object' } }, { p: shared });
    const shown = `${'['.repeat(41)}"text"],["text"]],[`;
    expect(resolved.ok ? '' : resolved.problems[0]).to.equal(
      `param "p" must be an object, not ${shown.slice(0, 60)}…`,
    );
  });

  it('looks once at a list that many params have', () => {
    let reads = 0;
    const watched = new Proxy(
      Array.from({ length: 1000 }, () => 1),
      {
        get(list, key, receiver) {
          if (key === '500') reads++;
          return Reflect.get(list, key, receiver) as unknown;
        },
      },
    );
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const declared = Object.fromEntries(names.map((name) => [name, { type: 'list' as const }]));
    const given = Object.fromEntries(names.map((name) => [name, watched]));
    expect(resolve(declared, given)).to.have.property('ok', true);
    expect(reads).to.equal(1);
  });

  it('pauses within a long list, and between many params', () => {
    const list = Array.from({ length: 50_000 }, () => 1);
    expect(countSteps({ p: { type: 'list' } }, { p: list })).to.be.within(90, 110);
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`p${i}`, { default: '' }]));
    expect(countSteps(many, {})).to.be.within(20, 2000);
  });

  it('never throws, whatever the value', () => {
    let deep: Json = null;
    for (let level = 0; level < 50_000; level++) deep = [deep];
    const cycle: Json[] = [];
    cycle.push(cycle);
    for (const value of [deep, cycle, { deep }]) {
      for (const type of ['list', 'object', 'string', 'integer'] as const) {
        expect(resolve({ p: { type } }, { p: value }).ok).to.equal(false);
      }
    }
  });

  it('treats undefined as not supplied', () => {
    const given = { p: undefined } as unknown as JsonObject;
    expect(resolve({ p: { type: 'integer', default: 1 } }, given)).to.deep.equal({
      ok: true,
      values: { p: 1 },
    });
  });

  it('names the first unknown params and counts the others', () => {
    const declared = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`known${i}`, { default: '' }]),
    );
    const given = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${i}`, 1]));
    const resolved = resolve(declared, given);
    const problems = resolved.ok ? [] : resolved.problems;
    expect(problems).to.have.length(21);
    expect(problems[0]).to.match(/^there is no param "0"; the params are known0, known1, .*known19, …$/);
    expect(problems.at(-1)).to.equal('and 4,980 more');
  });

  itTimed('describes the first of many invalid params', () => {
    const declared = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, i) => [`known${i}`, { description: 'needed' }]),
    );
    const cpuMs = measureCpuMsSync(() => {
      const given = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`knowm${i}0000`, 1]));
      const resolved = resolve(declared, given);
      const problems = resolved.ok ? [] : resolved.problems;
      expect(problems).to.have.length(42);
      expect(problems.at(-1)).to.equal('and more');
    });
    expect(cpuMs).to.be.lessThan(500);
  });

  itTimed(
    'checks a list of 100,000 numbers, and ends a check that multiplies many schemas with many values (D4)',
    () => {
      const numbers = Array.from({ length: 100_000 }, (_, i) => i);
      const legal: ParamDefinition = { type: 'list', items: { type: 'integer', minimum: 0 } };
      expect(resolve({ p: legal }, { p: numbers })).to.have.property('ok', true);
      const costly: ParamDefinition = {
        type: 'list',
        items: { allOf: Array.from({ length: 500 }, () => ({ type: 'integer' })) },
      };
      const cpuMs = measureCpuMsSync(() => {
        expect(resolve({ p: costly }, { p: numbers })).to.deep.equal({
          ok: false,
          problems: [
            'param "p" cannot be checked: that takes more than 1,000,000 steps; use fewer values, or fewer and simpler schemas and patterns',
          ],
        });
      });
      expect(cpuMs).to.be.lessThan(500);
    },
  );

  it('accepts any name', () => {
    const params = JSON.parse('{"__proto__": {"type": "integer", "default": 1}}') as Record<
      string,
      ParamDefinition
    >;
    const resolved = resolve(params);
    expect(resolved.ok && JSON.stringify(resolved.values)).to.equal('{"__proto__":1}');
    expect(resolve({}, JSON.parse('{"constructor": 1}') as JsonObject)).to.deep.include({ ok: false });
  });
});
