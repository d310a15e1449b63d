import { Registry } from 'prom-client';
import type { AttemptObserver } from '../execution/attempt-observer.js';
import type { LiveEvent } from '../execution/event.js';
import type { RunFacts, RunRegistry } from '../runs/registry.js';

/** The figures of a server, as Prometheus reads them (D35). */
export class Metrics {
  readonly #registry = new Registry();

  get contentType(): string {
    return this.#registry.contentType;
  }

  read(): Promise<string> {
    return this.#registry.metrics();
  }

  answered(_route: string, _method: string, _status: number, _durationMs: number): void {}

  readonly onEvent = (_event: LiveEvent, _run: RunFacts): void => {};

  readonly onAttempt: AttemptObserver = () => () => {};

  watch(_registry: RunRegistry): void {}

  close(): void {}
}
