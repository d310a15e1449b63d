import { expect } from 'chai';
import type { Json } from '../../../lib/common/json.js';
import { SessionOverrides, type Write } from '../../../lib/execution/session/session-overrides.js';

const write = (key: string, value: Json, append = false): Write => ({ key, value, append, sizeBytes: 0 });

describe('SessionOverrides (Blackboard, rule 5; D23)', () => {
  it('returns the submitted object until it is written to', () => {
    const submitted = { a: 1, b: [2] };
    const values = new SessionOverrides(submitted);
    values.applyWrites([write('other', 3)]);
    expect(values.current()).to.equal(submitted);
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
    expect(values.current()).to.deep.equal({ b: [2, 5, 6], d: 4 });
    expect(values.keys()).to.deep.equal(['a', 'b', 'c', 'd']);
    values.applyWrites([write('a', 1, true), write('d', [], true)]);
    expect(values.current()).to.deep.equal({ b: [2, 5, 6], d: [4, []] });
    expect(submitted).to.deep.equal({ a: 1, b: [2], c: 3, d: 4 });
  });

  it('accepts any key', () => {
    const submitted = JSON.parse('{"__proto__": 1, "x": 2}') as Record<string, Json>;
    const values = new SessionOverrides(submitted);
    values.applyWrites([write('x', 3, true)]);
    expect(Object.entries(values.current())).to.deep.equal([
      ['__proto__', 1],
      ['x', [2, 3]],
    ]);
  });
});
