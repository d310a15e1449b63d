import { expect } from 'chai';
import fc from 'fast-check';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { cases } from '../../support/measuring/cases.js';
import { holdSlices } from '../../support/slices.js';
import { ControlledRuns } from '../controlled-runs.js';
import { createDisk, type Disk } from '../store/memory/memory-store.js';
import { StoredRuns } from '../store/suites/stored-runs.js';

async function submit(fixture: ControlledRuns, priority: number, tenant = 'default'): Promise<string> {
  const text = `{id: held, goal: g, priority: ${priority}, tasks: [{id: a, tool: controlled}]}`;
  const pipeline = parsePipeline(text, { tools: [fixture.controlled.tool] });
  const runId = await fixture.registry.submit({ pipeline, tenant_id: tenant });
  await fixture.waitUntilIdle();
  return runId;
}

/** Ends the runs one after another, and returns their ids in the order in which they began. */
async function completeAll(fixture: ControlledRuns): Promise<string[]> {
  for (let next = 0; next < fixture.calledRunIds.length; next++)
    await fixture.complete(fixture.calledRunIds[next] ?? '');
  return fixture.calledRunIds;
}

const ACT = fc.record({
  kind: fc.constantFrom('submit', 'submit', 'submit', 'end', 'cancel'),
  tenant: fc.constantFrom('a', 'b', 'c'),
  priority: fc.constantFrom(0, 0, -100, 5, 100),
  at: fc.nat(100),
});

type Act = typeof ACT extends fc.Arbitrary<infer A> ? A : never;

/** Does the acts, and returns the runs in the order in which they began. */
async function play(
  acts: readonly Act[],
  havePriorities: boolean,
  onBegun: (fixture: ControlledRuns) => void,
) {
  const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 100 } });
  for (const { kind, tenant, priority, at } of acts) {
    const inState = (state: RunRecord['status']): string[] =>
      fixture
        .listIds()
        .toReversed()
        .filter((id) => fixture.getStatus(id) === state);
    if (kind === 'submit') await submit(fixture, havePriorities ? priority : 0, tenant);
    else if (kind === 'end') {
      const [oldest] = inState('running');
      if (oldest !== undefined) await fixture.complete(oldest);
    } else {
      const queued = inState('queued').filter((id) => fixture.registry.record(id).tenant_id === tenant);
      const picked = queued[at % queued.length];
      if (picked !== undefined) await fixture.registry.cancel(picked);
    }
    onBegun(fixture);
  }
  await completeAll(fixture);
  return fixture.calledRunIds.map((id) => fixture.registry.record(id));
}

describe('The priority of a definition (D81)', () => {
  // Two plays of the same acts begin runs in the same turns.
  beforeEach(holdSlices);

  it('lets no run begin while one of its tenant waits that has a higher priority, or as high a one and came before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ACT, { maxLength: 25 }), async (acts) => {
        let seen = 0;
        await play(acts, true, (fixture) => {
          const begun = fixture.calledRunIds.slice(seen).map((id) => fixture.registry.record(id));
          seen = fixture.calledRunIds.length;
          const order = fixture.listIds().toReversed();
          const waiting = fixture.registry.list({ limit: 500, status: 'queued' }).runs;
          for (const { run_id, tenant_id, priority } of begun) {
            const came = order.indexOf(run_id);
            const better = waiting.filter(
              (other) =>
                other.tenant_id === tenant_id &&
                (other.priority > priority ||
                  (other.priority === priority && order.indexOf(other.run_id) < came)),
            );
            expect(better).to.deep.equal([]);
          }
        });
      }),
      cases(40),
    );
  });

  it('changes nothing between tenants: their runs take the turns that they would take without', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ACT, { maxLength: 25 }), async (acts) => {
        const uncancelled = acts.filter(({ kind }) => kind !== 'cancel');
        const [turns, expected] = [
          await play(uncancelled, true, () => undefined),
          await play(uncancelled, false, () => undefined),
        ].map((runs) => runs.map(({ tenant_id }) => tenant_id));
        expect(turns).to.deep.equal(expected);
      }),
      cases(20),
    );
  });

  it('is shown in the record and in the list', async () => {
    const fixture = new ControlledRuns();
    const runId = await submit(fixture, -7);
    expect(fixture.registry.record(runId)).to.include({ priority: -7 });
    expect(fixture.registry.list({ limit: 1 }).runs[0]).to.include({ priority: -7 });
    expect(fixture.registry.record(await fixture.submit())).to.include({ priority: 0 });
  });

  it('costs a tenant with ten thousand queued runs of all priorities no more than a scan of these', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 10_000 } });
    const tools = [fixture.controlled.tool];
    const pipelines = Array.from({ length: 201 }, (_, at) =>
      parsePipeline(`{id: p, goal: g, priority: ${at - 100}, tasks: [{id: a, tool: controlled}]}`, { tools }),
    );
    const pipelineAt = (at: number) => pipelines[at % 201] ?? fixture.pipeline;
    const ids = await Promise.all(
      Array.from({ length: 10_001 }, (_, at) => fixture.registry.submit({ pipeline: pipelineAt(at) })),
    );
    await fixture.waitUntilIdle();
    const waiting = ids.filter((id) => fixture.getStatus(id) === 'queued');
    expect(waiting).to.have.length(10_000);
    for (const id of waiting.toReversed()) await fixture.registry.cancel(id);
    expect(fixture.registry.queries.load).to.deep.equal({ running: 1, queued: 0 });
  });

  describe('of runs that an earlier process has queued', () => {
    let disk: Disk;

    beforeEach(() => {
      disk = createDisk();
    });

    it('orders them, and those that came meanwhile; the runs that had begun go on first', async () => {
      const first = new StoredRuns(disk, { maxRunning: 2 });
      const begun = [await submit(first, 0), await submit(first, -100)];
      const queued = [0, 5, 0, 5].map((priority) => () => submit(first, priority));
      const [low = '', high = '', low2 = '', high2 = ''] = await inTurn(queued);
      const second = new StoredRuns(disk, { maxRunning: 2 });
      const [restored] = await second.list();
      const [urgent = '', late = ''] = await inTurn([() => submit(second, 7), () => submit(second, 0)]);
      await restored;
      await second.waitUntilIdle();
      expect(second.calledRunIds).to.deep.equal(begun);
      expect(await completeAll(second)).to.deep.equal([...begun, urgent, high, high2, low, low2, late]);
    });

    it('goes on with a run that had begun by its priority, and came last', async () => {
      const first = new StoredRuns(disk, { maxRunning: 1 });
      const opening = await submit(first, 0);
      const [low = '', urgent = ''] = await inTurn([() => submit(first, 0), () => submit(first, 9)]);
      await first.complete(opening);
      expect(first.getStatus(urgent)).to.equal('running');
      const second = await new StoredRuns(disk, { maxRunning: 1 }).restore();
      expect(second.calledRunIds).to.deep.equal([urgent]);
      expect(await completeAll(second)).to.deep.equal([urgent, low]);
    });
  });
});

async function inTurn(submits: readonly (() => Promise<string>)[]): Promise<string[]> {
  const ids: string[] = [];
  for (const each of submits) ids.push(await each());
  return ids;
}
