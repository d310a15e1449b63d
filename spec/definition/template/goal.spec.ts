import { expect } from 'chai';
import type { Json } from '../../../lib/common/json/json.js';
import { compileGoal } from '../../../lib/definition/template/goal.js';
import { createScope } from './expressions.js';

describe('compileGoal (D54)', () => {
  function render(text: string): Json {
    const scope = createScope({}, { params: { city: 'Ulm', n: 3 }, inputs: { topic: 'rain' } });
    return compileGoal(text).renderer.render(scope, undefined);
  }

  const cases: [string, Json][] = [
    ['plain', 'plain'],
    ['about {{params.city}} in {{ params.n }} steps', 'about Ulm in 3 steps'],
    ['{{params.n}}', 3],
    ['{{params.n}}\n', 3],
    ['use {{ a.output }} of {{params.city}}', 'use {{ a.output }} of Ulm'],
    ['{{a.output}}', '{{a.output}}'],
    ['{{pipeline.inputs.topic}} {{city}}', '{{pipeline.inputs.topic}} {{city}}'],
    ['{{ x | upper }} in {{params.city}}', '{{ x | upper }} in Ulm'],
    ['{{params.city}} and {{ left open', 'Ulm and {{ left open'],
    ['\\{{params.city}} {{a.b ?? "}}"}}', '{{params.city}} {{a.b ?? "}}"}}'],
  ];
  for (const [text, rendered] of cases) {
    it(`renders ${JSON.stringify(text)} as ${JSON.stringify(rendered)}`, () => {
      expect(render(text)).to.equal(rendered);
    });
  }

  it('lists all templates that are valid, and the problems of the others', () => {
    const { expressions, problems } = compileGoal('{{a.output}} {{params.city}} {{}} {{b');
    expect(expressions.map(({ expression }) => expression.source)).to.deep.equal(['a.output', 'params.city']);
    expect(problems.map(({ start }) => start)).to.deep.equal([29, 34]);
  });
});
