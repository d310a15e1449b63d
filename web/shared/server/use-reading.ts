import { useEffect, useRef, useState } from 'preact/hooks';
import { BrowserScheduler } from './browser-scheduler.js';
import { Polling } from './polling.js';
import { messageOf } from './server.js';

/** The result of the last reads. */
interface Reading<T> {
  /** The last value that was read; undefined before the first one. */
  readonly value: T | undefined;
  /** Why the last read failed; empty when it did not. */
  readonly problem: string;
}

/** When something is read again. */
export interface ReadingOptions {
  /** Milliseconds between two reads while the tab is visible: more when they fail. 0, the default, reads once. */
  readonly refreshMs?: number;
  /** Reads again only when this number has changed, or the last read has failed; undefined reads again always. */
  readonly round?: number;
  /** Keeps the value that was read before under another name until there is one under the new name. */
  readonly keep?: boolean;
}

/**
 * Reads something, and reads it again as the options say, one read at a time.
 *
 * @param name what is read: with another name, `read` is taken anew; null reads nothing
 */
export function useReading<T>(
  name: string | null,
  read: (signal: AbortSignal) => Promise<T>,
  { refreshMs = 0, round, keep = false }: ReadingOptions = {},
): Reading<T> {
  const [reading, setReading] = useState<Reading<T>>({ value: undefined, problem: '' });
  const shownName = useRef(name);
  const latestRound = useRef(round);
  latestRound.current = round;

  useEffect(() => {
    if (shownName.current !== name && !keep) setReading({ value: undefined, problem: '' });
    shownName.current = name;
    if (name === null) return;
    let readRound: number | undefined;
    let hasFailed = false;
    const polling = new Polling({
      read: async (signal) => {
        readRound = latestRound.current;
        hasFailed = false;
        try {
          const value = await read(signal);
          if (!signal.aborted) setReading({ value, problem: '' });
        } catch (error) {
          hasFailed = true;
          if (!signal.aborted) setReading((last) => ({ ...last, problem: messageOf(error) }));
        }
        return !hasFailed;
      },
      pauseMs: refreshMs,
      isDue: () =>
        !document.hidden &&
        (hasFailed || latestRound.current === undefined || latestRound.current !== readRound),
      waiter: new BrowserScheduler(),
    });
    // A reader who comes back to the tab does not wait for the timer.
    const onVisible = (): void => {
      if (!document.hidden) polling.hurry();
    };
    document.addEventListener('visibilitychange', onVisible);
    void polling.run();
    return () => {
      polling.close();
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [name, refreshMs, keep]);

  return reading;
}
