import { Counter, Histogram, type Registry } from 'prom-client';

/** Upper bounds in seconds: from a health check to a synchronous run or a stream. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** A caller may make up methods; each would be a series of its own. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What callers asked for, and how long they waited. */
export class RequestFigures {
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #durations: Histogram<'route' | 'method'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'wavetrain_http_requests_total',
      help: 'Requests that were answered. The route of those that none took is "none".',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'wavetrain_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer; that of an event stream is as long as it was open.',
      labelNames: ['route', 'method'],
      buckets: REQUEST_SECONDS,
      registers,
    });
  }

  /** @param route a path of the route table, or `none` */
  answered(route: string, method: string, status: number, durationMs: number): void {
    const known = METHODS.has(method) ? method : 'other';
    this.#requests.inc({ route, method: known, status });
    this.#durations.observe({ route, method: known }, durationMs / 1000);
  }
}
