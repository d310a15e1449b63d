import { expect } from 'chai';
import { TaskPools } from '../../../lib/common/scheduling/task-pools.js';
import { describeWait, type WaitingFor } from '../../../lib/common/wire/run-summary.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { parsePlan } from '../../support/definitions/parse-plan.js';
import { deferred, settle } from '../../support/deferred.js';
import { ControlledRuns } from '../controlled-runs.js';
import { createDisk } from '../store/memory/memory-store.js';
import { StoredRuns } from '../store/suites/stored-runs.js';

/** Reads why a run waits, which its record and the list must say alike. */
function waitOf({ registry }: ControlledRuns, runId: string): Omit<WaitingFor, 'since'> | null {
  const record = registry.record(runId);
  const listed = registry.list({ limit: 500 }).runs.find(({ run_id: id }) => id === runId);
  expect(listed?.waiting_for).to.deep.equal(record.waiting_for);
  if (record.waiting_for === null) return null;
  const { since, ...wait } = record.waiting_for;
  if (record.status === 'queued') expect(since).to.equal(record.created_at);
  return wait;
}

async function submitGrouped(fixture: ControlledRuns, fields: string): Promise<string> {
  const text = `{id: p, goal: g, params: {customer: {default: acme}}, ${fields}, tasks: [{id: a, tool: controlled}]}`;
  const pipeline = parsePipeline(text, { tools: [fixture.controlled.tool] });
  const runId = await fixture.registry.submit({ pipeline }, { isOfFolder: true });
  await fixture.waitUntilIdle();
  return runId;
}

describe('What a queued run waits for (D25, D81)', () => {
  it('is a slot of the server, or of the share of its tenant, and nothing when it runs or has ended', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 9, tenantShare: 50 } });
    const [first = '', own = '', , other = ''] = await fixture.submitAll(['a', 'a', 'b', 'b']);
    const waiting = await fixture.submit('a');
    expect([first, own].map((id) => waitOf(fixture, id))).to.deep.equal([null, null]);
    expect(waitOf(fixture, waiting)).to.deep.equal({ reason: 'server' });
    expect(waitOf(fixture, other)).to.deep.equal({ reason: 'tenant' });
    await fixture.registry.cancel(waiting);
    expect(waitOf(fixture, waiting)).to.equal(null);
  });

  it('is a slot for runs with breakpoints', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 9 } });
    await fixture.submitPausing();
    expect(waitOf(fixture, await fixture.submitPausing())).to.deep.equal({ reason: 'breakpoints' });
  });

  it('is max_running of its definition, with the runs that come before it, the first five of them', async () => {
    const fixture = new ControlledRuns();
    const fields = 'max_running: 2, concurrency_key: "{{params.customer}}"';
    const ids: string[] = [];
    for (let runs = 0; runs < 8; runs++) ids.push(await submitGrouped(fixture, fields));
    const [first = '', second = '', third = ''] = ids;
    const wait = { reason: 'max_running', limit: 2, key: 'acme' };
    expect(waitOf(fixture, third)).to.deep.equal({ ...wait, running: [first, second] });
    expect(waitOf(fixture, ids[7] ?? '')).to.deep.equal({ ...wait, running: ids.slice(0, 5) });
    const version = fixture.registry.queries.version(ids[7] ?? '');
    await fixture.complete(first);
    expect(fixture.registry.queries.version(ids[7] ?? '')).to.not.equal(version);
    expect(waitOf(fixture, third)).to.equal(null);
    const other = await submitGrouped(fixture, 'max_running: 1');
    expect(waitOf(fixture, other)).to.equal(null);
    expect(waitOf(fixture, await submitGrouped(fixture, 'max_running: 1'))).to.deep.equal({
      reason: 'max_running',
      limit: 1,
      running: [other],
    });
  });

  it('is said after a restart, too: the runs before it that are still being read, then what it waited for', async () => {
    const disk = createDisk();
    const first = new StoredRuns(disk, { maxRunning: 1 });
    const [atWork = '', queued = ''] = await first.submitAll(['default', 'default']);
    const second = new StoredRuns(disk, { maxRunning: 1 });
    const reading = deferred<void>();
    const [restored] = await second.list(() => reading.promise);
    const later = await second.submit();
    expect(waitOf(second, later)).to.deep.equal({ reason: 'restart' });
    expect(second.registry.list({ limit: 1, counts: true }).queue).to.include({ waits_for: 'restart' });
    const version = second.registry.queries.listVersion({ limit: 9 });
    reading.resolve();
    await restored;
    await second.waitUntilIdle();
    expect(second.registry.queries.listVersion({ limit: 9 })).to.not.equal(version);
    expect([atWork, queued, later].map((id) => waitOf(second, id)?.reason)).to.deep.equal([
      undefined,
      'server',
      'server',
    ]);
  });
});

