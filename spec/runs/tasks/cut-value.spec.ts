import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../../../lib/common/json.js';
import { cutValue } from '../../../lib/runs/tasks/cut-value.js';

function cutAt(value: Json, limit: number): { readonly shown: Json; readonly cut: string[] } {
  const cut: string[] = [];
  return { shown: cutValue(value, limit, '/v', cut), cut };
}

describe('cutValue', () => {
  it('returns a value that is short enough as it is', () => {
    const value = { a: [1, 'two', null], b: {} };
    const { shown, cut } = cutAt(value, 100);
    expect(shown).to.equal(value);
    expect(cut).to.deep.equal([]);
  });

  it('keeps the start of a long text, and says how long it was', () => {
    expect(cutAt({ note: 'x'.repeat(9000), n: 1 }, 200)).to.deep.equal({
      shown: { note: `${'x'.repeat(96)} … (9,000 characters)`, n: 1 },
      cut: ['/v/note'],
    });
  });

  it('keeps the first members of a long list or object, and counts the others', () => {
    const list = cutAt(
      Array.from({ length: 1000 }, (_, n) => n),
      100,
    );
    expect(list).to.deep.equal({ shown: [0, 1, 2, '… and 997 more'], cut: ['/v'] });
    const object = cutAt(Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`key${n}`, n])), 64);
    expect(object).to.deep.equal({ shown: { key0: 0, key1: 1, '…': '… and 97 more' }, cut: ['/v'] });
  });

  it('gives what short members leave to the long ones', () => {
    const { shown } = cutAt({ a: 1, b: 2, c: 'x'.repeat(5000) }, 1000);
    expect((shown as { c: string }).c.length).to.be.above(900);
  });

  it('escapes keys in the pointers', () => {
    expect(cutAt({ 'a/b~c': 'x'.repeat(900) }, 100).cut).to.deep.equal(['/v/a~1b~0c']);
  });

  it('replaces what is very deep inside a long value', () => {
    let value: Json = 'x'.repeat(1000);
    for (let depth = 0; depth < 400; depth++) value = [value];
    expect(JSON.stringify(cutAt(value, 500).shown)).to.contain('… (a list)');
  });

  it('shows about as much as the limit of any value, and points to what it has cut', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 64, max: 4000 }), (json, limit) => {
        const value = { of: [json, 'x'.repeat(5000), json] } as Json;
        const { shown, cut } = cutAt(value, limit);
        expect(JSON.stringify(shown).length).to.be.below(limit * 8 + 2000);
        for (const pointer of cut) expect(resolve({ v: value }, pointer)).not.to.equal(undefined);
        expect(cut.length > 0).to.equal(JSON.stringify(shown) !== JSON.stringify(value));
      }),
    );
  });
});

function resolve(value: Json, pointer: string): Json | undefined {
  let at: Json | undefined = value;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    at = (at as Record<string, Json> | undefined)?.[key];
  }
  return at;
}
