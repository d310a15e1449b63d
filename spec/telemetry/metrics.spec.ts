import { expect } from 'chai';
import { MemoryPool } from '../../lib/common/memory/memory-pool.js';
import { TaskPools } from '../../lib/common/scheduling/task-pools.js';
import type { RegistryOptions } from '../../lib/runs/registry-options.js';
import { Metrics } from '../../lib/telemetry/metrics.js';
import { ControlledRuns } from '../runs/controlled-runs.js';
import { itTimed, measureCpuMs } from '../support/measuring/cpu-time.js';
import { FakeMonitor } from './fake-monitor.js';
import { readSamples, under } from './exposition.js';

describe('Metrics', () => {
  const opened: Metrics[] = [];

  /** Runs with metrics. */
  function counted(
    pipeline?: string,
    options: RegistryOptions = {},
  ): { metrics: Metrics; held: ControlledRuns } {
    const metrics = new Metrics();
    opened.push(metrics);
    const { onEvent, onAttempt } = metrics;
    const held = new ControlledRuns({ onEvent, onAttempt, ...options }, pipeline);
    metrics.watch(held.registry.queries);
    return { metrics, held };
  }

  afterEach(() => {
    for (const metrics of opened.splice(0)) metrics.close();
  });

  const NONE_OF_OTHERS = {
    ...Object.fromEntries(
      ['age', 'number', 'bytes', 'keep'].map((reason) => [`pruned_total{reason="${reason}"}`, 0]),
    ),
    ...Object.fromEntries(
      ['age', 'number', 'bytes', 'memory'].map((reason) => [`evicted_total{reason="${reason}"}`, 0]),
    ),
    ...Object.fromEntries(['schedule', 'webhook'].map((by) => [`skipped_total{by="${by}"}`, 0])),
    ...Object.fromEntries(
      ['queued', 'running', 'succeeded', 'failed', 'cancelled'].map((status) => [
        `total{pipeline="other",status="${status}",trigger="none"}`,
        0,
      ]),
    ),
  };

  it('counts runs by status, and reports queued, running and kept runs (D25, D26)', async () => {
    const { metrics, held } = counted(undefined, { admission: { maxRunning: 2, maxQueued: 5 } });
    const [first = '', second = '', third = ''] = await held.submitAll(['a', 'b', 'a']);
    const before = await readSamples(metrics);
    expect(under(before, 'wavetrain_runs_')).to.deep.equal({
      'total{pipeline="held",status="queued",trigger="none"}': 3,
      'total{pipeline="held",status="running",trigger="none"}': 2,
      'total{pipeline="held",status="succeeded",trigger="none"}': 0,
      'total{pipeline="held",status="failed",trigger="none"}': 0,
      'total{pipeline="held",status="cancelled",trigger="none"}': 0,
      'kept{status="queued"}': 1,
      'kept{status="running"}': 2,
      'kept{status="succeeded"}': 0,
      'kept{status="failed"}': 0,
      'kept{status="cancelled"}': 0,
      queued: 1,
      running: 2,
      ...NONE_OF_OTHERS,
    });
    await held.registry.cancel(third);
    held.findCall(second).reject(new Error('no'));
    await held.registry.settled(second);
    await held.complete(first);
    held.registry.remove(first);
    const after = await readSamples(metrics);
    expect(under(after, 'wavetrain_runs_')).to.deep.equal({
      'total{pipeline="held",status="queued",trigger="none"}': 3,
      'total{pipeline="held",status="running",trigger="none"}': 2,
      'total{pipeline="held",status="succeeded",trigger="none"}': 1,
      'total{pipeline="held",status="failed",trigger="none"}': 1,
      'total{pipeline="held",status="cancelled",trigger="none"}': 1,
      'kept{status="queued"}': 0,
      'kept{status="running"}': 0,
      'kept{status="succeeded"}': 0,
      'kept{status="failed"}': 1,
      'kept{status="cancelled"}': 1,
      queued: 0,
      running: 0,
      ...NONE_OF_OTHERS,
    });
  });

  it('counts a cancelled run as running until its wave has settled (D21)', async () => {
    const { metrics, held } = counted();
    const run = await held.submit();
    await held.registry.cancel(run);
    const draining = await readSamples(metrics);
    expect(draining.get('wavetrain_runs_running')).to.equal(1);
    expect(draining.get('wavetrain_runs_total{pipeline="held",status="cancelled",trigger="none"}')).to.equal(
      1,
    );
    await held.complete(run);
    const settled = await readSamples(metrics);
    expect(settled.get('wavetrain_runs_running')).to.equal(0);
    expect(settled.get('wavetrain_runs_total{pipeline="held",status="cancelled",trigger="none"}')).to.equal(
      1,
    );
  });

  it('reports durations of tasks in seconds, by tool and outcome', async () => {
    const { metrics, held } = counted();
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    held.clock.advance(1500);
    await held.complete(first);
    held.clock.advance(10_500);
    held.findCall(second).reject(new Error('no'));
    await held.registry.settled(second);
    const samples = await readSamples(metrics);
    const count = (outcome: string, le: string): number | undefined =>
      samples.get(
        `wavetrain_task_duration_seconds_bucket{le="${le}",tool="controlled",outcome="${outcome}"}`,
      );
    expect(['1', '2.5', '3600', '+Inf'].map((le) => count('succeeded', le))).to.deep.equal([0, 1, 1, 1]);
    expect(['10', '30', '3600', '+Inf'].map((le) => count('failed', le))).to.deep.equal([0, 1, 1, 1]);
    expect(under(samples, 'wavetrain_task_duration_seconds_sum')).to.deep.equal({
      '{tool="controlled",outcome="succeeded"}': 1.5,
      '{tool="controlled",outcome="failed"}': 12,
    });
    expect(under(samples, 'wavetrain_task_duration_seconds_count')).to.deep.equal({
      '{tool="controlled",outcome="succeeded"}': 1,
      '{tool="controlled",outcome="failed"}': 1,
    });
  });

  it('counts attempts, retries and running tools, without those that wait for a retry', async () => {
    const { metrics, held } = counted(
      `{id: p, goal: g, inputs: {list: [1, 2]}, tasks: [
        {id: a, tool: controlled, retry: 1}, {id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}]}`,
    );
    const run = await held.submit();
    const [a, first, second] = held.controlled.calls;
    expect((await readSamples(metrics)).get('wavetrain_invocations_in_flight')).to.equal(3);
    await held.controlled.rejects(new Error('once'), a);
    await held.controlled.returns('x', first);
    const between = await readSamples(metrics);
    expect(between.get('wavetrain_invocations_in_flight')).to.equal(1);
    expect(between.get('wavetrain_retries_total{tool="controlled"}')).to.equal(0);
    held.clock.advance(60_000);
    await held.waitUntilIdle();
    expect((await readSamples(metrics)).get('wavetrain_invocations_in_flight')).to.equal(2);
    await held.controlled.returns('now');
    await held.registry.cancel(run, { force: true });
    await held.controlled.returns('too late', second);
    const samples = await readSamples(metrics);
    expect(samples.get('wavetrain_invocations_in_flight')).to.equal(0);
    expect(samples.get('wavetrain_retries_total{tool="controlled"}')).to.equal(1);
    expect(under(samples, 'wavetrain_attempts_total')).to.deep.equal({
      '{tool="controlled",outcome="succeeded"}': 2,
      '{tool="controlled",outcome="failed"}': 2,
    });
  });

  it('does not count reused tasks (D35)', async () => {
    const { metrics, held } = counted(
      '{id: p, goal: g, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}',
    );
    const run = await held.submit();
    await held.controlled.returns('a');
    await held.waitUntilIdle();
    await held.controlled.rejects(new Error('no'));
    await held.registry.settled(run);
    const again = await held.registry.rerun(run, { from: 'failed' });
    await held.waitUntilIdle();
    expect(held.controlled.order).to.deep.equal(['a', 'b', 'b']);
    await held.complete(again);
    const samples = await readSamples(metrics);
    expect(under(samples, 'wavetrain_task_duration_seconds_count')).to.deep.equal({
      '{tool="controlled",outcome="succeeded"}': 2,
      '{tool="controlled",outcome="failed"}': 1,
    });
  });

  it('counts requests by route, method and status, and unknown methods as one', async () => {
    const { metrics } = counted();
    metrics.recordRequest('/pipelines/run', 'POST', 200, 125);
    metrics.recordRequest('/pipelines/run', 'POST', 200, 2000);
    metrics.recordRequest('/pipelines/run', 'POST', 422, 250);
    metrics.recordRequest('none', 'BREW', 405, 0);
    metrics.recordRequest('none', 'WHEN', 405, 0);
    const samples = await readSamples(metrics);
    expect(under(samples, 'wavetrain_http_requests_total')).to.deep.equal({
      '{route="/pipelines/run",method="POST",status="200"}': 2,
      '{route="/pipelines/run",method="POST",status="422"}': 1,
      '{route="none",method="other",status="405"}': 2,
    });
    expect(under(samples, 'wavetrain_http_request_duration_seconds_sum')).to.deep.equal({
      '{route="/pipelines/run",method="POST"}': 2.375,
      '{route="none",method="other"}': 0,
    });
    expect(under(samples, 'wavetrain_http_request_duration_seconds_bucket{le="0.25"')).to.deep.equal({
      ',route="/pipelines/run",method="POST"}': 2,
      ',route="none",method="other"}': 2,
    });
  });

  it('counts the errors of requests by their code', async () => {
    const { metrics } = counted();
    metrics.recordRequest('/pipelines/run', 'POST', 200, 1);
    metrics.recordRequest('/pipelines/run', 'POST', 503, 1, 'queue_full');
    metrics.recordRequest('/pipelines/run', 'POST', 503, 1, 'memory_full');
    metrics.recordRequest('/pipelines/run_async', 'POST', 503, 1, 'memory_full');
    expect(under(await readSamples(metrics), 'wavetrain_http_errors_total')).to.deep.equal({
      '{code="queue_full"}': 1,
      '{code="memory_full"}': 2,
    });
  });

  it('reports the memory of the server, that of its largest tenant, and the limit (D25)', async () => {
    const { metrics } = counted();
    const memory = new MemoryPool({ total: 1000 });
    metrics.watchMemory(memory);
    const read = async (): Promise<object> => under(await readSamples(metrics), 'wavetrain_memory_');
    expect(await read()).to.deep.equal({ used_bytes: 0, largest_tenant_bytes: 0, limit_bytes: 1000 });
    memory.reserve('acme', 600, 'body');
    memory.reserve('beta', 300, 'body');
    expect(await read()).to.deep.equal({ used_bytes: 900, largest_tenant_bytes: 600, limit_bytes: 1000 });
    memory.release('acme', 600);
    expect(await read()).to.deep.equal({ used_bytes: 300, largest_tenant_bytes: 300, limit_bytes: 1000 });
  });

  it('reports the places of each pool, how many are in use, and how many calls wait (D81)', async () => {
    const { metrics } = counted();
    const pools = new TaskPools(
      new Map([
        ['erp', 1],
        ['gpu', 2],
      ]),
    );
    metrics.watchPools(pools);
    const limiter = pools.get('erp')?.limiter;
    const release = limiter?.tryAcquire('acme');
    const waiting = limiter?.acquire({ tenant_id: 'acme' });
    expect(under(await readSamples(metrics), 'wavetrain_pool_')).to.deep.equal({
      'places{pool="erp"}': 1,
      'places{pool="gpu"}': 2,
      'in_use{pool="erp"}': 1,
      'in_use{pool="gpu"}': 0,
      'waiting{pool="erp"}': 1,
      'waiting{pool="gpu"}': 0,
    });
    release?.();
    (await waiting)?.();
    expect(under(await readSamples(metrics), 'wavetrain_pool_in_use')).to.deep.equal({
      '{pool="erp"}': 0,
      '{pool="gpu"}': 0,
    });
  });

  it('has no labels for runs, tenants and tasks', async () => {
    const { metrics, held } = counted();
    const series = async (): Promise<string[]> => [...(await readSamples(metrics)).keys()];
    await held.complete(await held.submit('tenant-one'));
    const before = (await series()).filter((name) => name.startsWith('wavetrain_'));
    const run = await held.submit('tenant-two');
    await held.complete(run);
    expect((await series()).filter((name) => name.startsWith('wavetrain_'))).to.deep.equal(before);
    const text = await metrics.read();
    for (const name of [run, 'tenant-', '"a"']) expect(text).not.to.include(name);
  });

  it('reports the process under the standard names of Node.js dashboards', async () => {
    const samples = await readSamples(counted().metrics);
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'wavetrain_event_loop_lag_seconds{of="max"}',
      'nodejs_eventloop_lag_mean_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_eventloop_lag_max_seconds',
    ]) {
      expect(samples.has(name), name).to.equal(true);
    }
    expect(samples.get('process_resident_memory_bytes')).to.be.above(1e6);
  });

  it('keeps two servers in one process apart, and forgets the values of a closed one', async () => {
    const [one, other] = [counted(), counted()];
    await one.held.submit();
    const readSample = async ({ metrics }: { metrics: Metrics }): Promise<number | undefined> =>
      (await readSamples(metrics)).get(
        'wavetrain_runs_total{pipeline="held",status="queued",trigger="none"}',
      );
    expect(await readSample(one)).to.equal(1);
    expect(await readSample(other)).to.equal(undefined);
    one.metrics.close();
    expect(await readSample(one)).to.equal(undefined);
  });

  it('monitors the event loop until it is closed', () => {
    const monitor = new FakeMonitor();
    const metrics = new Metrics(monitor);
    expect(monitor.enabled).to.equal(true);
    metrics.close();
    expect(monitor.enabled).to.equal(false);
  });

  itTimed('is read as fast after many requests and tasks as after few', async () => {
    const { metrics } = counted();
    const routes = Array.from({ length: 40 }, (_, index) => `/route${index}`);
    const fill = (count: number): void => {
      for (const route of routes) {
        for (let time = 0; time < count; time++) metrics.recordRequest(route, 'GET', 200, time % 100);
      }
    };
    fill(1);
    await metrics.read();
    const few = await measureCpuMs(() => metrics.read());
    fill(900);
    const many = await measureCpuMs(() => metrics.read());
    expect(many).to.be.below(3 * few + 10);
  });

  it('is read metric by metric, so that a server can serve others in between', async () => {
    const { metrics } = counted();
    let pauses = 0;
    const text = await metrics.read(async () => {
      pauses++;
    });
    expect(pauses).to.be.at.least(text.match(/^# TYPE /gm)?.length ?? 0);
  });
});
