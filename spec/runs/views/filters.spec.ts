import { expect } from 'chai';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import type { LiveRunEntry } from '../../../lib/runs/run-entry.js';
import { collectRuns, mergePages } from '../../../lib/runs/views/run-listing.js';
import { type RunQuery } from '../../../lib/runs/views/run-query.js';
import { endSlice } from '../../support/slices.js';
import { ControlledRuns, idsOf } from '../controlled-runs.js';

const GOAL = `count the Größe of C:\\dir (a+b)* ${'x'.repeat(2000)} beyond`;
const PIPELINE = JSON.stringify({
  id: 'Weekly-Report',
  goal: GOAL,
  tasks: [{ id: 'a', tool: 'controlled' }],
});

const NONE = { queued: 0, running: 0, paused: 0, succeeded: 0, failed: 0, cancelled: 0 };

describe('Filters of the list of runs (D35)', () => {
  it('finds a text at the beginning or end of the id of a run, in the id of its pipeline, its goal and its error, in any case', async () => {
    const fixture = new ControlledRuns({}, PIPELINE);
    const [held = '', failed = ''] = await fixture.submitAll(['a', 'a']);
    fixture.findCall(failed).reject(new Error(`No [Luck] ${'y'.repeat(2000)} at the end`));
    await fixture.registry.settled(failed);
    const found = (text: string) => idsOf(fixture.registry.list({ limit: 9, text }));
    expect(found(held.slice(0, 30).toUpperCase())).to.deep.equal([held]);
    expect(found(held.slice(0, 6))).to.deep.equal([failed, held]);
    expect(found(held.slice(-12))).to.deep.equal([held]);
    for (const part of [held.slice(3, 20), held.slice(0, 5)]) expect(found(part), part).to.deep.equal([]);
    for (const text of ['weekly-REPORT', 'GRÖSSE OF c:\\DIR (A+B)*'.replace('SS', 'ß'), '']) {
      expect(found(text), text).to.deep.equal([failed, held]);
    }
    expect(found('no [luck]')).to.deep.equal([failed]);
    for (const text of ['beyond', 'at the end', '.*', 'weekly_report', '\ud800']) {
      expect(found(text), text).to.deep.equal([]);
    }
  });

  it('selects the runs that were submitted at one time or later, and before another', async () => {
    const fixture = new ControlledRuns();
    const ids: string[] = [];
    for (let run = 0; run < 4; run++) {
      ids.push(await fixture.submit());
      fixture.clock.advance(1000);
    }
    const times = ids.map((id) => Date.parse(fixture.registry.record(id).created_at));
    const found = (query: Partial<RunQuery>) => idsOf(fixture.registry.list({ limit: 9, ...query }));
    expect(found({ createdAfterMs: times[2] })).to.deep.equal([ids[3], ids[2]]);
    expect(found({ createdBeforeMs: times[2] })).to.deep.equal([ids[1], ids[0]]);
    expect(found({ createdAfterMs: times[1], createdBeforeMs: times[3] })).to.deep.equal([ids[2], ids[1]]);
  });

  it('counts by status what matches all filters but the status, on all pages together', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 9 } });
    const [a = '', b = ''] = await fixture.submitAll(['a', 'b', 'a', 'a', 'b']);
    await fixture.complete(a);
    await fixture.fail(b, 'no luck');
    const counts = (query: Partial<RunQuery>) =>
      fixture.registry.list({ limit: 1, counts: true, ...query }).counts;
    expect(counts({})).to.deep.equal({ ...NONE, queued: 1, running: 2, succeeded: 1, failed: 1 });
    const onlyA = { ...NONE, queued: 1, running: 1, succeeded: 1 };
    expect(counts({ tenants: ['a'], status: 'failed' })).to.deep.equal(onlyA);
    expect(counts({ text: 'no luck' })).to.deep.equal({ ...NONE, failed: 1 });
    const first = fixture.registry.list({ limit: 2, counts: true, tenants: ['a'] });
    const next = fixture.registry.list({
      limit: 2,
      counts: true,
      tenants: ['a'],
      cursor: first.next_cursor ?? '',
    });
    expect([first.counts, next.counts]).to.deep.equal([onlyA, onlyA]);
    expect([idsOf(first).length, idsOf(next)]).to.deep.equal([2, [a]]);
    expect(fixture.registry.list({ limit: 1 })).to.not.have.any.keys('counts', 'queue');
  });
});

