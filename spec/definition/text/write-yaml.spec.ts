import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { JsonObject } from '../../../lib/common/json.js';
import { runToEnd } from '../../../lib/common/steps.js';
import { writeYamlInSteps } from '../../../lib/definition/text/write-yaml.js';

const write = (value: object): string => runToEnd(writeYamlInSteps(value as JsonObject));

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
      { numRuns: 1500 },
    );
  });

  it('writes thousands of tasks in steps', () => {
    const tasks = Array.from({ length: 5000 }, (_, index) => ({ id: `t${index}`, tool: 'mock' }));
    const steps = writeYamlInSteps({ id: 'many', tasks });
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).to.equal(30);
  });
});
