import { expect } from 'chai';
import type { AuditLimits, AuditPart, AuditRow, AuditStore } from '../../lib/audit/audit-store.js';

/** A store, and what a spec needs of it besides. */
export interface OpenedAudit {
  readonly store: AuditStore;
  close(): Promise<void>;
}

/** The contract of the stores of an audit. @param open a store without entries */
export function describeAuditStore(open: (limits: AuditLimits) => Promise<OpenedAudit>): void {
  let opened: OpenedAudit;
  let last = 0;

  beforeEach(() => {
    last = 0;
  });

  afterEach(async () => opened.close());

  const start = async (keep: number): Promise<void> => {
    opened = await open({ keep, ttlMs: 1_000_000 });
  };

  const add = (tenantId: string, count: number, part: AuditPart = 'changes'): void => {
    for (let index = 0; index < count; index++) opened.store.add(toRow(++last, tenantId, part));
  };

  const read = async (limit = 500, before = Number.POSITIVE_INFINITY, tenantId?: string) => {
    await opened.store.kept();
    return opened.store.page({ tenantId }, { first: 0, before, limit }, 'default');
  };

  const countOf = async (tenantId: string): Promise<number> =>
    (await read(500, undefined, tenantId)).entries.length;

  it('lists entries newest first, and goes on below a number', async () => {
    await start(100);
    add('default', 5);
    const { entries, searchedTo } = await read(2);
    expect(entries.map(({ id }) => id)).to.deep.equal(['5', '4']);
    const rest = await read(500, searchedTo);
    expect(rest.entries.map(({ id }) => id)).to.deep.equal(['3', '2', '1']);
    expect(rest.searchedTo).to.equal(undefined);
  });

  it('filters by every field', async () => {
    await start(100);
    add('acme', 1);
    const find = async (query: Parameters<AuditStore['page']>[0]) => {
      await opened.store.kept();
      return (await opened.store.page(query, { first: 0, before: 9, limit: 9 }, '')).entries.length;
    };
    expect(await find({ who: { kind: 'key', name: 'ci' }, action: 'cancel', result: 'ok' })).to.equal(1);
    expect(await find({ object: { kind: 'run', id: undefined }, tenantId: 'acme' })).to.equal(1);
    expect(await find({ who: { kind: 'key', name: 'other' } })).to.equal(0);
    expect(await find({ action: 'delete' })).to.equal(0);
    expect(await find({ result: 'refused' })).to.equal(0);
    expect(await find({ object: { kind: 'run', id: 'other' } })).to.equal(0);
    expect(await find({ tenantId: 'other' })).to.equal(0);
  });

  it('keeps as many entries as it may, the newest', async () => {
    await start(100);
    add('default', 150);
    const { entries } = await read();
    expect(entries).to.have.length(100);
    expect(entries.at(-1)?.id).to.equal('51');
  });

  it('takes room from the tenant that has most: a flood takes none from others', async () => {
    await start(100);
    add('acme', 20);
    add('flood', 500);
    expect(await countOf('acme')).to.equal(20);
    expect(await countOf('flood')).to.equal(80);
  });

  it('gives a tenant room that another one has used up', async () => {
    await start(100);
    add('flood', 100);
    add('acme', 50);
    expect(await countOf('acme')).to.equal(50);
    expect(await countOf('flood')).to.equal(50);
  });

  it('keeps the changes of a tenant whose runs, or refused attempts, are very many', async () => {
    await start(100);
    add('acme', 10, 'changes');
    add('acme', 300, 'starts');
    add('acme', 300, 'refusals');
    const { entries } = await read();
    expect(entries).to.have.length(100);
    expect(entries.filter(({ id }) => Number(id) <= 10)).to.have.length(10);
  });
}

function toRow(number: number, tenantId: string, part: AuditPart): AuditRow {
  return {
    number,
    tenantId,
    part,
    entry: {
      id: String(number),
      time: '2026-01-01T00:00:00.000Z',
      who: { kind: 'key', name: 'ci' },
      action: 'cancel',
      object: { kind: 'run', id: 'a' },
      tenant_id: tenantId,
      address: null,
      result: 'ok',
      status: null,
      code: null,
      details: {},
      count: 1,
    },
  };
}
