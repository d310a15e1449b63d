import type { Catalog } from '../tools/catalog.js';
import type { ApiKey } from './auth/authenticate.js';

/** The kinds of configuration that a server reads again. */
export const RELOAD_KINDS = ['keys', 'secrets', 'connections', 'tools', 'models', 'settings'] as const;

/** The names, and never values, that have changed of one kind. */
export interface ReloadChange {
  readonly kind: (typeof RELOAD_KINDS)[number];
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly changed?: readonly string[];
}

/** A change of a file, the signal SIGHUP, or a request. */
export const RELOAD_CAUSES = ['file', 'signal', 'request'] as const;

export type ReloadCause = (typeof RELOAD_CAUSES)[number];

/** An attempt to read the configuration again. */
export interface Reload {
  /** ISO 8601. */
  readonly at: string;
  readonly cause: ReloadCause;
  /** Null when what was read is used; otherwise all stays as it was, for this reason. */
  readonly error: string | null;
  readonly changes: readonly ReloadChange[];
  /** Variables that have changed and that only a restart uses. */
  readonly needRestart: readonly string[];
}

/** Receives every attempt: an audit log finds changed keys in its changes. */
export type ReloadListener = (reload: Reload) => void;

/** The parts of a running server that a reload replaces. */
export interface ReloadTarget {
  /** Uses other keys from now on, and ends the streams of those that were removed or changed (D37). */
  useKeys(keys: readonly ApiKey[]): Omit<ReloadChange, 'kind'>;
  /** Uses other tools for runs that begin from now on. Those at work keep theirs. */
  useCatalog(catalog: Catalog): void;
  readonly onReload: ReloadListener;
}

/** Reads the configuration of a running server again. */
export interface ServerReload {
  /** The last attempt; undefined before the first. */
  readonly last: Reload | undefined;
  /** Reads everything again. Never rejects. */
  reload(cause: ReloadCause): Promise<Reload>;
  /**
   * Begins to watch the files, and reads them again when they change.
   *
   * @param seen a text for each file that differs when it has changed since the server has read it
   */
  watch(seen: ReadonlyMap<string, string>): Promise<void>;
  close(): void;
}

/** Names what differs between two lists of named values. */
export function compareNamed<T>(
  before: ReadonlyMap<string, T>,
  now: ReadonlyMap<string, T>,
  isSame: (one: T, other: T) => boolean = Object.is,
): Required<Omit<ReloadChange, 'kind'>> {
  const isOther = ([name, value]: readonly [string, T]): boolean => {
    const earlier = before.get(name);
    return earlier !== undefined && !isSame(earlier, value);
  };
  return {
    added: [...now.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !now.has(name)),
    changed: [...now].filter(isOther).map(([name]) => name),
  };
}

/** Returns undefined when nothing was added, removed or changed. */
export function changesOrUndefined(
  changes: Omit<ReloadChange, 'kind'>,
): Omit<ReloadChange, 'kind'> | undefined {
  return Object.values(changes).every(({ length }) => length === 0) ? undefined : changes;
}
