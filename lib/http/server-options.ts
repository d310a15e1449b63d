import type { Clock } from '../common/clock.js';
import type { AttemptObserver } from '../execution/invocation/attempt-observer.js';
import type { RunFacts } from '../runs/registry.js';
import type { LiveEvent } from '../execution/events/event.js';
import type { Catalog } from '../tools/catalog.js';
import type { FileAccess } from '../tools/tool.js';
import type { ServerConfig } from '../common/config.js';
import type { Key } from './auth/keys-file.js';
import type { Log } from './services.js';

/** Those who watch every run, beside the server's own figures: tracing. */
export interface RunWatcher {
  readonly onEvent: (event: LiveEvent, run: RunFacts) => void;
  readonly onAttempt: AttemptObserver;
}

/** What a server is made of. */
export interface ServerSettings {
  readonly config: ServerConfig;
  readonly catalog: Catalog;
  /** Where tools may read. */
  readonly files: FileAccess;
  /** Undefined: nobody needs one. */
  readonly keys: readonly Key[] | undefined;
  readonly log: Log;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly version: string;
  readonly watcher?: RunWatcher | undefined;
}
