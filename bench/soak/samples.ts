import { Api } from './api.js';

/** The metrics of the server, read once a second. */
export class Samples {
  /** Resident memory, in MiB. */
  readonly memory: number[] = [];
  /** By place: how often work has held the event loop for too long, and for how many seconds at most. */
  readonly overruns = new Map<string, { count: number; longest: number }>();
  readonly #api: Api;
  readonly #timer: NodeJS.Timeout;

  constructor(url: string, key: string) {
    this.#api = new Api(url, key, 10_000);
    // The server may answer too late: then there is one sample less.
    this.#timer = setInterval(() => void this.#take().catch(() => undefined), 1000);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#api.close();
  }

  async #take(): Promise<void> {
    const { text } = await this.#api.send('GET', '/metrics');
    const [, bytes = ''] = /^process_resident_memory_bytes(?:\{.*\})? (\S+)/m.exec(text) ?? [];
    if (bytes === '') return;
    this.memory.push(Number(bytes) / 2 ** 20);
    for (const [, metric, place = '', value] of text.matchAll(OVERRUN)) {
      const overruns = this.overruns.get(place) ?? { count: 0, longest: 0 };
      if (metric === 'total') overruns.count = Number(value);
      else overruns.longest = Math.max(overruns.longest, Number(value));
      this.overruns.set(place, overruns);
    }
  }
}

const OVERRUN = /^wavetrain_event_loop_overrun_(total|longest_seconds)\{place="(\w+)"\} (\S+)/gm;
