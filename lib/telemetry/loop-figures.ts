import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** How often the loop is looked at. Node.js counts this time into every delay that it tells. */
const INTERVAL_MS = 10;

/** What is needed of Node's monitor; times in nanoseconds. */
export type LoopMonitor = Pick<
  IntervalHistogram,
  'count' | 'mean' | 'max' | 'percentile' | 'reset' | 'enable' | 'disable'
>;

/** How long timers had to wait because the event loop was busy, since it was last read. */
export class LoopFigures {
  readonly #monitor: LoopMonitor;

  constructor(registry: Registry, monitor: LoopMonitor = monitorEventLoopDelay({ resolution: INTERVAL_MS })) {
    this.#monitor = monitor;
    monitor.enable();
    const lag = new Gauge({
      name: 'wavetrain_event_loop_lag_seconds',
      help: 'How late the event loop was since the last reading. Unlike nodejs_eventloop_lag, 0 when it was never late.',
      labelNames: ['of'],
      registers: [registry],
      collect: () => {
        lag.set({ of: 'mean' }, this.#lag(monitor.mean));
        lag.set({ of: 'p99' }, this.#lag(monitor.percentile(99)));
        lag.set({ of: 'max' }, this.#lag(monitor.max));
        monitor.reset();
      },
    });
  }

  /** Looks no more. */
  close(): void {
    this.#monitor.disable();
  }

  #lag(delayNs: number): number {
    return this.#monitor.count === 0 ? 0 : Math.max(0, delayNs / 1e6 - INTERVAL_MS) / 1000;
  }
}
