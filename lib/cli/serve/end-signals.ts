import type { ProcessEvents } from '../context.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The signals that ask a server to end: politely, then at once. */
export class EndSignals {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
  readonly #events: ProcessEvents;
  #hear: (() => void)[] = [];

  constructor(events: ProcessEvents) {
    this.#events = events;
    this.first = this.#next();
    this.second = this.#next();
    for (const signal of SIGNALS) events.on(signal, this.#onSignal);
  }

  close(): void {
    for (const signal of SIGNALS) this.#events.off(signal, this.#onSignal);
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#hear.push(resolve);
    });
  }

  readonly #onSignal = (): void => {
    this.#hear.shift()?.();
  };
}
