import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 1000;

/** The time in milliseconds since 1970, which goes on each second while the tab is visible. */
export function useNow(isRunning = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    const timer = window.setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, TICK_MS);
    return () => window.clearInterval(timer);
  }, [isRunning]);
  return now;
}
