import { expect } from 'chai';
import * as fc from 'fast-check';
import { formatKey, formatPath, type Segment } from '../../../lib/definition/template/expression.js';

import { parseExpression } from './expressions.js';

describe('formatPath', () => {
  const segments = fc.oneof(
    fc.record({ kind: fc.constant('index' as const), index: fc.integer() }),
    fc
      .record({
        kind: fc.constant('field' as const),
        name: fc.oneof(fc.string(), fc.constantFrom('0', 'a-b', '$x', 'é')),
      })
      .filter(({ name }) => !['__proto__', 'constructor', 'prototype'].includes(name)),
  );

  it('formats a path that parses to the same path', () => {
    fc.assert(
      fc.property(fc.array<Segment>(segments, { maxLength: 5 }), (path) => {
        const text = formatPath('a', path);
        fc.pre(!text.endsWith('…'));
        expect(parseExpression(text).path).to.deep.equal(path);
      }),
    );
  });

  it('prefers dots to brackets', () => {
    expect(formatPath('a', parseExpression('a["output"]["x y"].0').path)).to.equal('a.output["x y"][0]');
  });

  it('shortens long paths and keys', () => {
    expect(formatPath('a'.repeat(1000), [])).to.have.length(201);
    expect(formatKey('k'.repeat(1000))).to.have.length(41);
  });
});
