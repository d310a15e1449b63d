import { expect } from 'chai';
import type { Labels } from '../../../lib/common/wire/labels.js';
import { mergeLabels } from '../../../lib/execution/prepare/run-labels.js';

const many = (count: number, name = 'n'): Labels =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, '']));

describe('Labels (D76)', () => {
  it('are those of the definition and those of the submission, which win name by name', () => {
    expect(mergeLabels(undefined, undefined)).to.deep.equal({});
    expect(mergeLabels({ team: 'a', stage: 'test' }, undefined)).to.deep.equal({ team: 'a', stage: 'test' });
    expect(mergeLabels({ team: 'a', stage: 'test' }, { team: 'b', 'x.y-z_1': '' })).to.deep.equal({
      team: 'b',
      stage: 'test',
      'x.y-z_1': '',
    });
  });

  it('cannot be changed through what was submitted', () => {
    const given = { team: 'a' };
    const labels = mergeLabels(undefined, given);
    given.team = 'b';
    expect(labels).to.deep.equal({ team: 'a' }).and.to.be.frozen;
  });

  it('may have 128 characters each, in any language', () => {
    const value = '🚀'.repeat(128);
    expect(mergeLabels(undefined, { ['n'.repeat(64)]: value })).to.deep.equal({ ['n'.repeat(64)]: value });
  });

  for (const [what, labels, problem] of [
    ['a name that is no id', { 'my team': 'a' }, 'labels: "my team" cannot be a name'],
    ['a name with a colon', { 'a:b': 'a' }, '"a:b" cannot be a name'],
    ['a name of 65 characters', { ['n'.repeat(65)]: 'a' }, 'has up to 64 letters'],
    ['no name', { '': 'a' }, '"" cannot be a name'],
    ['a value of 129 characters', { team: 'x'.repeat(129) }, '"team" may have at most 128 characters'],
    ['a line break', { team: 'a\nb' }, '"team" must have no line breaks'],
    [
      'a control character',
      { team: 'a\u009b' },
      '"team" must have no line breaks and other control characters',
    ],
    ['a number', { team: 5 }, '"team" must be a text'],
    ['a list', ['a'], 'must be an object'],
    ['21 of them', many(21), 'may be at most 20'],
  ] as const) {
    it(`refuse ${what}`, () => {
      expect(() => mergeLabels({}, labels as unknown as Labels))
        .to.throw(problem)
        .with.property('code', 'invalid_options');
    });
  }

  it('are at most 20 with those of the definition', () => {
    expect(Object.keys(mergeLabels(many(10), many(20)))).to.have.length(20);
    expect(() => mergeLabels(many(10), many(11, 'm'))).to.throw(
      'labels: may be at most 20 with those of the definition; there are 21',
    );
  });
});
