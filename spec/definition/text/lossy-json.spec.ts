import { expect } from 'chai';
import fc from 'fast-check';
import {
  findLossyJsonInSteps,
  type LossyJson,
  measureJsonInSteps,
} from '../../../lib/definition/text/lossy-json.js';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { cases } from '../../support/measuring/cases.js';

function find(text: string): LossyJson | undefined {
  return runToEnd(findLossyJsonInSteps(text, JSON.parse(text), runToEnd(measureJsonInSteps(text)).members));
}

/** A part of a JSON text, and whether `JSON.parse` loses something of it. */
interface Piece {
  readonly text: string;
  readonly loses: boolean;
}

const scalars = fc.oneof(
  fc.constantFrom('1', '-0', '0.1', '9007199254740991', '-9007199254740991', '1e21', '123456789012345678.5'),
  fc.constantFrom(
    'true',
    'false',
    'null',
    '"9007199254740993"',
    '"a: {1}"',
    String.raw`"\\"`,
    String.raw`"\":"`,
  ),
);
const lossy = fc.constantFrom(
  '9007199254740992',
  '-9007199254740993',
  '100000000000000000000',
  '1e309',
  '-1e999',
);
const keys = fc.constantFrom(
  '"a"',
  '"b"',
  String.raw`"\u0061"`,
  '""',
  '"a:"',
  String.raw`"\""`,
  '"9007199254740993"',
);
const space = fc.constantFrom('', ' ', '\n');

const { piece } = fc.letrec<{ piece: Piece }>((tie) => ({
  piece: fc.oneof(
    { maxDepth: 4 },
    { weight: 6, arbitrary: scalars.map((text) => ({ text, loses: false })) },
    { weight: 1, arbitrary: lossy.map((text) => ({ text, loses: true })) },
    {
      weight: 3,
      arbitrary: fc.tuple(fc.array(tie('piece'), { maxLength: 4 }), space).map(([items, gap]) => ({
        text: `[${gap}${items.map(({ text }) => text).join(`,${gap}`)}${gap}]`,
        loses: items.some(({ loses }) => loses),
      })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.array(fc.tuple(keys, tie('piece')), { maxLength: 3 }), space)
        .map(([members, gap]) => ({
          text: `{${gap}${members.map(([key, { text }]) => `${key}${gap}:${gap}${text}`).join(`,${gap}`)}}`,
          loses:
            members.some(([, { loses }]) => loses) ||
            new Set(members.map(([key]) => JSON.parse(key) as string)).size < members.length,
        })),
    },
  ),
}));

describe('findLossyJson (D7)', () => {
  it('finds something exactly when JSON.parse drops a key, digits of an integer, or the size of a number', () => {
    fc.assert(
      fc.property(piece, ({ text, loses }) => {
        expect(find(text) !== undefined, text).to.equal(loses);
      }),
      cases(2000),
    );
  });

  const FOUND: Record<string, LossyJson> = {
    '{"id":"p","id":"q"}': { offset: 10, kind: 'key', lost: 'id' },
    [String.raw`{"id":1,"\u0069d":1}`]: { offset: 8, kind: 'key', lost: 'id' },
    '[{"a":{"b":1}},{"a":1, "a":2}]': { offset: 23, kind: 'key', lost: 'a' },
    '{"n":[1,9007199254740993]}': { offset: 8, kind: 'digits', lost: '9007199254740993' },
    '-9007199254740992': { offset: 0, kind: 'digits', lost: '-9007199254740992' },
    '[0.5,1e400]': { offset: 5, kind: 'size', lost: '1e400' },
  };
  for (const [text, loss] of Object.entries(FOUND)) {
    it(`finds the first loss in ${text}`, () => expect(find(text)).to.deep.equal(loss));
  }

  itTimed('takes time in proportion to the length of the text', () => {
    const create = (members: number): string =>
      `{${Array.from({ length: members }, (_, index) => `"k${index}":[{"a":${index}}]`).join(',')}}`;
    const [one, ten] = [create(2000), create(20_000)].map((text) => ({
      text,
      value: JSON.parse(text) as unknown,
    }));
    const measure = (text: string, value: unknown, times: number, wrong: number): number =>
      measureCpuMsSync(() => {
        for (let count = 0; count < times; count++) {
          runToEnd(findLossyJsonInSteps(text, value, runToEnd(measureJsonInSteps(text)).members + wrong));
        }
      });
    // With a wrong count, the measured function searches for the place.
    for (const wrong of [0, 1]) {
      measure(one?.text ?? '', one?.value, 5, wrong);
      const expected = measure(one?.text ?? '', one?.value, 20, wrong);
      expect(measure(ten?.text ?? '', ten?.value, 2, wrong)).to.be.below(6 * expected + 20);
    }
  });
});

describe('A long JSON text (D25)', () => {
  it('is measured and compared with its value in steps, whatever is wrong with it', () => {
    const members = Array.from({ length: 60_000 }, (_, index) => `"key ${index}":${index}`);
    for (const last of ['"a":1', '"key 0":1', '"a":1e21']) {
      const text = `{${[...members, last].join(',')}}`;
      expect([...measureJsonInSteps(text)].length).to.be.within(
        text.length / 2 ** 16 - 1,
        text.length / 2 ** 16,
      );
      const { members: count } = runToEnd(measureJsonInSteps(text));
      const lists = { lists: Array.from({ length: 60_000 }, () => []) };
      expect([...findLossyJsonInSteps(text, lists, count)].length).to.be.greaterThan(12);
    }
  });

  it('is compared in steps also when one object has all of its members', () => {
    const value = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`key ${index}`, index]));
    const text = JSON.stringify(value);
    const { members } = runToEnd(measureJsonInSteps(text));
    expect([...findLossyJsonInSteps(text, value, members)].length).to.be.within(14, 16);
    expect(runToEnd(findLossyJsonInSteps(text, value, members))).to.equal(undefined);
  });

  it('is compared in steps also when one list has all of its members', () => {
    for (const member of [1, []]) {
      const list = Array.from({ length: 60_000 }, () => member);
      expect([...findLossyJsonInSteps(JSON.stringify(list), list, 0)].length).to.be.at.least(14);
    }
  });
});
