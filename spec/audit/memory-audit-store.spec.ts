import { expect } from 'chai';
import { MemoryAuditStore } from '../../lib/audit/memory-audit-store.js';
import { describeAuditStore } from './audit-store-suite.js';

describe('MemoryAuditStore (D95)', () => {
  describeAuditStore(async (limits) => ({ store: new MemoryAuditStore(limits), close: async () => {} }));

  it('has no entry before the first', () => {
    expect(new MemoryAuditStore({ keep: 1, ttlMs: 1 }).lastNumber).to.equal(0);
  });
});
