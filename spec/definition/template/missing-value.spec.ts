import { expect } from 'chai';
import type { TemplateScope } from '../../../lib/definition/template/scope.js';
import { TemplateError } from '../../../lib/definition/template/expressions/operand.js';
import { compileTemplate } from '../../../lib/definition/template/template.js';
import type { Json } from '../../../lib/common/json/json.js';
import { createScope } from './expressions.js';

describe('explainMissing (D13)', () => {
  const outputs: Record<string, Json> = {
    a: {
      name: 'n',
      rows: [1, 2],
      empty: [],
      none: null,
      count: 3,
      text: 'just words',
      blank: '',
      json: '{"total": 1}',
      'odd key': 1,
      'last one': 1,
    },
    years: { '2023': 1, '2024': 2 },
    bare: {},
  };

  function errorOf(
    path: string,
    scope: TemplateScope = createScope(outputs, { params: { language: 'de' }, goal: 'g' }),
  ): Error {
    try {
      compileTemplate(`{{${path}}}`).template.render(scope);
    } catch (error) {
      if (error instanceof TemplateError) return error;
      throw error;
    }
    throw new Error(`{{${path}}} has a value`);
  }

  const KEYS = 'name, rows, empty, none, count, text, blank, json, …';
  const cases: [string, string][] = [
    ['a.output.nam', `a.output has no nam: it has ${KEYS}; did you mean name?`],
    ['a.output.zzzzzz', `a.output has no zzzzzz: it has ${KEYS}`],
    ['a.output["odd kex"]', `a.output has no "odd kex": it has ${KEYS}; did you mean "odd key"?`],
    ['a.output[0]', `a.output is an object, which has no index 0: it has ${KEYS}; write a key as ["0"]`],
    ['a.output.rows[2]', 'a.output.rows is a list of 2, which has no index 2'],
    ['a.output.rows.2', 'a.output.rows is a list of 2, which has no index 2'],
    ['years.output.2025', 'years.output has no "2025": it has "2023", "2024"; did you mean "2023"?'],
    ['a.output.rows[-3].x', 'a.output.rows is a list of 2, which has no index -3'],
    [
      'a.output.rows.x',
      'a.output.rows is a list of 2: select one of its items first, as in a.output.rows[0].x',
    ],
    ['a.output.empty.first', 'a.output.empty is an empty list'],
    ['a.output.none.x', 'a.output.none is null'],
    ['a.output.count.x', 'a.output.count is a number, which has no fields'],
    [
      'a.output.text.x',
      'a.output.text is a text that contains no JSON list or object: it has only first, last and length',
    ],
    ['a.output.blank.first', 'a.output.blank is an empty text'],
    ['a.output.json.totl', 'a.output.json has no totl: it has total; did you mean total?'],
    ['bare.output.x', 'bare.output has no x: it has no keys'],
    ['none.output.x', 'task "none" has no output'],
    ['params.langage', 'params has no langage: it has language; did you mean language?'],
    ['session.notes', 'session has no notes: it has no keys'],
    ['pipeline.inputs.ticker', 'pipeline.inputs has no ticker: it has no keys'],
    ['item.name', 'only a task with parallel_over has an item'],
    ['params', 'a name is missing after "params"'],
  ];
  for (const [path, reason] of cases) {
    it(`explains why {{${path}}} has no value`, () => {
      const error = errorOf(path);
      expect(error.message).to.equal(`{{${path}}}: ${reason}`);
      expect(error).to.include({ name: 'TemplateError', path });
    });
  }

  it('names the output of a path without .output (D11)', () => {
    expect(errorOf('a.nam')).to.include({ path: 'a.output.nam' });
  });

  it('shortens long keys and escapes line breaks', () => {
    const keys = ['k'.repeat(1000), 'line\nbreak', '\u001b[31mred'];
    const { message } = errorOf(
      'b.output.x',
      createScope({ b: Object.fromEntries(keys.map((key) => [key, 1])) }),
    );
    expect(message).to.have.length.below(200);
    expect(message).not.to.include('\n').and.not.to.include('\u001b');
  });

  it('explains a missing key of an object with 100,000 keys', () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 0]));
    expect(errorOf('b.output.x', createScope({ b: wide })).message).to.equal(
      '{{b.output.x}}: b.output has no x: it has k0, k1, k2, k3, k4, k5, k6, k7, …',
    );
  });
});
