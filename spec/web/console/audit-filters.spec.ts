import { expect } from 'chai';
import {
  auditListPath,
  readAuditFilters,
  writeAuditFilters,
} from '../../../web/console/audit/audit-filters.js';

describe('The filters of the audit', () => {
  const filters = {
    who: 'key:ci',
    action: 'delete',
    object: 'run:a',
    result: 'refused',
    tenant: 'acme',
    period: 'hour',
  } as const;

  it('are in the address of the page, and lead back from there', () => {
    expect(readAuditFilters(new URL(writeAuditFilters(filters), 'http://x').search)).to.deep.equal(filters);
    expect(writeAuditFilters(readAuditFilters('?period=nonsense'))).to.equal('/audit');
  });

  it('select what the server lists, of a time that begins at a whole minute', () => {
    const now = Date.parse('2026-01-31T08:30:59Z');
    const { searchParams } = new URL(auditListPath(filters, now, '7'), 'http://x');
    expect(Object.fromEntries(searchParams)).to.deep.equal({
      limit: '100',
      cursor: '7',
      who: 'key:ci',
      action: 'delete',
      object: 'run:a',
      result: 'refused',
      tenant_id: 'acme',
      from: '2026-01-31T07:30:00.000Z',
    });
  });
});
