import { expect } from 'chai';
import type { RunQuery } from '../../../lib/runs/views/run-query.js';
import { ControlledRuns } from '../controlled-runs.js';

const TWO_WAVES =
  '{id: held, goal: g, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}';

/** Looks whether the version of a list changes with what is done. */
class Watched {
  readonly fixture: ControlledRuns;
  readonly #query: RunQuery;
  #last: string;

  constructor(fixture: ControlledRuns, query: Partial<RunQuery> = {}) {
    this.fixture = fixture;
    this.#query = { limit: 9, ...query };
    this.#last = fixture.registry.queries.listVersion(this.#query);
  }

  async changesWith(action: () => unknown): Promise<boolean> {
    await action();
    await this.fixture.waitUntilIdle();
    const before = this.#last;
    this.#last = this.fixture.registry.queries.listVersion(this.#query);
    return this.#last !== before;
  }
}

describe('The version of the list of runs (D35)', () => {
  it('changes whenever a run comes, begins a wave, pauses, goes on, settles, or goes, and not otherwise', async () => {
    const fixture = new ControlledRuns({ retention: { maxRuns: 9, ttlMs: 60_000 } }, TWO_WAVES);
    const { registry, pipeline } = fixture;
    const watched = new Watched(fixture);
    let id = '';
    const submit = async () => {
      id = await registry.submit({ pipeline, breakpoints: { before: ['b'] } });
    };
    expect(await watched.changesWith(() => undefined), 'nothing').to.equal(false);
    expect(await watched.changesWith(submit), 'submitted').to.equal(true);
    expect(await watched.changesWith(() => registry.list({ limit: 9 })), 'listed').to.equal(false);
    expect(await watched.changesWith(() => fixture.findCall(id).resolve(1)), 'paused').to.equal(true);
    expect(await watched.changesWith(() => registry.resume(id, 'continue')), 'resumed').to.equal(true);
    expect(await watched.changesWith(() => fixture.findCall(id).resolve(1)), 'settled').to.equal(true);
    expect(await watched.changesWith(() => fixture.clock.advance(59_000)), 'kept').to.equal(false);
    expect(await watched.changesWith(() => fixture.clock.advance(2000)), 'expired').to.equal(true);
  });

  it('changes when a queued run is cancelled, begins, or is forgotten', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 9 } });
    const [first = '', second = '', third = '', fourth = ''] = await fixture.submitAll(['a', 'a', 'a', 'a']);
    const watched = new Watched(fixture);
    expect(await watched.changesWith(() => fixture.registry.cancel(second))).to.equal(true);
    expect(await watched.changesWith(() => fixture.registry.forget(third))).to.equal(true);
    expect(await watched.changesWith(() => fixture.complete(first))).to.equal(true);
    expect(fixture.getStatus(fourth)).to.equal('running');
  });

  it('does not show a tenant whether others are busy, but for what its own queued runs wait for', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 9, tenantShare: 50 } });
    await fixture.submitAll(['a']);
    const list = new Watched(fixture, { tenants: ['a'] });
    const counted = new Watched(fixture, { tenants: ['a'], counts: true });
    const nothing = new Watched(fixture, { tenants: ['nobody'], counts: true });
    const all = new Watched(fixture);
    let b1 = '';
    let b2 = '';
    const others = [
      async () => ([b1 = '', b2 = ''] = await fixture.submitAll(['b', 'b'])),
      () => fixture.complete(b1),
      () => fixture.registry.forget(b2),
    ];
    for (const action of others) {
      expect(await list.changesWith(action)).to.equal(false);
      expect(await counted.changesWith(() => undefined)).to.equal(false);
      expect(await nothing.changesWith(() => undefined)).to.equal(false);
      expect(await all.changesWith(() => undefined)).to.equal(true);
    }
  });

  it('is never that of an earlier time when a tenant has had no runs in between', async () => {
    const fixture = new ControlledRuns();
    const seen = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const id = await fixture.submit('a');
      seen.add(fixture.registry.queries.listVersion({ limit: 9, tenants: ['a'] }));
      await fixture.complete(id);
      seen.add(fixture.registry.queries.listVersion({ limit: 9, tenants: ['a'] }));
      fixture.registry.forget(id);
    }
    expect(seen.size).to.equal(6);
  });
});
