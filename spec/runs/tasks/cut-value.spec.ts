import { expect } from 'chai';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { cutValue, cutValueInSteps } from '../../../lib/runs/tasks/cut-value.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

/** Also with keys that are long. */
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 6 }),
  fc.dictionary(
    fc.string({ maxLength: 3 }).map((text) => text.repeat(500)),
    fc.jsonValue({ maxDepth: 3 }),
  ),
);

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

  it('leaves out members whose keys are too long, and counts them', () => {
    const long = 'k'.repeat(300);
    expect(cutAt({ a: 1, [long]: 2, b: 'x'.repeat(64) }, 300)).to.deep.equal({
      shown: { a: 1, b: 'x'.repeat(64), '…': '… and 1 more' },
      cut: ['/v'],
    });
    expect(cutAt({ ['k'.repeat(9000)]: { a: 1 } }, 2048)).to.deep.equal({
      shown: { '…': '… and 1 more' },
      cut: ['/v'],
    });
  });

  itTimed('cuts the same object with long keys, however often a list contains it, to the limit', () => {
    const object: JsonObject = {};
    for (let index = 0; index < 10; index++) object['k/~'.repeat(25_000) + index] = index;
    const list = Array.from({ length: 3000 }, () => object);
    let result = cutAt({ a: list }, 65_536);
    expect(JSON.stringify(result).length).to.be.below(8 * 65_536);
    expect(measureCpuMsSync(() => (result = cutAt({ a: list }, 65_536)))).to.be.below(400);
    expect(result.cut.length).to.be.above(1);
    expect(result.cut.at(-1)).to.equal('/v/a');
  });

  it('lists the keys of an object once, however often a list contains it', () => {
    let listings = 0;
    const keys = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key${n}`, n]));
    const object = new Proxy<JsonObject>(keys, {
      ownKeys: (target) => (listings++, Reflect.ownKeys(target)),
    });
    const { shown } = cutAt(
      Array.from({ length: 1000 }, () => object),
      10_000,
    );
    expect(shown).to.have.length.above(300);
    expect(listings).to.equal(1);
  });

  it('bounds the pointers, and points to the whole value in place of further ones', () => {
    const long = 'k/'.repeat(10_000);
    const { shown, cut } = cutAt({ [long]: Array.from({ length: 1000 }, () => 'x'.repeat(5000)) }, 65_536);
    expect(Object.keys(shown as JsonObject)).to.deep.equal([long]);
    expect(JSON.stringify(cut).length).to.be.below(8 * 65_536);
    expect(cut.at(-1)).to.equal('/v');
    expect(cut.filter((pointer) => pointer === '/v')).to.have.length(1);
  });

  it('cuts in steps', () => {
    const list = Array.from({ length: 2000 }, () => Array.from({ length: 200 }, () => 'x'));
    const steps = cutValueInSteps(list, 65_536, '/v', []);
    let count = 0;
    while (steps.next().done !== true) count++;
    expect(count).to.be.above(2);
  });

  it('returns any value as it is when there is no limit', () => {
    const value = [{ ['k'.repeat(9000)]: 'x'.repeat(100_000) }];
    expect(cutAt(value, Number.POSITIVE_INFINITY)).to.deep.equal({ shown: value, cut: [] });
  });

  it('replaces what is very deep inside a long value', () => {
    let value: Json = 'x'.repeat(1000);
    for (let depth = 0; depth < 400; depth++) value = [value];
    expect(JSON.stringify(cutAt(value, 500).shown)).to.contain('… (a list)');
  });

  it('shows about as much as the limit of any value, and points to what it has cut', () => {
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 64, max: 4000 }), (json, limit) => {
        const value = { of: [json, 'x'.repeat(5000), json] } as Json;
        const { shown, cut } = cutAt(value, limit);
        expect(JSON.stringify(cut).length).to.be.below(limit * 8 + 9000);
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
