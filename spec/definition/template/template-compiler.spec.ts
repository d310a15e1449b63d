import { expect } from 'chai';
import { compileTemplate } from '../../../lib/definition/template/template.js';
import type { Json, JsonObject } from '../../../lib/common/json.js';
import { scopeOf } from './expression-of.js';

describe('compileTemplate', () => {
  it('lists every expression with its place, in order', () => {
    const { template } = compileTemplate({
      a: '{{x.output}}',
      list: ['plain', { deep: 'text {{y.output}} and {{params.z}}' }],
      '{{key.output}}': 1,
    });
    expect(template.expressions.map(({ expression, path }) => [expression.source, path])).to.deep.equal([
      ['x.output', ['a']],
      ['y.output', ['list', 1, 'deep']],
      ['params.z', ['list', 1, 'deep']],
    ]);
  });

  it('reports the problems of all strings, each with its place', () => {
    const { problems } = compileTemplate({ a: '{{x.}} {{}}', b: [0, '{{y | z}}'], c: '{{ok.output}}' });
    expect(problems.map(({ path, offset }) => [path, offset])).to.deep.equal([
      [['a'], 3],
      [['a'], 9],
      [['b', 1], 4],
    ]);
    expect(problems.every(({ message }) => message !== '')).to.equal(true);
  });

  it('still compiles the rest, and fails only where a problem stands', () => {
    const { template } = compileTemplate({ good: '{{x.output}}', bad: '{{x.}}' });
    expect(template.expressions).to.have.length(1);
    expect(() => template.render(scopeOf({ x: 1 }))).to.throw(/a name is missing/);
  });

  it('copies the value: changing it later changes nothing', () => {
    const value = { list: [1, { a: 'x' }], t: '{{x.output}}' };
    const { template } = compileTemplate(value);
    value.list.push(2);
    value.t = 'changed';
    expect(template.render(scopeOf({ x: 'y' }))).to.deep.equal({ list: [1, { a: 'x' }], t: 'y' });
    expect(Object.isFrozen(value)).to.equal(false);
  });

  it('compiles a value that stands in several places, as an alias gives it', () => {
    const shared = { t: '{{x.output}}', l: [1] };
    const { template, problems } = compileTemplate([shared, { again: shared }, shared.l, shared.l]);
    expect(problems).to.deep.equal([]);
    expect(template.expressions.map(({ path }) => path)).to.deep.equal([
      [0, 't'],
      [1, 'again', 't'],
    ]);
    expect(template.render(scopeOf({ x: 1 }))).to.deep.equal([
      { t: 1, l: [1] },
      { again: { t: 1, l: [1] } },
      [1],
      [1],
    ]);
  });

  it('reports a value that holds itself', () => {
    const cyclic: JsonObject = { plain: 1 };
    cyclic['self'] = [cyclic, cyclic];
    const { problems } = compileTemplate(cyclic);
    expect(problems.map(({ message, path }) => [message, path])).to.deep.equal([
      ['the value holds itself', ['self', 0]],
      ['the value holds itself', ['self', 1]],
    ]);
  });

  it('reports a value that nests too deeply', () => {
    let deep: Json = 'end';
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(compileTemplate(deep).problems.map(({ message }) => message)).to.deep.equal([
      'the value nests deeper than 500 levels',
    ]);
  });
});
