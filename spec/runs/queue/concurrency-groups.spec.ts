import { expect } from 'chai';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { takeWarnings } from '../../support/warnings.js';
import { catchRejection } from '../../support/rejection.js';
import { ControlledRuns } from '../controlled-runs.js';
import { createDisk } from '../store/memory/memory-store.js';
import { StoredRuns } from '../store/suites/stored-runs.js';

interface Asked {
  readonly fields?: string;
  readonly id?: string;
  readonly tenant?: string;
  readonly customer?: string;
  readonly isOfFolder?: boolean;
}

/** Submits a run of a definition of the folder. */
async function submit(fixture: ControlledRuns, asked: Asked = {}): Promise<string> {
  const { fields = 'max_running: 1', id = 'p', tenant = 'default', customer, isOfFolder = true } = asked;
  const text = `{id: ${id}, goal: g, params: {customer: {default: acme}}, ${fields}, tasks: [{id: a, tool: controlled}]}`;
  const pipeline = parsePipeline(text, { tools: [fixture.controlled.tool] });
  const params = customer === undefined ? {} : { params: { customer } };
  const runId = await fixture.registry.submit({ pipeline, tenant_id: tenant, ...params }, { isOfFolder });
  await fixture.waitUntilIdle();
  return runId;
}

async function submitAll(fixture: ControlledRuns, all: readonly Asked[]): Promise<string[]> {
  const ids: string[] = [];
  for (const each of all) ids.push(await submit(fixture, each));
  return ids;
}

function statusesOf(fixture: ControlledRuns, ids: readonly string[]): string[] {
  return ids.map((id) => fixture.getStatus(id));
}

const queueOf = (fixture: ControlledRuns) => fixture.registry.list({ limit: 1, counts: true }).queue;

