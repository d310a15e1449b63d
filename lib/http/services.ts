import type { Clock } from '../common/clock.js';
import type { KnownPipelines } from '../pipelines/validation-cache.js';
import type { RunRegistry } from '../runs/registry.js';
import type { Catalog } from '../tools/catalog.js';
import type { Caller } from './auth/caller.js';
import type { Guard } from './security/host-guard.js';

/** What a server says about itself, for those who operate it. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Who asks? Answers undefined when the request carries no key that is known (D37). */
export type Authenticate = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
) => Caller | undefined;

/** Figures as Prometheus reads them. */
export interface Figures {
  readonly contentType: string;
  read(): Promise<string>;
  /** A request was answered. */
  answered(route: string, method: string, status: number, durationMs: number): void;
}

/** What the routes work with. */
export interface HttpServices {
  readonly registry: RunRegistry;
  readonly catalog: Catalog;
  /** Checks definitions. */
  readonly pipelines: KnownPipelines;
  readonly clock: Clock;
  readonly log: Log;
  readonly authenticate: Authenticate;
  readonly guard: Guard;
  readonly figures: Figures;
  /** Of one request body, in bytes. */
  readonly bodyLimitBytes: number;
  /** False while the server shuts down. */
  readonly isReady: () => boolean;
  /** A new id for a bug report. */
  readonly newId: () => string;
  /** Version of this package. */
  readonly version: string;
}
