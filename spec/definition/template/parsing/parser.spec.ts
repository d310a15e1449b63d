import { expect } from 'chai';
import * as fc from 'fast-check';
import type { TemplatePart } from '../../../../lib/definition/template/expressions/expression.js';
import { parseTemplate } from '../../../../lib/definition/template/parsing/parser.js';
import { itTimed, measureCpuMsSync } from '../../../support/measuring/cpu-time.js';

describe('parseTemplate', () => {
  /** Sources of the expressions in angle brackets, between the literal parts. */
  function shapeOf(text: string): string[] {
    const parsed = parseTemplate(text);
    if (parsed === undefined) return [text];
    if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('; '));
    return parsed.parts.map((part: TemplatePart) =>
      typeof part === 'string' ? part : `<${part.expression.source}>`,
    );
  }

  describe('parts', () => {
    const cases: [string, string[]][] = [
      ['{{a.output}}', ['<a.output>']],
      ['x {{a.output}} y', ['x ', '<a.output>', ' y']],
      ['{{a.b}}{{c.d}}', ['<a.b>', '<c.d>']],
      ['{{  a.output\n}}', ['<a.output>']],
      ['{"n": {{a.output}}}', ['{"n": ', '<a.output>', '}']],
      ['{{a.x ?? {"k":{"z":1}}}}', ['<a.x ?? {"k":{"z":1}}>']],
      ['{{a.x ?? {"k":{"z":1}}}}}', ['<a.x ?? {"k":{"z":1}}>', '}']],
      ['{{a.x ?? "}}"}} end', ['<a.x ?? "}}">', ' end']],
      ['{{a["}} ?? 1"]}} end', ['<a["}} ?? 1"]>', ' end']],
      ['${{a.b}}', ['$', '<a.b>']],
    ];
    for (const [text, parts] of cases) {
      it(`reads ${text} as ${parts.join(' | ')}`, () => {
        expect(shapeOf(text)).to.deep.equal(parts);
      });
    }

    it('returns undefined for a text without templates and escapes', () => {
      for (const text of ['', 'plain', '{', '}}', 'a } } b', '{ {a} }', '\\', '\\{ {', '{a}}']) {
        expect(parseTemplate(text), text).to.equal(undefined);
      }
    });

    it('marks a text that is exactly one template (D10)', () => {
      const whole = [
        '{{a.b}}',
        '{{ a.b ?? "}}" }}',
        ' {{a.b}}',
        '{{a.b}} ',
        '{{a.b}}{{a.b}}',
        '\\{{a.b}}',
        '{{a.b}}\n',
        '{{a.b}}\n\n',
        '\n{{a.b}}',
        '{{a.b}} \n',
      ].map((text) => {
        const parsed = parseTemplate(text);
        return parsed?.ok === true && parsed.whole;
      });
      expect(whole).to.deep.equal([true, true, false, false, false, false, true, false, false, false]);
    });

    it('records where each template opens', () => {
      const parsed = parseTemplate('ab {{c.d}} {{e.f}}');
      const parts = parsed?.ok ? parsed.parts : [];
      expect(parts.map((part) => (typeof part === 'string' ? part : part.offset))).to.deep.equal([
        'ab ',
        3,
        ' ',
        11,
      ]);
    });
  });

  describe('escapes (D14)', () => {
    const cases: [string, string[]][] = [
      ['\\{{a.b}}', ['{{a.b}}']],
      ['x \\{{ y', ['x {{ y']],
      ['\\{{ {{a.b}} \\{{', ['{{ ', '<a.b>', ' {{']],
      ['\\{{{', ['{{{']],
      ['\\\\{{a.b}}', ['\\', '<a.b>']],
      ['C:\\dir\\\\{{a.b}}', ['C:\\dir\\', '<a.b>']],
      ['\\\\\\{{a.b}}', ['\\{{a.b}}']],
      ['\\n {{a.b}} \\\\', ['\\n ', '<a.b>', ' \\\\']],
    ];
    for (const [text, parts] of cases) {
      it(`reads ${text} as ${parts.join(' | ')}`, () => {
        expect(shapeOf(text)).to.deep.equal(parts);
      });
    }
  });

  describe('problems', () => {
    function offsetsOf(text: string): number[] {
      const parsed = parseTemplate(text);
      return parsed?.ok === false ? parsed.problems.map(({ offset }) => offset) : [];
    }

    it('are all reported with their position', () => {
      expect(offsetsOf('{{a.}} {{b | x}} {{ok.x}} {{}} {{c')).to.deep.equal([3, 11, 28, 31]);
    });

    it('say where their template opens', () => {
      const parsed = parseTemplate('x {{a.}} {{ b | x}} {{c');
      const problems = parsed?.ok === false ? parsed.problems : [];
      expect(problems.map(({ start }) => start)).to.deep.equal([2, 9, 20]);
    });

    it('leave the valid templates of the text, with the others as text', () => {
      const parsed = parseTemplate('x {{a.}} {{b.c}} {{ d | y}}!');
      const parts = parsed?.parts.map((part) =>
        typeof part === 'string' ? part : `<${part.expression.source}>`,
      );
      expect(parts).to.deep.equal(['x {{a.}} ', '<b.c>', ' {{ d | y}}!']);
    });

    it('of an unclosed template do not hide those of the next one', () => {
      expect(offsetsOf('{{a.output, and {{b.output}} and {{c.}}')).to.deep.equal([10, 36]);
      expect(offsetsOf('{{a["x}} and {{b.}}\n')).to.deep.equal([4, 16]);
      expect(offsetsOf('{{a["x}}\n{{b["y}}')).to.deep.equal([4, 13]);
    });

    it('are reported once for nested templates', () => {
      expect(offsetsOf('{{ {{a.b}} }}')).to.deep.equal([3]);
      expect(offsetsOf('{{"{{"}}')).to.deep.equal([2]);
    });

    it('are limited to 100 in one text', () => {
      expect(offsetsOf('{{}}'.repeat(1000))).to.have.length(100);
    });
  });

  it('rejects a template of more than 64 KiB, which would take long to parse', () => {
    for (const long of [`{{item${'.a'.repeat(40_000)}}}`, `{{item ?? [${'1,'.repeat(40_000)}1]}}`]) {
      const parsed = parseTemplate(long);
      const messages = parsed?.ok === false ? parsed.problems.map(({ message }) => message) : [];
      expect(messages).to.deep.equal(['a template is longer than 64 KiB']);
    }
    expect(parseTemplate(`{{item${'.a'.repeat(30_000)}}}`)?.ok).to.equal(true);
  });

  describe('any text', () => {
    const alphabet = [...`{}[]"'\\?.|$ab0- \t\n`.split(''), '{{', '}}', '??', 'ab.b'];

    it('parses without throwing: 200,000 texts of brackets, quotes and dots', () => {
      let state = 12345;
      const next = (below: number): number => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * below);
      };
      const seen = { literal: 0, good: 0, bad: 0 };
      for (let count = 0; count < 200_000; count++) {
        let text = '{{';
        for (let length = next(14); length > 0; length--) text += alphabet[next(alphabet.length)] ?? '';
        const parsed = parseTemplate(count % 3 === 0 ? text : `${text}}}`);
        seen[parsed === undefined ? 'literal' : parsed.ok ? 'good' : 'bad']++;
      }
      expect(seen.literal).to.equal(0);
      expect(seen.good).to.be.greaterThan(1000);
      expect(seen.bad).to.be.greaterThan(100_000);
    });

    it('is returned unchanged when it contains no "{{"', () => {
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme' }), (text) => {
          fc.pre(!text.includes('{{'));
          expect(parseTemplate(text)).to.equal(undefined);
        }),
      );
    });

    it('is unchanged when every "{{" is escaped', () => {
      const texts = fc.string({ unit: fc.constantFrom('{', '}', 'a', '.', '"') });
      fc.assert(
        fc.property(texts, (text) => {
          expect(shapeOf(text.replaceAll('{{', '\\{{')).join('')).to.equal(text);
        }),
      );
    });

    it('has problems with positions within it', () => {
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom(...alphabet), minLength: 2 }), (text) => {
          const parsed = parseTemplate(text);
          for (const { offset, message } of parsed?.ok === false ? parsed.problems : []) {
            expect(offset).to.be.within(0, text.length);
            expect(message).to.match(/^\S.*\S$/);
          }
        }),
      );
    });
  });

  describe('time', () => {
    const hostile: Record<string, string> = {
      'open braces': '{{',
      'open brackets': '{{a[',
      'open quotes': '{{a ?? "',
      'open keys': "{{a['",
      escapes: '\\{{',
      'deep literals': '{{a ?? [[[[',
      'long lists': '{{a ?? ["", "", ',
      'good templates': '{{a.b[0]["c"] ?? {"d":"}}"}}}',
      backslashes: '\\',
      dots: '.a',
    };

    function fastestOf(text: string): number {
      return Math.min(...Array.from({ length: 2 }, () => measureCpuMsSync(() => void parseTemplate(text))));
    }

    for (const [name, unit] of Object.entries(hostile)) {
      itTimed(`is linear in the length of the text: ${name}`, () => {
        const text = (count: number): string => `{{a${unit.repeat(count)}{{b}}`;
        fastestOf(text(1000));
        const [small, large] = [fastestOf(text(2000)), fastestOf(text(32_000))];
        // 16 times the text; quadratic time would be 256 times as much.
        expect(large).to.be.lessThan(64 * small + 5);
      });
    }

    itTimed('does not overflow the stack on a million of each', () => {
      for (const unit of ['{{', '{{a[', '{{a ?? "', '\\{{', '{{a ?? [[[[']) {
        expect(parseTemplate(unit.repeat(1_000_000))?.ok).to.equal(unit === '\\{{');
        expect(parseTemplate(`${unit.repeat(1_000_000)}}}`)?.ok).to.equal(unit === '\\{{');
      }
      expect(parseTemplate('{{a.b}}'.repeat(200_000))?.ok).to.equal(true);
    });
  });
});
