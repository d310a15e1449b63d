import { deserialize, serialize } from 'node:v8';
import { expect } from 'chai';
import { parseText } from '../../../lib/definition/text/parse-text.js';
import { type Source, toSource } from '../../../lib/definition/text/source.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

const TEXT = `id: p # a comment
tasks:
  - {id: a, "tool": mock, inputs: &shared {x: [1, 2]}}
  - id: b
    inputs: *shared
    again: 1
    again: 2
    1: text
`;

const TEMPLATES = String.raw`plain: x {{a}} y {{b}} {{c}}
quoted: "\"{{a}}\" \u00e9 {{b}}
  {{c}}"
single: 'it''s {{a}} and

  {{b}} {{c}}'
folded: >
  x {{a}}
  {{b}}

  {{c}}
literal: |
  {{a}}
    {{b}}{{c}}
braces: '{{{a}} {{{{b}} {{c}}'
shared: &shared "{{a}} {{b}} {{c}}"
again: *shared
last: "{{a}} {{b}} {{c}}"
`;

/** Parses a text as if in another process. */
function parseElsewhere(text: string): Source {
  return toSource(deserialize(serialize(parseText(text))) as ReturnType<typeof parseText>, text);
}

describe('The positions of a text', () => {
  for (const [place, parse] of [
    ['this process', (text: string) => toSource(parseText(text), text)],
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

  for (const [place, parse] of [
    ['YAML', (text: string) => toSource(parseText(text), text)],
    ['JSON', (text: string) => toSource(parseText(toJson(text)), toJson(text))],
  ] as const) {
    it(`are those of each template in a text of ${place}, however it is quoted or folded`, () => {
      const source = parse(TEMPLATES);
      const lines = (place === 'JSON' ? toJson(TEMPLATES) : TEMPLATES).split('\n');
      for (const [key, text] of Object.entries(source.value as Record<string, string>)) {
        for (const template of ['{{c}}', '{{a}}', '{{b}}', '{{c}}']) {
          const { line = 0, column = 0 } = source.positionOf([key], text.indexOf(template)) ?? {};
          expect(lines[line - 1]?.slice(column - 1), `${key} ${template}`).to.match(
            new RegExp(`^${template}`),
          );
        }
      }
    });
  }

  it('are those of the text when its source has escapes for the braces of a template', () => {
    const text = String.raw`{"x": "\u007b{a}} {{b}}", "y": "{{c}}"}`;
    const source = toSource(parseText(text), text);
    expect(source.positionOf(['x'], 6)).to.deep.equal({ line: 1, column: 7 });
    expect(source.positionOf(['y'], 0)).to.deep.equal({ line: 1, column: 33 });
    expect(source.positionOf(['y', 'z'], 3)).to.deep.equal({ line: 1, column: 32 });
  });

  itTimed('take linear time to find, however many templates a text has', () => {
    const timeOf = (count: number): number => {
      const text = JSON.stringify({ x: '{{a}}'.repeat(count) });
      const source = toSource(parseText(text), text);
      return measureCpuMsSync(() => {
        for (let index = 0; index < count; index++) source.positionOf(['x'], 5 * index);
      });
    };
    timeOf(1000);
    const isLinear = (): boolean => timeOf(16_000) < 32 * Math.max(timeOf(2000), 1);
    expect(isLinear() || isLinear() || isLinear()).to.equal(true);
  });

  itTimed('take linear time to find, however many keys a map has', () => {
    const timeOf = (count: number): number => {
      const keys = Array.from({ length: count }, (_, index) => `k${index}: 1`);
      const text = keys.join('\n');
      const source = toSource(parseText(text), text);
      return measureCpuMsSync(() => {
        for (let index = 0; index < count; index++) source.positionOf([`k${index}`]);
      });
    };
    timeOf(1000);
    const isLinear = (): boolean => timeOf(16_000) < 32 * Math.max(timeOf(2000), 1);
    expect(isLinear() || isLinear() || isLinear()).to.equal(true);
  });
});

function toJson(text: string): string {
  return JSON.stringify(parseText(text).value, undefined, 1);
}
