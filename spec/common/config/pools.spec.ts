import { expect } from 'chai';
import { readPools } from '../../../lib/common/config/pool-config.js';

const read = (value: string | undefined) => readPools({ SERVICE_POOLS: value });

describe('SERVICE_POOLS (D81)', () => {
  it('sets the numbers of places by name', () => {
    expect([...(read('erp=3, gpu=1,') ?? [])]).to.deep.equal([
      ['erp', 3],
      ['gpu', 1],
    ]);
    expect([...(read('__proto__=10000') ?? [])]).to.deep.equal([['__proto__', 10_000]]);
  });

  it('sets none when it is missing or empty', () => {
    for (const value of [undefined, '', ' , ']) expect(read(value)).to.equal(undefined);
  });

  for (const [value, problem] of [
    ['erp', /SERVICE_POOLS contains "erp": write NAME=PLACES, as in SERVICE_POOLS=erp=3,gpu=1/],
    ['erp:3', /contains "erp:3"/],
    ['a b=3', /contains "a b=3"/],
    ['erp=-1', /contains "erp=-1"/],
    ['erp=0', /gives "erp" 0 places: write 1 to 10000/],
    ['erp=10001', /gives "erp" 10001 places/],
    ['erp=1,erp=2', /names the pool "erp" twice/],
    [Array.from({ length: 101 }, (_, at) => `p${at}=1`).join(','), /has 101 pools; at most 100 are possible/],
  ] as const) {
    it(`refuses ${value.slice(0, 20)}`, () => {
      expect(() => read(value)).to.throw(problem);
    });
  }
});
