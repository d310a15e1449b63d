import { expect } from 'chai';
import { compileTemplate, pathOfText } from '../../../lib/definition/template/template.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { createScope } from './expressions.js';

describe('compileTemplate', () => {
  it('lists the texts with templates, each with its path and its expressions, in order', () => {
    const { texts } = compileTemplate({
      a: '{{x.output}}',
      list: ['plain', { deep: 'text {{y.output}} and {{params.z}}' }],
      '{{key.output}}': 1,
    });
    const sources = texts.map((text) => [
      pathOfText(text),
      text.expressions.map(({ expression }) => expression.source),
    ]);
    expect(sources).to.deep.equal([
      [['a'], ['x.output']],
      [
        ['list', 1, 'deep'],
        ['y.output', 'params.z'],
      ],
    ]);
  });

  it('keeps equal expressions once, whatever blanks stand in their braces', () => {
    const { template } = compileTemplate({
      a: '{{x.output}} {{ x.output }}',
      b: ['{{x.output}}', '{{y.output}}'],
    });
    expect(template.operands.map(({ expression }) => expression.source)).to.deep.equal([
      'x.output',
      'y.output',
    ]);
    expect(template.render(createScope({ x: 1, y: 2 }))).to.deep.equal({ a: '1 1', b: [1, 2] });
  });

  it('reports the problems of all strings with their paths', () => {
    const { problems } = compileTemplate({ a: '{{x.}} {{}}', b: [0, '{{y | z}}'], c: '{{ok.output}}' });
    expect(problems.map(({ path, offset }) => [path, offset])).to.deep.equal([
      [['a'], 3],
      [['a'], 9],
      [['b', 1], 4],
    ]);
    expect(problems.every(({ message }) => message !== '')).to.equal(true);
  });

  it('compiles the valid parts, and throws only when rendering an invalid string', () => {
    const { template } = compileTemplate({ good: '{{x.output}}', bad: '{{x.}}' });
    expect(template.operands).to.have.length(1);
    expect(() => template.render(createScope({ x: 1 }))).to.throw(/a name is missing/);
  });

  it('copies the value, so that later changes have no effect', () => {
    const value = { list: [1, { a: 'x' }], t: '{{x.output}}' };
    const { template } = compileTemplate(value);
    value.list.push(2);
    value.t = 'changed';
    expect(template.render(createScope({ x: 'y' }))).to.deep.equal({ list: [1, { a: 'x' }], t: 'y' });
    expect(Object.isFrozen(value)).to.equal(false);
  });

  it('compiles a value that an alias uses in several places', () => {
    const shared = { t: '{{x.output}}', l: [1] };
    const { template, texts, problems } = compileTemplate([shared, { again: shared }, shared.l, shared.l]);
    expect(problems).to.deep.equal([]);
    expect(texts.map(pathOfText)).to.deep.equal([
      [0, 't'],
      [1, 'again', 't'],
    ]);
    expect(template.render(createScope({ x: 1 }))).to.deep.equal([
      { t: 1, l: [1] },
      { again: { t: 1, l: [1] } },
      [1],
      [1],
    ]);
  });

  it('reports a value that contains itself', () => {
    const cyclic: JsonObject = { plain: 1 };
    cyclic['self'] = [cyclic, cyclic];
    const { problems } = compileTemplate(cyclic);
    expect(problems.map(({ message, path }) => [message, path])).to.deep.equal([
      ['the value contains itself', ['self', 0]],
      ['the value contains itself', ['self', 1]],
    ]);
  });

  it('reports a value that is nested too deep', () => {
    let deep: Json = 'end';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(compileTemplate(deep).problems.map(({ message }) => message)).to.deep.equal([
      'the value is nested deeper than 500 levels',
    ]);
  });
});