describe('What queued runs wait for, in the list of runs (D35, D25)', () => {
  const queueOf = ({ registry }: ControlledRuns, tenants?: string[]) =>
    registry.list({ limit: 1, counts: true, tenants }).queue;

  it('is the server when all of its slots are taken and tenants have no shares', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 9 } });
    await fixture.submitAll(['a', 'b']);
    expect(queueOf(fixture)).to.deep.equal({ queued: 0, waits_for: null });
    await fixture.submitAll(['a', 'b', 'b']);
    expect(queueOf(fixture)).to.deep.equal({ queued: 3, waits_for: 'server' });
    expect(queueOf(fixture, ['a'])).to.deep.equal({ queued: 1, waits_for: 'server' });
    expect(queueOf(fixture, ['a', 'b', 'b'])).to.deep.equal({ queued: 3, waits_for: 'server' });
  });

  it('is the tenant when it has its share and others have the rest, and nothing for a tenant without queued runs', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 4, maxQueued: 20, tenantShare: 50 } });
    await fixture.submitAll(['a', 'a', 'a', 'b', 'b', 'b', 'c']);
    expect(queueOf(fixture, ['b'])).to.deep.equal({ queued: 1, waits_for: 'tenant' });
    for (const tenants of [['a'], ['c'], ['nobody'], []]) {
      expect(queueOf(fixture, tenants), tenants.join()).to.deep.equal({ queued: 0, waits_for: null });
    }
  });

  it('is the server for a tenant that has all slots itself', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 9, tenantShare: 50 } });
    await fixture.submitAll(['a', 'a', 'a']);
    expect(queueOf(fixture, ['a'])).to.deep.equal({ queued: 1, waits_for: 'server' });
  });
});

/** Runs that are looked at in no time; `looks` counts them. */
function manyRuns(count: number, goal = 'g') {
  let looks = 0;
  function* newestFirst(): Generator<LiveRunEntry> {
    for (let sequence = count; sequence > 0; sequence--) {
      looks++;
      const run = {
        id: `run-${sequence}`,
        definitionId: 'p',
        tenantId: sequence % 2 === 0 ? 'even' : 'odd',
        goal,
        labels: {},
        error: null,
        failures: [],
        status: 'succeeded',
        createdAt: 0,
        begunAt: null,
        finishedAt: null,
      };
      yield { run, sequence } as unknown as LiveRunEntry;
    }
  }
  return { entries: newestFirst(), looks: () => looks };
}

describe('A list of 100,000 runs (D35)', () => {
  const RUNS = 100_000;

  for (const [what, query, most] of [
    ['counted', { counts: true }, 2100],
    ['searched for a text', { text: 'nowhere' }, 130],
    ['listed from the last page', { cursor: 'r1' }, 2100],
    ['listed on a page of 500', { limit: 500 }, 130],
  ] as const) {
    it(`is ${what} in steps of at most ${most} runs, so that other requests go on in between`, () => {
      const { entries, looks } = manyRuns(RUNS);
      const steps = collectRuns(entries, { limit: 50, ...query });
      let before = 0;
      let largest = 0;
      for (let step = steps.next(); step.done !== true; step = steps.next()) {
        largest = Math.max(largest, looks() - before);
        before = looks();
      }
      largest = Math.max(largest, looks() - before);
      expect(largest).to.be.within(1, most);
      expect(looks()).to.equal('limit' in query ? 501 : RUNS);
    });
  }

  it('is searched for a long text in steps of at most 3 long goals', () => {
    const { entries, looks } = manyRuns(100, 's'.repeat(5000));
    const steps = collectRuns(entries, { limit: 50, text: `${'s'.repeat(199)}b` });
    let count = 1;
    while (steps.next().done !== true) count++;
    expect([looks(), count]).to.deep.equal([100, 34]);
  });

  it('is counted for one tenant alone', () => {
    const page = runToEnd(collectRuns(manyRuns(RUNS).entries, { limit: 1, counts: true, tenants: ['odd'] }));
    expect(page.counts).to.deep.equal({ ...NONE, succeeded: RUNS / 2 });
    expect(mergePages(page, { runs: [] }, 1).next_cursor).to.equal('r255r');
  });
});

describe('A list that is made in turns with other requests (D35)', () => {
  it('has every run that is kept to the end, although others are deleted and submitted meanwhile', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 9000 } });
    const { registry, pipeline } = fixture;
    const ids: string[] = [];
    for (let run = 0; run < 5000; run++) ids.push(await registry.submit({ pipeline }));
    endSlice();
    const listing = registry.queries.listInTurns({ limit: 500, counts: true, text: 'held' }, 'default');
    const forgotten = ids.filter((_, index) => index % 3 === 0);
    for (const id of forgotten) registry.forget(id);
    await registry.submit({ pipeline });
    const { counts, runs, next_cursor } = await listing;
    const kept = ids.filter((id) => !forgotten.includes(id));
    const listed = runs.map(({ run_id }) => run_id).filter((id) => kept.includes(id));
    expect(listed).to.deep.equal(kept.toReversed().slice(0, listed.length));
    expect(listed).to.have.length.above(400);
    expect((counts?.queued ?? 0) + (counts?.running ?? 0)).to.be.within(kept.length, ids.length);
    expect(next_cursor).to.match(/^r/);
  });
});
