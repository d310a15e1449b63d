import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { EventLoopOverruns } from '../../lib/common/scheduling/event-loop-overruns.js';
import { EventLoopMetrics } from '../../lib/telemetry/event-loop-metrics.js';
import { settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { FakeMonitor } from './fake-monitor.js';
import { parseSamples, under } from './exposition.js';

describe('EventLoopMetrics', () => {
  it('reports how late timers were since the last read', async () => {
    const registry = new Registry();
    const monitor = new FakeMonitor();
    const metrics = new EventLoopMetrics(registry, monitor);
    const read = async (): Promise<unknown> =>
      under(parseSamples(await registry.metrics()), 'wavetrain_event_loop_lag_seconds');
    const none = { '{of="mean"}': 0, '{of="p99"}': 0, '{of="max"}': 0 };
    expect(monitor.enabled).to.equal(true);
    expect(await read()).to.deep.equal(none);
    Object.assign(monitor, { count: 3, mean: 9.9e6, p99: 12e6, max: 260e6 });
    expect(await read()).to.deep.equal({ '{of="mean"}': 0, '{of="p99"}': 0.002, '{of="max"}': 0.25 });
    expect(await read()).to.deep.equal(none);
    metrics.close();
    expect(monitor.enabled).to.equal(false);
  });

  it('reports by place how often work has held the event loop for too long, and for how long at most', async () => {
    const registry = new Registry();
    const clock = new ManualClock();
    const overruns = new EventLoopOverruns(clock);
    const metrics = new EventLoopMetrics(registry, new FakeMonitor(), overruns);
    for (const ms of [2, 20, 250]) overruns.measure('responses', () => clock.advance(ms));
    const read = async (): Promise<unknown[]> => {
      const samples = parseSamples(await registry.metrics());
      return [
        'overrun_total{place="responses"}',
        'overrun_longest_seconds{place="responses"}',
        'overrun_total{place="cache"}',
      ].map((name) => samples.get(`wavetrain_event_loop_${name}`));
    };
    expect(await read()).to.deep.equal([2, 0.25, 0]);
    expect(await read()).to.deep.equal([2, 0, 0]);
    metrics.close();
  });

  it('measures this process', async () => {
    const registry = new Registry();
    const monitor = monitorEventLoopDelay({ resolution: 10 });
    const metrics = new EventLoopMetrics(registry, monitor);
    const looked = async (): Promise<void> => {
      const { count } = monitor;
      while (monitor.count === count) await settle(1);
    };
    await looked();
    const end = process.hrtime.bigint() + 60_000_000n;
    while (process.hrtime.bigint() < end);
    await looked();
    const samples = parseSamples(await registry.metrics());
    metrics.close();
    expect(samples.get('wavetrain_event_loop_lag_seconds{of="max"}')).to.be.above(0.03).and.below(5);
  });
});
