import { type IntervalHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  type EventLoopOverruns,
  eventLoopOverruns,
  PLACES,
} from '../common/scheduling/event-loop-overruns.js';

/** Sampling interval of the event loop. Node.js includes it in every delay that it reports. */
const INTERVAL_MS = 10;

/** The parts of Node's monitor that are used. Times are in nanoseconds. */
export type EventLoopMonitor = Pick<
  IntervalHistogram,
  'count' | 'mean' | 'max' | 'percentile' | 'reset' | 'enable' | 'disable'
>;

/** Measures how long timers had to wait for the event loop since the last read, and who has held it for too long. */
export class EventLoopMetrics {
  readonly #monitor: EventLoopMonitor;
  readonly #collector: PerformanceObserver;

  /** @param overruns default: those of this process */
  constructor(
    registry: Registry,
    monitor: EventLoopMonitor = monitorEventLoopDelay({ resolution: INTERVAL_MS }),
    overruns = eventLoopOverruns,
  ) {
    this.#monitor = monitor;
    monitor.enable();
    const lag = new Gauge({
      name: 'wavetrain_event_loop_lag_seconds',
      help: 'How late timers fired since the last read because the event loop was busy. Unlike nodejs_eventloop_lag, 0 if none was late.',
      labelNames: ['of'],
      registers: [registry],
      collect: () => {
        lag.set({ of: 'mean' }, this.#toLagSeconds(monitor.mean));
        lag.set({ of: 'p99' }, this.#toLagSeconds(monitor.percentile(99)));
        lag.set({ of: 'max' }, this.#toLagSeconds(monitor.max));
        monitor.reset();
      },
    });
    addOverruns(registry, overruns);
    this.#collector = observeCollector(overruns);
  }

  close(): void {
    this.#monitor.disable();
    this.#collector.disconnect();
  }

  #toLagSeconds(delayNs: number): number {
    return this.#monitor.count === 0 ? 0 : Math.max(0, delayNs / 1e6 - INTERVAL_MS) / 1000;
  }
}

function addOverruns(registry: Registry, overruns: EventLoopOverruns): void {
  const registers = [registry];
  const total = new Counter({
    name: 'wavetrain_event_loop_overrun_total',
    help: 'Stretches of work that have held the event loop for more than 8 ms, by place.',
    labelNames: ['place'],
    registers,
    collect: () => {
      total.reset();
      for (const place of PLACES) total.inc({ place }, overruns.count(place));
    },
  });
  const longest = new Gauge({
    name: 'wavetrain_event_loop_overrun_longest_seconds',
    help: 'The longest of these stretches since the last read; 0 if there was none.',
    labelNames: ['place'],
    registers,
    collect: () => {
      for (const place of PLACES) longest.set({ place }, overruns.takeLongestMs(place) / 1000);
    },
  });
}

/** Counts the pauses of the garbage collector. */
function observeCollector(overruns: EventLoopOverruns): PerformanceObserver {
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) overruns.add('garbage_collection', duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  return observer;
}
