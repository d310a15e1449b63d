import type { LoopMonitor } from '../../lib/telemetry/metrics.js';

/** A monitor of the event loop that tells what it is told to; times in nanoseconds. */
export class HeldMonitor implements LoopMonitor {
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
