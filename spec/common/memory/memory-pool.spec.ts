import { expect } from 'chai';
import { WavetrainError } from '../../../lib/common/errors.js';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';

const MIB = 2 ** 20;

describe('MemoryPool', () => {
  it('reserves memory for a part of a request, and says who uses how much when none is left (D25)', () => {
    const pool = new MemoryPool({ total: 16 * MIB, guaranteed: 2 * MIB });
    pool.reserve('acme', 12 * MIB, 'body');
    pool.reserve('beta', 3 * MIB, 'body');
    expect(() => pool.reserve('beta', 2 * MIB, 'response'))
      .to.throw(WavetrainError)
      .that.deep.includes({
        code: 'memory_full',
        fault: 'service',
        message:
          'no memory is left for the response, which takes 2 MiB: tenant "beta" uses 3 MiB, all tenants 15 MiB of the ' +
          '16 MiB of SERVICE_MEMORY; try again when some requests and runs have ended',
      });
    expect(pool.usedBytes).to.equal(15 * MIB);
  });

  it('reclaims memory before it refuses a reservation', () => {
    const pool = new MemoryPool({ total: 4 * MIB });
    pool.reserve('acme', 4 * MIB, 'body');
    pool.onPressure((tenantId) => {
      if (pool.usedBytes === 0) return false;
      expect(tenantId).to.equal('beta');
      pool.release('acme', MIB);
      return true;
    });
    pool.reserve('beta', 2 * MIB, 'body');
    expect([pool.usedBy('acme'), pool.usedBy('beta')]).to.deep.equal([2 * MIB, 2 * MIB]);
  });
});
