import { expect } from 'chai';
import * as fc from 'fast-check';
import { extractJson } from '../../../lib/definition/template/lookup.js';

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
    'Here: {"a": 1}',
    '{"a": 1} is it',
    '```',
    '```json\n```',
    '```\nSee {"a": 1}\n```',
    '```json\n12\n```',
  ]) {
    it(`finds no list or object in ${JSON.stringify(text)}`, () => {
      expect(extractJson(text)).to.equal(undefined);
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
