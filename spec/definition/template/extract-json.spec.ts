import { expect } from 'chai';
import * as fc from 'fast-check';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { extractJson } from '../../../lib/definition/template/extract-json.js';

describe('extractJson (D12)', () => {
  const wrappings: [string, (json: string) => string][] = [
    ['nothing', (json) => json],
    ['white space', (json) => `\n\t ${json} \r\n`],
    ['a byte order mark', (json) => `\uFEFF${json}`],
    ['a code fence', (json) => `\`\`\`\n${json}\n\`\`\``],
    ['a code fence with a language', (json) => `\`\`\`json\n${json}\n\`\`\`\n`],
    ['a code fence with a language and more', (json) => `\`\`\`json title="result"\n${json}\n\`\`\``],
    ['a code fence with carriage returns', (json) => `\`\`\`json\r\n${json}\r\n\`\`\``],
    ['a code fence on one line', (json) => `\`\`\`json ${json}\`\`\``],
    ['a longer code fence', (json) => `\`\`\`\`json\n${json}\n\`\`\`\``],
    ['a fence of tildes', (json) => `~~~JSON\n${json}\n~~~`],
    ['a code fence that is never closed', (json) => `\`\`\`json\n${json}`],
  ];
  for (const [name, wrap] of wrappings) {
    it(`reads a list and an object in ${name}`, () => {
      for (const value of [{ a: [1, '```', 'x\n'] }, [1, { b: null }], {}, []]) {
        expect(extractJson(wrap(JSON.stringify(value, undefined, 1)))).to.deep.equal(value);
      }
    });
  }

  for (const text of [
    '',
    'text',
    '12',
    '"text"',
    'null',
    'true',
    '{',
    '[1',
    '{a: 1}',
    '[see below]',
    '{"a": [1, 2], ',
    'The answer {"a": {"b": [1]} is cut off',
    '[1, 2',
    'between "[" and ")"',
    '```',
    '```json\n```',
    '```json\n12\n```',
  ]) {
    it(`finds no list or object in ${JSON.stringify(text)}`, () => {
      expect(extractJson(text)).to.equal(undefined);
    });
  }

  const prose: [string, unknown][] = [
    ['Here: {"a": 1}', { a: 1 }],
    ['{"a": 1} is it', { a: 1 }],
    ['```\nSee {"a": 1}\n```', { a: 1 }],
    ['Sure! Here are three:\n\n```json\n["x", "y"]\n```\n\nShall I go on?', ['x', 'y']],
    ['The list ["a ] b", {"c": "}"}] has two', ['a ] b', { c: '}' }]],
    ['Keys {like this} and [those], then {"a": [1]}', { a: [1] }],
    ['In [0, 1) we have {"a": 1}', { a: 1 }],
    ['{ return {"a": 1} }', { a: 1 }],
    ['["open "and {"a": 1}', { a: 1 }],
    ['first {"a": 1}, then {"b": 2}', { a: 1 }],
    ['```json\n{"a": 1}\n```\nThat is it.', { a: 1 }],
    ['The text "a]" and {"a": "\\"{"}', { a: '"{' }],
    ['empty [] and {"a": 1}', []],
    ['{\'python\': True} is {"python": true}', { python: true }],
  ];
  for (const [text, value] of prose) {
    it(`reads the first list or object with text around it: ${JSON.stringify(text)}`, () => {
      expect(extractJson(text)).to.deep.equal(value);
    });
  }

  it('reads any list or object with text around it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
        const json = JSON.stringify(value);
        expect(extractJson(`As you asked: ${json}. It's done.`)).to.deep.equal(JSON.parse(json));
      }),
    );
  });

  for (const unit of ['[', '{"a":', '["', '[1,', '{', '[[],', '{"', 'x [ "', '[\n"', '\\"[']) {
    itTimed(`takes linear time for a text of many ${JSON.stringify(unit)}`, () => {
      const timeOf = (count: number): number => {
        const text = `x ${unit.repeat(count)}`;
        return measureCpuMsSync(() => void extractJson(text));
      };
      timeOf(1000);
      // 16 times the text; quadratic time would be 256 times as much.
      expect(timeOf(64_000)).to.be.below(64 * Math.max(timeOf(4000), 0.5));
    });
  }

  it('reads any list, however it is written', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (list) => {
        const json = JSON.stringify(list);
        expect(extractJson(`\`\`\`json\n${json}\n\`\`\``)).to.deep.equal(JSON.parse(json));
      }),
    );
  });

  it('reads a fence with a long first line', () => {
    expect(extractJson(`\`\`\`${'x'.repeat(1_000_000)}\n[1]`)).to.deep.equal([1]);
  });
});
