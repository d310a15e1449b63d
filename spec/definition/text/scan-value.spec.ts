import { expect } from 'chai';
import fc from 'fast-check';
import { scanValue } from '../../../lib/definition/text/scan.js';

function told(value: unknown): string[] {
  return scanValue(value).map(({ code, path }) => `${code} at ${path}`);
}

describe('a value that is to be a definition', () => {
  it('is any JSON that is not too deep', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        expect(told(value)).to.deep.equal([]);
      }),
    );
  });

  it('holds only what JSON can hold, and is told of all that is not', () => {
    const value = { a: () => 1, b: [1n, Number.NaN], c: new Map(), d: new URLSearchParams(), e: undefined };
    expect(told(value)).to.deep.equal([
      'invalid_value at /a',
      'invalid_value at /b/0',
      'invalid_value at /b/1',
      'invalid_value at /c',
      'invalid_value at /d',
    ]);
  });

  it('ends: neither deep nor holding itself', () => {
    let deep: unknown = null;
    for (let level = 0; level < 50_000; level++) deep = [deep];
    expect(told(deep)).to.have.length(1);
    const self: Record<string, unknown> = {};
    self['self'] = self;
    expect(told(self)).to.deep.equal(['too_deep at /self']);
  });

  it('may hold one part in many places, and is looked at once', () => {
    let value: unknown = 'x';
    for (let level = 0; level < 90; level++) value = [value, value];
    expect(told(value)).to.deep.equal([]);
  });

  it('may be unreadable, which is told', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(told(proxy)).to.deep.equal(['invalid_value at ']);
    const throwing = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(told(throwing)).to.deep.equal(['invalid_value at ']);
  });
});
