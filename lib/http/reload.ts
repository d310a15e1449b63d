/** The kinds of configuration that a server reads again. */
export type ReloadKind = 'keys' | 'secrets' | 'connections' | 'tools' | 'models' | 'settings';

/** What has changed of one kind. Names, and never values. */
export interface ReloadChange {
  readonly kind: ReloadKind;
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly changed?: readonly string[];
}

/** A change of a file, the signal SIGHUP, or a request. */
export type ReloadCause = 'file' | 'signal' | 'request';

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

/** Reads the configuration of a running server again. */
export interface ServerReload {
  /** The last attempt; undefined before the first. */
  readonly last: Reload | undefined;
  /** Reads everything again. Never rejects. */
  reload(cause: ReloadCause): Promise<Reload>;
}
