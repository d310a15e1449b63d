import { appendFileSync, openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** The event loop of the server in some seconds. All times are in milliseconds. */
export interface LoopWindow {
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** The longest gap in CPU time of the main thread: what it was kept waiting by others does not count. */
  readonly cpu: number;
  /** The end of the window, in seconds since the server was started. */
  readonly at: number;
}

const WINDOW_MS = 5000;

/** Between two looks at the CPU time; a gap is that much too long at most. */
const TICK_MS = 5;

/** Node.js adds this to every delay that it reports. */
const RESOLUTION_MS = 5;

/** Appends a window to a file, as a line of JSON, every five seconds. */
function observe(path: string): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const cpu = new ThreadTime();
  let longestCpu = 0;
  let ends = performance.now() + WINDOW_MS;
  const tick = (): void => {
    longestCpu = Math.max(longestCpu, cpu.takeMs());
    if (performance.now() < ends) return;
    ends += WINDOW_MS;
    const toMs = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS);
    const window: LoopWindow = {
      p50: toMs(delay.percentile(50)),
      p99: toMs(delay.percentile(99)),
      longest: toMs(delay.max),
      cpu: longestCpu,
      at: performance.now() / 1000,
    };
    appendFileSync(path, `${JSON.stringify(window)}\n`);
    delay.reset();
    longestCpu = 0;
    cpu.takeMs();
  };
  setInterval(tick, TICK_MS).unref();
}

/** The CPU time of the main thread, as Linux counts it. */
class ThreadTime {
  readonly #file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  readonly #buffer = Buffer.alloc(100);
  #latestNs = 0;

  constructor() {
    this.takeMs();
  }

  /** Since this was last called. */
  takeMs(): number {
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0);
    const ns = Number(this.#buffer.toString('latin1', 0, length).split(' ')[0]);
    const ms = (ns - this.#latestNs) / 1e6;
    this.#latestNs = ns;
    return ms;
  }
}

// Preloaded into the server, whose worker threads load it too.
const file = process.env['SOAK_PROBE'];
if (isMainThread && file !== undefined) observe(file);
