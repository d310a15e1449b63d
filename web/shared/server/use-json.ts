import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { messageOf, type Server, ServerError } from './server.js';

/** What a path of the server has answered. */
export interface Loaded<T> {
  /** The last answer; undefined before the first one. */
  readonly value: T | undefined;
  /** Why the last request failed; empty when it did not. */
  readonly problem: string;
  /** The code of that error, as in `run_not_found`. */
  readonly code: string;
  /** Reads it again now. */
  readonly reload: () => void;
}

const NOTHING = { value: undefined, problem: '', code: '' };

/** After so many failures, the time between two requests does not grow any more. */
const MOST_DOUBLINGS = 4;

/**
 * Reads a path of the server, and reads it again every `refreshMs` while the tab is visible: less often when it fails. A
 * path that is null is not read; with another path, the value of the last one is dropped unless `keep` is set.
 */
export function useJson<T>(
  server: Server,
  path: string | null,
  { refreshMs = 0, keep = false }: { readonly refreshMs?: number; readonly keep?: boolean } = {},
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>(NOTHING);
  const [round, setRound] = useState(0);
  const failures = useRef(0);
  const shownPath = useRef(path);
  const needsKey = server.needsKey.value;

  useEffect(() => {
    if (shownPath.current !== path && !keep) setState(NOTHING);
    shownPath.current = path;
    if (path === null || needsKey) return;
    const end = new AbortController();
    let timer = 0;
    const next = (): void => {
      if (refreshMs > 0) timer = window.setTimeout(refresh, refreshMs * 2 ** failures.current);
    };
    const refresh = (): void => {
      if (document.hidden) return next();
      void read();
    };
    const read = async (): Promise<void> => {
      try {
        const value = await server.getJson<T>(path, {}, end.signal);
        failures.current = 0;
        setState({ value, problem: '', code: '' });
      } catch (error) {
        if (end.signal.aborted) return;
        failures.current = Math.min(failures.current + 1, MOST_DOUBLINGS);
        const code = error instanceof ServerError ? error.code : '';
        setState((last) => ({ ...last, problem: messageOf(error), code }));
      }
      if (!end.signal.aborted) next();
    };
    void read();
    // Whoever comes back to the tab does not wait for the timer.
    const onVisible = (): void => {
      if (document.hidden || refreshMs === 0) return;
      window.clearTimeout(timer);
      void read();
    };
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      end.abort();
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [server, path, round, refreshMs, keep, needsKey]);

  const reload = useCallback(() => setRound((last) => last + 1), []);
  return { ...state, reload };
}
