import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';

/** The longest task of the page's main thread, in milliseconds. */
export interface LongTasks {
  /** Processor time of the longest task: what it takes where nothing else runs. */
  readonly longest: number;
  /** The longest task as the browser saw it, waiting for the processor included; 0 when none took over 50 ms. */
  readonly longestSeen: number;
}

/**
 * How often a reader does the same. A virtual machine whose processor is shared counts some of the time that others had it
 * as its own: 7 ms of fixed work are then 100 now and then. The median of several times is what the page takes.
 */
const REPEATS = 5;

/** Keeps the tasks over 50 ms, as browsers call long, from the first script of the page on. */
const OBSERVE = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });
`;

/** A line of a trace of Chromium; times in microseconds. */
interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Does something in each of many frames of the page, as a reader does who drags. */
const EACH_FRAME = `
  globalThis.eachFrame = (frames, work) => new Promise((resolve) => {
    let frame = 0;
    const next = () => {
      if (frame === frames) return resolve();
      work(frame++ / (frames - 1));
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
`;

/** Scrolls a list from its start to its end and back. */
const SCROLL = `(selector) => {
  const list = document.querySelector(selector);
  const end = list.scrollHeight - list.clientHeight;
  return eachFrame(120, (part) => { list.scrollTop = end * (1 - Math.abs(1 - 2 * part)); });
}`;

/** Moves the slider from its start to its end, and to and fro between moments far apart. */
const SCRUB = `() => {
  const slider = document.querySelector('input[type=range]');
  const [from, to] = [Number(slider.min), Number(slider.max)];
  const move = (part) => {
    slider.value = String(Math.round(from + (to - from) * part));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  };
  return eachFrame(120, move).then(() => eachFrame(40, (part) => move(Math.round(part * 39) % 2 ? 0.02 : 0.98)));
}`;

/** Selects a row of the list in each frame, at another place of it. */
const SELECT = `(selector) => {
  const list = document.querySelector(selector);
  const end = list.scrollHeight - list.clientHeight;
  return eachFrame(60, (part) => {
    list.scrollTop = end * part;
    const rows = list.querySelectorAll('.row.entry, .row.actor');
    rows[Math.floor(rows.length / 2)]?.click();
  });
}`;

const PASTE = `(text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', text);
  document
    .querySelector('.editor-host')
    .shadowRoot.querySelector('.cm-content')
    .dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
}`;

/** A reader of the page of a run, in a browser. */
export class Reader {
  readonly page: Page;
  readonly #browser: Browser;
  readonly #devtools: CDPSession;

  private constructor(page: Page, browser: Browser, devtools: CDPSession) {
    this.page = page;
    this.#browser = browser;
    this.#devtools = devtools;
  }

  /** Opens Chromium with one page, which is empty. */
  static async open(): Promise<Reader> {
    const browser = await chromium.launch({
      executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
      chromiumSandbox: false,
      args: ['--disable-gpu', '--no-first-run', '--disable-background-networking'],
    });
    const page = await browser.newPage({ viewport: { width: 1360, height: 820 } });
    await page.addInitScript(OBSERVE + EACH_FRAME);
    return new Reader(page, browser, await page.context().newCDPSession(page));
  }

  /** Opens an address, and waits for the first actor, or for the first of other elements. */
  async show(url: string, first = '[role=treeitem]'): Promise<void> {
    await this.page.goto(url);
    await this.page.locator(first).first().waitFor();
  }

  /** Number of the last entry that the page knows. */
  async lastSeq(): Promise<number> {
    const text = (await this.page.locator('.moment').textContent()) ?? '';
    return Number(/of (\d+)/.exec(text)?.[1] ?? 0);
  }

  async scroll(list: '[role=tree]' | '[role=listbox]' | '.waves'): Promise<LongTasks> {
    return this.#measure(SCROLL, list);
  }

  async select(list: '[role=tree]' | '[role=listbox]'): Promise<LongTasks> {
    return this.#measure(SELECT, list);
  }

  async scrub(): Promise<LongTasks> {
    return this.#measure(SCRUB, '');
  }

  /** Begins to count tasks. */
  async watchTasks(): Promise<void> {
    // An empty page has not begun to keep long tasks.
    await this.page.evaluate('globalThis.longTasks?.splice(0)');
    await this.#browser.startTracing(this.page, { categories: ['toplevel'] });
  }

  /** The long tasks since they were counted. */
  async longTasks(): Promise<LongTasks> {
    const trace = JSON.parse(String(await this.#browser.stopTracing())) as { traceEvents: TraceEvent[] };
    const seen = await this.page.evaluate<number[]>('longTasks');
    const key = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;
    const { traceEvents } = trace;
    const pages = new Set(
      traceEvents
        .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
        .map(key),
    );
    let longest = 0;
    for (const event of traceEvents) {
      if (event.ph === 'X' && pages.has(key(event))) longest = Math.max(longest, event.tdur ?? 0);
    }
    if (longest === 0) throw new Error('the trace of the browser has no task of the page');
    return { longest: longest / 1000, longestSeen: Math.max(0, ...seen) };
  }

  /** Pastes a text into the editor. */
  async paste(text: string): Promise<void> {
    await this.page.evaluate(`(${PASTE})(${JSON.stringify(text)})`);
  }

  /** MiB of JavaScript's memory, without garbage. */
  async heap(): Promise<number> {
    await this.#devtools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await this.#devtools.send('Runtime.getHeapUsage');
    return usedSize / 2 ** 20;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  async #measure(script: string, list: string): Promise<LongTasks> {
    const all: LongTasks[] = [];
    for (let turn = 0; turn < REPEATS; turn++) {
      await this.watchTasks();
      await this.page.evaluate(`(${script})(${JSON.stringify(list)})`);
      all.push(await this.longTasks());
    }
    const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[REPEATS >> 1] ?? 0;
    return {
      longest: median(all.map(({ longest }) => longest)),
      longestSeen: median(all.map(({ longestSeen }) => longestSeen)),
    };
  }
}
