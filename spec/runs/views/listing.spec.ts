import { expect } from 'chai';
import fc from 'fast-check';
import { collectRuns, mergePages } from '../../../lib/runs/views/run-listing.js';
import { type RunQuery } from '../../../lib/runs/views/run-query.js';
import type { LiveRunEntry } from '../../../lib/runs/run-entry.js';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { ControlledRuns, idsOf } from '../controlled-runs.js';
import { cases } from '../../support/measuring/cases.js';

async function someRuns() {
  const fixture = new ControlledRuns({ admission: { maxRunning: 3, maxQueued: 100 } });
  const ids = await fixture.submitAll(['a', 'b', 'a', 'c', 'b']);
  await fixture.complete(ids[0] ?? '');
  await fixture.registry.cancel(ids[4] ?? '');
  return {
    fixture,
    ids,
    list: (query: Partial<RunQuery>) => fixture.registry.list({ limit: 100, ...query }),
  };
}

describe('RunRegistry.list (D35)', () => {
  it('lists the newest run first, as records without the fields that may be large', async () => {
    const { fixture, ids, list } = await someRuns();
    const page = list({});
    expect(idsOf(page)).to.deep.equal(ids.toReversed());
    expect(page.next_cursor).to.equal(null);
    const record = fixture.registry.record(ids[0] ?? '');
    const { result: _, failures: _1, events: _2, sub_pipelines: _3, artifacts: _4, ...counted } = record;
    const { artifact_count: ______, usage: _______, ...summary } = counted;
    expect(page.runs.at(-1)).to.deep.equal(summary);
  });

  it('filters by status, tenants, pipeline, and by all of these together', async () => {
    const { ids, list } = await someRuns();
    const [a0, b1, a2, c3, b4] = ids;
    expect(idsOf(list({ status: 'succeeded' }))).to.deep.equal([a0]);
    expect(idsOf(list({ status: 'running' }))).to.deep.equal([c3, a2, b1]);
    expect(idsOf(list({ status: 'failed' }))).to.deep.equal([]);
    expect(idsOf(list({ tenants: ['a', 'c'] }))).to.deep.equal([c3, a2, a0]);
    expect(idsOf(list({ tenants: [] }))).to.deep.equal([]);
    expect(idsOf(list({ pipeline_id: 'held' }))).to.deep.equal(ids.toReversed());
    expect(idsOf(list({ pipeline_id: 'other' }))).to.deep.equal([]);
    expect(idsOf(list({ tenants: ['b'], status: 'cancelled', pipeline_id: 'held' }))).to.deep.equal([b4]);
  });

  it('returns no next_cursor on the last page', async () => {
    const { ids, list } = await someRuns();
    const first = list({ limit: 3, tenants: ['a', 'b'] });
    expect(idsOf(first)).to.deep.equal([ids[4], ids[2], ids[1]]);
    const second = list({ limit: 1, tenants: ['a', 'b'], cursor: first.next_cursor ?? '' });
    expect([idsOf(second), second.next_cursor]).to.deep.equal([[ids[0]], null]);
    expect(list({ limit: 5 }).next_cursor).to.equal(null);
  });

  it('ends a page at about 1 MiB, and continues with the next run', async () => {
    const goal = 'x'.repeat(10_000);
    const fixture = new ControlledRuns({}, `{id: held, goal: ${goal}, tasks: [{id: a, tool: controlled}]}`);
    const ids = await fixture.submitAll(Array<string>(250).fill('a'));
    const seen: string[] = [];
    for (let cursor: string | undefined, pages = 1; ; pages++) {
      const page = fixture.registry.list({ limit: 500, cursor });
      expect(Buffer.byteLength(JSON.stringify(page))).to.be.below(1.1 * 2 ** 20);
      seen.push(...idsOf(page));
      if (page.next_cursor === null) {
        expect(pages).to.equal(3);
        break;
      }
      cursor = page.next_cursor;
    }
    expect(seen).to.deep.equal(ids.toReversed());
  });

  it('looks at no more runs than the page needs', () => {
    let looks = 0;
    function* newestFirst(): Generator<LiveRunEntry> {
      for (let sequence = 10_000; sequence > 0; sequence--) {
        looks++;
        const run = { id: `run-${sequence}`, createdAt: 0, begunAt: null, finishedAt: null };
        yield { run, sequence } as unknown as LiveRunEntry;
      }
    }
    const found = runToEnd(collectRuns(newestFirst(), { limit: 2 }));
    expect(idsOf(mergePages(found, { runs: [] }, 2))).to.deep.equal(['run-10000', 'run-9999']);
    expect(looks).to.equal(3);
  });

  it('rejects malformed cursors with invalid_request', async () => {
    const { list } = await someRuns();
    for (const cursor of ['', 'r', 'x1', 'r-1', 'rA', 'r1 ', 'r12345678901', '__proto__', '7']) {
      expect(() => list({ cursor }))
        .to.throw('cursor must be')
        .with.property('code', 'invalid_request');
    }
    expect(idsOf(list({ cursor: 'r0' }))).to.deep.equal([]);
  });

  it('lists every run exactly once over all pages although runs are added and forgotten between them', async () => {
    const shape = fc.record({
      tenants: fc.array(fc.constantFrom('a', 'b'), { maxLength: 25 }),
      between: fc.array(fc.record({ adds: fc.nat(3), forgets: fc.array(fc.nat(1000), { maxLength: 3 }) }), {
        maxLength: 30,
      }),
      limit: fc.integer({ min: 1, max: 6 }),
      only: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ tenants, between, limit, only }) => {
        const fixture = new ControlledRuns();
        const { registry, pipeline } = fixture;
        const submit = (tenant: string) => registry.submit({ pipeline, tenant_id: tenant });
        const old = await Promise.all(tenants.map(async (tenant) => ({ id: await submit(tenant), tenant })));
        const matching = old
          .filter(({ tenant }) => only === undefined || tenant === only)
          .map(({ id }) => id);
        const present = new Set(matching);
        const query = { limit, ...(only === undefined ? {} : { tenants: [only] }) };
        const seen: string[] = [];
        let cursor: string | undefined;
        for (let pages = 0; ; pages++) {
          const page = registry.list({ ...query, cursor });
          expect(page.runs.length).to.be.at.most(limit);
          seen.push(...idsOf(page));
          if (page.next_cursor === null) break;
          expect(page.runs.length).to.equal(limit);
          cursor = page.next_cursor;
          for (const at of between[pages]?.forgets ?? []) {
            const { id } = old[at % old.length] ?? { id: '' };
            registry.forget(id);
            present.delete(id);
          }
          for (let more = 0; more < (between[pages]?.adds ?? 0); more++) await submit('a');
        }
        expect(new Set(seen).size).to.equal(seen.length);
        expect(seen).to.deep.equal(matching.toReversed().filter((id) => seen.includes(id)));
        expect([...present].filter((id) => !seen.includes(id))).to.deep.equal([]);
      }),
      cases(60),
    );
  });
});