describe('What a run at work waits for (D81)', () => {
  const FAN_OUT =
    '{id: f, tool: controlled, pool: erp, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}';

  function createFixture(): ControlledRuns {
    return new ControlledRuns({ pools: new TaskPools(new Map([['erp', 1]])) });
  }

  it('is a place of a pool: in its record, its tasks and its items, until the call begins', async () => {
    const fixture = createFixture();
    const { registry, clock, controlled } = fixture;
    const text = `{id: p, goal: g, inputs: {list: [1, 2, 3]}, tasks: [${FAN_OUT}, {id: b, tool: controlled, pool: erp}, {id: c, tool: controlled}]}`;
    const runId = await registry.submit({ pipeline: parsePipeline(text, { tools: [controlled.tool] }) });
    await fixture.waitUntilIdle();
    const pool = { reason: 'pool', pool: 'erp' };
    expect(waitOf(fixture, runId)).to.deep.equal({ ...pool, task_id: 'f', calls: 3 });
    const { since } = registry.record(runId).waiting_for ?? {};
    clock.advance(1000);
    const { tasks } = await registry.tasks(runId);
    expect(tasks.map(({ waiting_for: wait }) => wait)).to.deep.equal([
      { ...pool, since, calls: 2 },
      { ...pool, since, calls: 1 },
      undefined,
    ]);
    const { items } = await registry.items(runId, 'f');
    expect(items.map(({ waiting_for: wait, status }) => [status, wait])).to.deep.equal([
      ['running', undefined],
      ['pending', { ...pool, since }],
      ['pending', { ...pool, since }],
    ]);
    const versions = [registry.queries.version(runId)];
    await controlled.returns('c');
    await controlled.returns('f[0]', controlled.calls[0]);
    await controlled.returns('f[1]');
    versions.push(registry.queries.version(runId));
    expect(new Set(versions).size).to.equal(2);
    expect(waitOf(fixture, runId)).to.deep.equal({ ...pool, task_id: 'b', calls: 1 });
    await controlled.returns('f[2]');
    expect(waitOf(fixture, runId)).to.equal(null);
    await controlled.returns('b');
    expect(waitOf(fixture, runId)).to.equal(null);
  });

  it('names the sub-pipeline of a plan, and counts the calls of all', async () => {
    const fixture = createFixture();
    const part = (id: string) =>
      `{id: ${id}, pipeline: {id: ${id}, goal: g, inputs: {list: [1, 2, 3]}, tasks: [${FAN_OUT}]}}`;
    const plan = parsePlan(`{id: p, plan_concurrency: 2, sub_pipelines: [${part('one')}, ${part('two')}]}`, {
      tools: [fixture.controlled.tool],
    });
    const runId = await fixture.registry.submitPlan({ plan });
    await fixture.waitUntilIdle();
    const wait = { reason: 'pool', pool: 'erp', task_id: 'f' };
    expect(waitOf(fixture, runId)).to.deep.equal({ ...wait, sub_pipeline: 'one', calls: 5 });
    await fixture.registry.cancel(runId);
    await settle();
    expect(waitOf(fixture, runId)).to.equal(null);
  });
});

describe('describeWait', () => {
  const since = '2026-01-01T00:00:00.000Z';
  const cases: readonly (readonly [WaitingFor, string])[] = [
    [{ reason: 'pool', since, pool: 'erp' }, 'a place in pool "erp"'],
    [{ reason: 'pool', since, pool: 'erp', task_id: 'f', calls: 1 }, 'a place in pool "erp" (task f)'],
    [
      { reason: 'pool', since, pool: 'erp', sub_pipeline: 's', task_id: 'f', calls: 1200 },
      'places in pool "erp": 1,200 calls (task s/f)',
    ],
    [
      { reason: 'max_running', since, limit: 1, key: 'acme', running: ['a', 'b'] },
      'its turn (max_running: 1 of "acme"): a, b',
    ],
    [{ reason: 'server', since }, 'a slot: all slots of the server are taken (SERVICE_MAX_RUNNING)'],
  ];
  for (const [wait, text] of cases) {
    it(`says: ${text}`, () => expect(describeWait(wait)).to.equal(text));
  }
});