describe('max_running of a definition of the folder (D81)', () => {
  it('lets no more of its runs be at work, of one id and one tenant, and says what the others wait for', async () => {
    const fixture = new ControlledRuns();
    const ids = await submitAll(fixture, [{}, {}, {}, { id: 'q' }, { tenant: 'b' }, { isOfFolder: false }]);
    const [first = '', second = '', third = ''] = ids;
    expect(statusesOf(fixture, ids)).to.deep.equal([
      'running',
      'queued',
      'queued',
      'running',
      'running',
      'running',
    ]);
    expect(queueOf(fixture)).to.deep.equal({ queued: 2, waits_for: 'max_running' });
    expect(fixture.registry.queries.load).to.deep.equal({ running: 4, queued: 2 });
    await fixture.complete(first);
    expect(statusesOf(fixture, [second, third])).to.deep.equal(['running', 'queued']);
    await fixture.registry.cancel(third);
    expect(queueOf(fixture)).to.deep.equal({ queued: 0, waits_for: null });
  });

  it('counts the values of concurrency_key by themselves', async () => {
    const fixture = new ControlledRuns();
    const fields = 'max_running: 1, concurrency_key: "{{params.customer}}"';
    const ids = await submitAll(fixture, [
      { fields },
      { fields, customer: 'acme' },
      { fields, customer: 'other' },
    ]);
    expect(statusesOf(fixture, ids)).to.deep.equal(['running', 'queued', 'running']);
    const long = submit(fixture, { fields, customer: 'x'.repeat(201) });
    expect(await catchRejection(long)).to.include({ code: 'invalid_params' });
  });

  it('holds a run with breakpoints back before it takes one of their slots', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
    const [first = '', second = ''] = await submitAll(fixture, [{}, {}]);
    const paused = await fixture.submitPausing();
    expect(fixture.registry.record(paused).paused).to.equal(true);
    await fixture.complete(first);
    expect(fixture.getStatus(second)).to.equal('running');
  });

  it('refuses a run with on_busy: skip, and names the run at work', async () => {
    const fixture = new ControlledRuns();
    const fields = 'max_running: 2, on_busy: skip';
    const [first = ''] = await submitAll(fixture, [{ fields }, { fields }]);
    const error = await catchRejection(submit(fixture, { fields }));
    expect(error).to.include({ code: 'busy', runId: first });
    expect(fixture.listIds()).to.have.length(2);
    await fixture.complete(first);
    expect(fixture.getStatus(await submit(fixture, { fields }))).to.equal('running');
  });

  it('cancels the runs at work with on_busy: cancel_running, and begins when they have settled', async () => {
    const fixture = new ControlledRuns();
    const fields = 'max_running: 2, on_busy: cancel_running';
    const ids = await submitAll(fixture, [{ fields }, { fields }, { fields }, { fields }]);
    const [first = '', second = '', third = '', fourth = ''] = ids;
    expect(statusesOf(fixture, ids)).to.deep.equal(['cancelled', 'cancelled', 'queued', 'queued']);
    await fixture.complete(first);
    expect(statusesOf(fixture, [third, fourth])).to.deep.equal(['queued', 'queued']);
    await fixture.complete(second);
    expect(statusesOf(fixture, [third, fourth])).to.deep.equal(['running', 'running']);
  });

  it('lets only the newest go on with on_busy: cancel_running when several come while one is being cancelled', async () => {
    const fixture = new ControlledRuns();
    const fields = 'max_running: 1, on_busy: cancel_running';
    const ids = await submitAll(fixture, [{ fields }, { fields }, { fields }]);
    const [first = '', second = '', third = ''] = ids;
    expect(fixture.registry.record(second)).to.include({ status: 'cancelled', settled: true });
    await fixture.complete(first);
    expect(statusesOf(fixture, ids)).to.deep.equal(['cancelled', 'cancelled', 'running']);
    await fixture.complete(third);
    expect(fixture.calledRunIds).to.deep.equal([first, third]);
  });

  it('says in the log when the store cannot keep that a run was cancelled for a newer one', async () => {
    const fixture = new StoredRuns(createDisk());
    const fields = 'max_running: 1, on_busy: cancel_running';
    const first = await submit(fixture, { fields });
    fixture.store.fault = new Error('disk full');
    expect(await catchRejection(submit(fixture, { fields }))).to.include({ code: 'not_ready' });
    const [warning] = await takeWarnings();
    expect(warning).to.match(
      new RegExp(`^run ${first} cannot be cancelled for a newer one .*: nothing can be kept`),
    );
  });

  it('holds a rerun to it as the run that it repeats, also one that is read from the archive', async () => {
    const disk = createDisk();
    const first = new StoredRuns(disk);
    const failed = await submit(first);
    await first.fail(failed, 'no');
    const second = await new StoredRuns(disk).restore();
    const [held = ''] = await submitAll(second, [{}]);
    const rerun = await second.registry.rerun(failed);
    await second.waitUntilIdle();
    expect(second.getStatus(rerun)).to.equal('queued');
    await second.complete(held);
    expect(second.getStatus(rerun)).to.equal('running');
  });

  it('holds after a restart, for runs at work, those that wait, and new ones', async () => {
    const disk = createDisk();
    const first = new StoredRuns(disk);
    const [atWork = '', waiting = ''] = await submitAll(first, [{}, {}]);
    const second = await new StoredRuns(disk).restore();
    const later = await submit(second);
    expect(statusesOf(second, [atWork, waiting, later])).to.deep.equal(['running', 'queued', 'queued']);
    for (const id of [atWork, waiting, later]) await second.complete(id);
    expect(second.calledRunIds).to.deep.equal([atWork, waiting, later]);
  });

  it('waits after a restart for the runs that were being cancelled', async () => {
    const disk = createDisk();
    const fields = 'max_running: 1, on_busy: cancel_running';
    const first = new StoredRuns(disk);
    const [cancelled = '', newest = ''] = await submitAll(first, [{ fields }, { fields }]);
    const second = await new StoredRuns(disk).restore();
    expect(statusesOf(second, [cancelled, newest])).to.deep.equal(['cancelled', 'queued']);
    await second.complete(cancelled);
    expect(second.getStatus(newest)).to.equal('running');
  });

  it('handles ten thousand runs that wait for one, cancelled from either end', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 10_000 } });
    const text = '{id: p, goal: g, max_running: 1, tasks: [{id: a, tool: controlled}]}';
    const pipeline = parsePipeline(text, { tools: [fixture.controlled.tool] });
    const submitOne = () => fixture.registry.submit({ pipeline }, { isOfFolder: true });
    const [running = '', ...waiting] = await Promise.all(Array.from({ length: 10_001 }, submitOne));
    await fixture.waitUntilIdle();
    expect(fixture.registry.queries.load).to.deep.equal({ running: 1, queued: 10_000 });
    await Promise.all(waiting.toReversed().map((id) => fixture.registry.cancel(id)));
    await fixture.complete(running);
    expect(fixture.registry.queries.load).to.deep.equal({ running: 0, queued: 0 });
  });
});
