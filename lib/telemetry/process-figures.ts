import { collectDefaultMetrics, Registry } from 'prom-client';

let figures: Registry | undefined;

/**
 * Memory, processor time and garbage collection of this process, under the names that dashboards for Node.js know
 * (`process_*`, `nodejs_*`). There is one process and what watches it cannot be stopped again, so it is begun once,
 * whoever asks.
 */
export function processFigures(): Registry {
  if (figures === undefined) {
    figures = new Registry();
    collectDefaultMetrics({ register: figures });
  }
  return figures;
}
