import { deserialize, serialize } from 'node:v8';
import { expect } from 'chai';
import { parseText } from '../../../lib/definition/text/parse-text.js';
import { type Source, toSource } from '../../../lib/definition/text/source.js';
import { measureCpuMsSync } from '../../support/cpu-time.js';

const TEXT = `id: p # a comment
tasks:
  - {id: a, "tool": mock, inputs: &shared {x: [1, 2]}}
  - id: b
    inputs: *shared
    again: 1
    again: 2
    1: text
`;

/** Parses a text as if in another process. */
function parseElsewhere(text: string): Source {
  return toSource(deserialize(serialize(parseText(text))) as ReturnType<typeof parseText>);
}

describe('The positions of a text', () => {
  for (const [place, parse] of [
    ['this process', (text: string) => toSource(parseText(text))],
    ['another process', parseElsewhere],
  ] as const) {
    it(`are those of keys and values, also behind aliases, when it was parsed in ${place}`, () => {
      const source = parse(TEXT);
      const at = (path: (string | number)[], part?: 'key'): string => {
        const { line, column } = source.positionOf(path, part) ?? { line: 0, column: 0 };
        return `${line}:${column}`;
      };
      expect(at(['id'])).to.equal('1:5');
      expect(at(['id'], 'key')).to.equal('1:1');
      expect(at(['tasks', 0, 'tool'])).to.equal('3:21');
      expect(at(['tasks', 0, 'tool'], 'key')).to.equal('3:13');
      expect(at(['tasks', 0, 'inputs', 'x', 1])).to.equal('3:51');
      expect(at(['tasks', 1, 'inputs'])).to.equal('5:13');
      expect(at(['tasks', 1, 'inputs', 'x', 1])).to.equal('3:51');
      expect(at(['tasks', 1, '1'])).to.equal('8:8');
    });

    it(`are those of the first of two equal keys, and of what lacks a part, when it was parsed in ${place}`, () => {
      const source = parse(TEXT);
      expect(source.positionOf(['tasks', 1, 'again'])).to.deep.equal({ line: 6, column: 12 });
      expect(source.positionOf(['tasks', 1, 'none', 'x'], 'key')).to.deep.equal({ line: 4, column: 5 });
      expect(source.positionOf(['tasks', 7])).to.deep.equal({ line: 3, column: 3 });
    });
  }

  it('take linear time to find, however many keys a map has', () => {
    const timeOf = (count: number): number => {
      const keys = Array.from({ length: count }, (_, index) => `k${index}: 1`);
      const source = toSource(parseText(keys.join('\n')));
      return measureCpuMsSync(() => {
        for (let index = 0; index < count; index++) source.positionOf([`k${index}`]);
      });
    };
    timeOf(1000);
    const isLinear = (): boolean => timeOf(16_000) < 32 * Math.max(timeOf(2000), 1);
    expect(isLinear() || isLinear() || isLinear()).to.equal(true);
  });
});
