import { expect } from 'chai';
import type { Json } from '../../../lib/common/json/json.js';
import { SessionOverrides, type Write } from '../../../lib/execution/session/session-overrides.js';

const write = (key: string, value: Json, append = false): Write => ({ key, value, append, sizeBytes: 0 });

function readAll(overrides: SessionOverrides): [string, Json | undefined][] {
  return overrides.keys().map((key) => [key, overrides.get(key)]);
}

describe('SessionOverrides (Blackboard, rule 5; D23)', () => {
  it('contains the submitted values until they are written to', () => {
    const submitted = { a: 1, b: [2] };
    const values = new SessionOverrides(submitted);
    values.applyWrites([write('other', 3)]);
    expect(values.get('b')).to.equal(submitted.b);
    expect(values.get('a')).to.equal(1);
    expect(values.get('constructor')).to.equal(undefined);
  });

  it('removes an override on a plain write, and extends it on an append', () => {
    const submitted = { a: 1, b: [2], c: 3, d: 4 };
    const values = new SessionOverrides(submitted);
    values.applyWrites([
      write('a', 9),
      write('b', 5, true),
      write('b', 6, true),
      write('c', 7, true),
      write('c', 8),
    ]);
    const after = { a: undefined, b: [2, 5, 6], c: undefined };
    expect(readAll(values)).to.deep.equal(Object.entries({ ...after, d: 4 }));
    values.applyWrites([write('a', 1, true), write('d', [], true)]);
    expect(readAll(values)).to.deep.equal(Object.entries({ ...after, d: [4, []] }));
    expect(submitted).to.deep.equal({ a: 1, b: [2], c: 3, d: 4 });
  });

  it('accepts any key', () => {
    const submitted = JSON.parse('{"__proto__": 1, "x": 2}') as Record<string, Json>;
    const values = new SessionOverrides(submitted);
    values.applyWrites([write('x', 3, true)]);
    expect(readAll(values)).to.deep.equal([
      ['__proto__', 1],
      ['x', [2, 3]],
    ]);
  });

  it('gives a fork the values of its time, whatever is written to either later', () => {
    const values = new SessionOverrides({ a: 1, b: 2 });
    const first = values.fork();
    values.applyWrites([write('a', 9)]);
    const second = values.fork();
    values.applyWrites([write('b', 3, true)]);
    first.applyWrites([write('a', 4, true)]);
    expect(readAll(first)).to.deep.equal([
      ['a', [1, 4]],
      ['b', 2],
    ]);
    expect(readAll(second)).to.deep.equal([
      ['a', undefined],
      ['b', 2],
    ]);
    expect(readAll(values)).to.deep.equal([
      ['a', undefined],
      ['b', [2, 3]],
    ]);
  });
});
