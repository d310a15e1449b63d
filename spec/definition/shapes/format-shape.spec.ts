import { expect } from 'chai';
import { formatShape } from '../../../lib/definition/shapes/format-shape.js';
import type { ValueShape } from '../../../lib/definition/shapes/shape.js';

describe('formatShape', () => {
  it('writes fields, lists and alternatives, and not again those of a list of the first one', () => {
    const row: ValueShape = {
      type: 'object',
      properties: { id: { type: 'integer' }, name: { type: ['string', 'null'] } },
      required: ['id'],
      additionalProperties: false,
    };
    const shape: ValueShape = { anyOf: [row, { type: 'array', items: row }, { type: 'null' }] };
    expect(formatShape(shape)).to.equal('{id: integer, name?: text or null} or list of these or null');
    expect(formatShape(structuredClone(shape))).to.equal(formatShape(shape));
  });

  it('ends for alternatives within each other, of which there are more with each level', () => {
    let shape: ValueShape = { type: 'string' };
    for (let level = 0; level < 100; level++) shape = { anyOf: [shape, { type: 'null' }] };
    expect(formatShape(shape)).to.equal('any or null');
  });

  it('ends for shapes that share parts, of which the whole text would be endless', () => {
    let shape: ValueShape = { type: 'string' };
    for (let level = 0; level < 20; level++) {
      const part: ValueShape = shape;
      const properties: Record<string, ValueShape> = Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [`f${at}`, part]),
      );
      shape = { type: 'object', properties, additionalProperties: false };
    }
    const text = formatShape({ anyOf: [shape, { type: 'array', items: shape }] });
    expect(text.length).to.be.within(100, 1001);
  });

  it('writes at most so many types of one value', () => {
    const type = Array.from({ length: 100_000 }, (_, at) => `t${at}`);
    expect(formatShape({ type })).to.equal('any');
  });
});
