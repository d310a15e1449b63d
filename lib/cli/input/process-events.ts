import { platform } from 'node:os';
import { errorMessage } from '../../common/errors.js';
import { toSingleLine } from '../render/text.js';

/** Emits signals and uncaught errors: `process`, or an emitter in specs. */
export interface ProcessEvents {
  on(name: string, listener: (...details: unknown[]) => void): unknown;
  off(name: string, listener: (...details: unknown[]) => void): unknown;
  removeAllListeners(name: string): unknown;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The signals that mean something. */
const COUNTED = 2;

/** Counts requests to stop, from Ctrl-C (SIGINT) or SIGTERM: the first asks politely, the second insists. */
export class StopSignals {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
  readonly #events: ProcessEvents;
  readonly #waiting: (() => void)[] = [];

  constructor(events: ProcessEvents) {
    this.#events = events;
    this.first = this.#nextSignal();
    this.second = this.#nextSignal();
    for (const signal of SIGNALS) events.on(signal, this.#onSignal);
  }

  get hasCome(): boolean {
    return this.#waiting.length < COUNTED;
  }

  close(): void {
    for (const signal of SIGNALS) this.#events.off(signal, this.#onSignal);
  }

  #nextSignal(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  readonly #onSignal = (): void => {
    this.#waiting.shift()?.();
  };
}

/** Acts until the first signal, which aborts what is under way. Returns undefined then. */
export async function untilSignal<T>(
  events: ProcessEvents,
  act: (stopping: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const signals = new StopSignals(events);
  const stopping = new AbortController();
  const interrupted = signals.first.then(() => stopping.abort());
  try {
    return (await Promise.race([act(stopping.signal), interrupted])) ?? undefined;
  } catch (error) {
    if (stopping.signal.aborted) return undefined;
    throw error;
  } finally {
    signals.close();
  }
}

/**
 * Acts on SIGHUP, which asks a server to read its configuration again. Returns a function that stops it. Windows sends the
 * signal only when the console is closed, and ends the process then: there nothing is done.
 */
export function onHangup(events: ProcessEvents, act: () => void): () => void {
  if (platform() === 'win32') return () => undefined;
  events.on('SIGHUP', act);
  return () => void events.off('SIGHUP', act);
}

const UNCAUGHT = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Prints errors that no task can catch, because a tool throws them in a callback or after it has settled. The process
 * and its runs continue. Returns a function that stops it. @param mask replaces secrets (D61)
 */
export function reportUncaughtToolErrors(
  events: ProcessEvents,
  print: (line: string) => void,
  mask?: (text: string) => string,
): () => void {
  const report = (thrown: unknown): void => {
    print(`uncaught error in a tool, outside its task: ${toSingleLine(errorMessage(thrown, mask))}`);
  };
  for (const event of UNCAUGHT) events.on(event, report);
  return () => {
    for (const event of UNCAUGHT) events.off(event, report);
  };
}
