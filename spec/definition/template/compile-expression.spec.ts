import { expect } from 'chai';
import { ExpressionOperand, TemplateError } from '../../../lib/definition/template/expressions/operand.js';
import type { Json } from '../../../lib/common/json/json.js';
import { parseExpression, createScope } from './expressions.js';

describe('an expression', () => {
  const scope = createScope(
    {
      a: { n: 1, none: null, output: 'inner', text: 'words' },
      list: [1, 2],
      answer: '{"k": null}',
      falsy: [0, '', false],
    },
    {
      inputs: { ticker: 'X', '2024': 'year' },
      params: { lang: 'de', length: 3 },
      session: Object.assign(Object.create(null), { notes: ['n'] }),
      goal: 'to know',
    },
  );

  function valueOf(source: string, item?: Json): Json {
    return new ExpressionOperand(parseExpression(source)).render(scope, item);
  }

  describe('reads every namespace (rule 8)', () => {
    const cases: [string, Json][] = [
      ['a.output.n', 1],
      ['list.output', [1, 2]],
      ['list.output.length', 2],
      ['pipeline.inputs.ticker', 'X'],
      ['pipeline.inputs.2024', 'year'],
      ['pipeline.goal', 'to know'],
      ['pipeline.goal.length', 7],
      ['params.lang', 'de'],
      ['params.length', 3],
      ['session.notes', ['n']],
      ['session["notes"][0]', 'n'],
      ['item', { f: 1 }],
      ['item.f', 1],
    ];
    for (const [source, expected] of cases) {
      it(`{{${source}}}`, () => {
        expect(valueOf(source, { f: 1 })).to.deep.equal(expected);
      });
    }
  });

  it('adds a missing .output (D11)', () => {
    expect([valueOf('a.n'), valueOf('list[-1]'), valueOf('list.first')]).to.deep.equal([1, 2, 1]);
    expect(valueOf('list')).to.deep.equal([1, 2]);
  });

  it('reads .output as the output, even when the output has a key of that name', () => {
    expect(valueOf('a.output')).to.include({ n: 1 });
    expect(valueOf('a.output.output')).to.equal('inner');
  });

  it('returns an item that is null or false', () => {
    expect([valueOf('item', null), valueOf('item', false), valueOf('item', 0)]).to.deep.equal([
      null,
      false,
      0,
    ]);
  });

  describe('uses the literal after ?? when the value is missing or null, at any depth (D11)', () => {
    const cases: [string, Json][] = [
      ['a.output.n ?? 9', 1],
      ['a.output.none ?? 9', 9],
      ['a.output.none.x.y ?? 9', 9],
      ['a.output.missing.x[0] ?? 9', 9],
      ['a.output.n.x ?? 9', 9],
      ['a.output.text.x ?? 9', 9],
      ['list.output[7] ?? 9', 9],
      ['answer.output.k ?? 9', 9],
      ['none.output ?? {"k":{"z":1}}', { k: { z: 1 } }],
      ['params.x ?? "y"', 'y'],
      ['session.x ?? []', []],
      ['pipeline.inputs.x ?? null', null],
      ['falsy.output[0] ?? 9', 0],
      ['falsy.output[1] ?? 9', ''],
      ['falsy.output[2] ?? 9', false],
      ['item ?? 9', 9],
    ];
    for (const [source, expected] of cases) {
      it(`{{${source}}}`, () => {
        expect(valueOf(source)).to.deep.equal(expected);
      });
    }
  });

  it('returns null for a null value without a literal', () => {
    expect(valueOf('a.output.none')).to.equal(null);
  });

  it('reads only own properties, in every namespace (D13)', () => {
    for (const source of [
      'a.output.toString',
      'params.toString',
      'session.hasOwnProperty',
      'pipeline.inputs.valueOf',
    ]) {
      expect(() => valueOf(source), source).to.throw(TemplateError, /has no/);
    }
  });
});
