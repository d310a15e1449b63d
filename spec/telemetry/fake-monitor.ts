import type { EventLoopMonitor } from '../../lib/telemetry/event-loop-metrics.js';

/** An event-loop monitor whose values a spec sets, in nanoseconds. */
export class FakeMonitor implements EventLoopMonitor {
  count = 0;
  mean = Number.NaN;
  max = 0;
  p99 = 0;
  enabled = false;

  percentile(percentile: number): number {
    return percentile === 99 ? this.p99 : Number.NaN;
  }

  reset(): void {
    Object.assign(this, { count: 0, mean: Number.NaN, max: 0, p99: 0 });
  }

  enable(): boolean {
    return (this.enabled = true);
  }

  disable(): boolean {
    this.enabled = false;
    return true;
  }
}
