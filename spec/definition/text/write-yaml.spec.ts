import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { MAX_SHOWN_YAML_LENGTH } from '../../../lib/common/limits.js';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { writeYamlInSteps } from '../../../lib/definition/text/write-yaml.js';
import { cases } from '../../support/measuring/cases.js';

/** Writes a value, and does not count its memory. */
const writeInSteps = (value: object) => writeYamlInSteps(value as JsonObject, () => undefined);

function write(value: object): string {
  const written = runToEnd(writeInSteps(value));
  expect(written).to.be.a('string');
  return written ?? '';
}

/** Puts a value into so many lists. */
function nest(value: unknown, levels: number): unknown {
  let nested = value;
  for (let level = 0; level < levels; level++) nested = [nested];
  return nested;
}

/** Pieces of texts that YAML may read in another way. */
const PIECES = [
  'a',
  'Z9',
  'null',
  'no',
  '1',
  '-',
  '- ',
  ': ',
  ':',
  ' #',
  '#',
  ' ',
  '  ',
  '\n',
  '\n\n',
  '\t',
  '\r',
  '{{a.output}}',
  '"',
  "'",
  '|',
  '>',
  '%',
  '@',
  '`',
  '&',
  '*',
  '!',
  '?',
  '? ',
  '[',
  ']',
  ',',
  '~',
  '---',
  '...',
  '\n---\n',
  '\u0000',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\ud800',
  '😀',
  'ß',
  '\\',
  '=',
  '<<',
  '0x1f',
  '1e3',
  '2026-01-31',
];

const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join(''));

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.constantFrom(null, true, false),
    fc.array(tie('any'), { maxLength: 4 }),
    tie('map'),
  ),
  map: fc
    .array(fc.tuple(fc.oneof(text, fc.constant('x'.repeat(1500))), tie('any')), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries.filter(([key]) => key !== '__proto__' && key !== '<<'))),
}));

describe('writeYamlInSteps (D59)', () => {
  it('writes what people read: keys in their order, blocks for long texts, short lists in one line', () => {
    const definition = {
      id: 'report',
      goal: 'Report on {{params.city}}',
      params: { city: { type: 'string', enum: ['Oslo', 'Bergen by'] } },
      tasks: [
        {
          id: 'write',
          tool: 'transform',
          inputs: { expression: '$a := 1;\n\n  $a + 1\n', note: 'one\ntwo', empty: {}, none: [] },
          await: ['first', 'on'],
          retries: 2,
        },
        { id: 'end', tool: 'mock', inputs: { 'a key': null, rows: [[1, 2], { x: 'yes' }, 'a: b'] } },
      ],
    };
    expect(write(definition)).to.equal(`id: report
goal: "Report on {{params.city}}"
params:
  city:
    type: string
    enum: [Oslo, "Bergen by"]
tasks:
  - id: write
    tool: transform
    inputs:
      expression: |
        $a := 1;

          $a + 1
      note: |-
        one
        two
      empty: {}
      none: []
    await: [first, "on"]
    retries: 2
  - id: end
    tool: mock
    inputs:
      a key: null
      rows:
        - [1, 2]
        - x: "yes"
        - "a: b"
`);
    expect(parse(write(definition))).to.deep.equal(definition);
  });

  it('writes any JSON so that parsing it gives an equal value', () => {
    fc.assert(
      fc.property(value.map, (map) => {
        const written = write(map);
        expect(parse(written), written).to.deep.equal(JSON.parse(JSON.stringify(map)));
      }),
      cases(1500),
    );
  });

  it('writes deep values, long texts and long keys so that parsing them gives equal ones', () => {
    const line = `${' '.repeat(30)}x 😀 "quoted" \u0085`;
    const long = 'key '.repeat(5000);
    fc.assert(
      fc.property(value.map, fc.nat(30), (map, levels) => {
        const deep = { in: nest({ map, [long]: map }, levels) };
        expect(parse(write(deep)), write(deep)).to.deep.equal(JSON.parse(JSON.stringify(deep)));
      }),
      cases(300),
    );
    for (const part of [
      'a',
      '😀',
      'a\n',
      'a\n\n',
      'a\n  b\n',
      '\n',
      `a\n${line}\n`,
      '"',
      '\ud800',
      '\u2028',
      'a: b #',
    ]) {
      const text = part.repeat(20_000 / part.length);
      for (const given of [text, `x\n${text}`, `x${text}\n`, `😀${text}`]) {
        expect(parse(write({ given, list: [given] }))).to.deep.equal({ given, list: [given] });
      }
    }
  });

  it('writes what is deep in one line, so that its indents make it no longer', () => {
    const numbers = Array.from({ length: 2000 }, () => 7);
    const shallow = write({ numbers });
    expect(shallow).to.match(/^numbers:\n {2}- 7\n/);
    expect(write({ in: nest({ numbers }, 8) })).to.match(/\n {16}- numbers:\n {20}- 7\n/);
    const deep = write({ in: nest({ numbers, text: 'a\nb' }, 90) });
    expect(deep)
      .to.match(/\n {20}- \[{80}\{"numbers":\[7,7,/)
      .and.to.include('"text":"a\\nb"');
    expect(deep.length).to.be.below(shallow.length);
  });

  it('writes no more than 1 MiB, and takes memory for it while it grows', () => {
    const held: number[] = [];
    const hold = (bytes: number): void => void held.push(bytes);
    const rows = (count: number): JsonObject => ({
      rows: Array.from({ length: count }, () => ({ text: 'a\nb', n: 1 })),
    });
    const fits = runToEnd(writeYamlInSteps(rows(20_000), hold)) ?? '';
    expect(fits.length).to.be.within(700_000, MAX_SHOWN_YAML_LENGTH);
    expect(Math.max(...held)).to.be.below(3 * 64 * 1024);
    expect(held.reduce((sum, bytes) => sum + bytes)).to.equal(2 * fits.length);
    const wide = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, index]));
    for (const large of [
      rows(200_000),
      wide(100_000),
      { text: 'a\n'.repeat(1_000_000) },
      { text: 'a'.repeat(2_000_000) },
      { text: '\u007f'.repeat(300_000) },
      { ['key'.repeat(500_000)]: 1 },
      { in: nest(rows(200_000), 90) } as JsonObject,
    ]) {
      held.length = 0;
      expect(runToEnd(writeYamlInSteps(large, hold))).to.equal(null);
      expect(held.reduce((sum, bytes) => sum + bytes)).to.be.below(2.5 * MAX_SHOWN_YAML_LENGTH);
    }
  });

  it('ends at once when no memory is left', () => {
    const hold = (): void => {
      throw new Error('memory_full');
    };
    let count = 0;
    const steps = writeYamlInSteps({ text: 'a\n'.repeat(400_000) }, hold);
    expect(() => {
      while (steps.next().done !== true) count++;
    }).to.throw('memory_full');
    expect(count).to.be.below(50);
  });

  it('writes thousands of tasks, and long texts, in steps of some 32 KiB', () => {
    const tasks = Array.from({ length: 5000 }, (_, index) => ({ id: `t${index}`, tool: 'mock' }));
    for (const [value, steps] of [
      [{ id: 'many', tasks }, 33],
      [{ text: 'line\n'.repeat(100_000) }, 35],
      [{ text: 'word '.repeat(100_000) }, 15],
      [{ in: nest(tasks, 40) }, 4],
    ] as const) {
      let count = 0;
      for (const _ of writeInSteps(value)) count++;
      expect(count, JSON.stringify(value).slice(0, 40)).to.be.equal(steps);
    }
  });
});
