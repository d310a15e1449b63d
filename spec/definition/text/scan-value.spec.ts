import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { scanInSteps } from '../../../lib/definition/text/scan-value.js';

function formatScanProblems(value: unknown): string[] {
  return runToEnd(scanInSteps(value)).problems.map(({ code, path }) => `${code} at ${path}`);
}

describe('scanInSteps', () => {
  it('accepts any JSON that is not too deep', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        expect(formatScanProblems(value)).to.deep.equal([]);
      }),
    );
  });

  it('reports everything that JSON cannot hold', () => {
    const value = { a: () => 1, b: [1n, Number.NaN], c: new Map(), d: new URLSearchParams(), e: undefined };
    expect(formatScanProblems(value)).to.deep.equal([
      'invalid_value at /a',
      'invalid_value at /b/0',
      'invalid_value at /b/1',
      'invalid_value at /c',
      'invalid_value at /d',
    ]);
  });

  it('reports a value that is too deep or contains itself', () => {
    let deep: unknown = null;
    for (let level = 0; level < 50_000; level++) deep = [deep];
    expect(formatScanProblems(deep)).to.have.length(1);
    const self: Record<string, unknown> = {};
    self['self'] = self;
    expect(formatScanProblems(self)).to.deep.equal(['too_deep at /self']);
  });

  it('scans a part once, however many places use it', () => {
    let value: unknown = 'x';
    for (let level = 0; level < 90; level++) value = [value, value];
    expect(formatScanProblems(value)).to.deep.equal([]);
  });

  it('reports a value whose properties throw', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(formatScanProblems(proxy)).to.deep.equal(['invalid_value at ']);
    const throwing = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(formatScanProblems(throwing)).to.deep.equal(['invalid_value at ']);
  });
});
