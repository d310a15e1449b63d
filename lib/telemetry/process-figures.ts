import { collectDefaultMetrics, Registry } from 'prom-client';

let figures: Registry | undefined;

/**
 * Memory, processor time, garbage collection and event-loop lag of this process, under the names that dashboards for
 * Node.js know (`process_*`, `nodejs_*`). There is one process and what watches it cannot be stopped again, so it is
 * begun once, whoever asks. The lag is told since it was last read.
 */
export function processFigures(): Registry {
  if (figures === undefined) {
    figures = new Registry();
    collectDefaultMetrics({ register: figures });
  }
  return figures;
}
