/** The part of the folder of the server that has started a run (D70, D71). */
export type RunTrigger = 'schedule' | 'webhook';

/** `key`: a request with an API key; `anonymous`: a request to a server without keys; `mcp`: an MCP host. */
export const STARTED_BY_KINDS = ['key', 'anonymous', 'schedule', 'webhook', 'mcp', 'cli', 'library'] as const;

/** The caller, or the part of Wavetrain, that has started a run (D75). */
export interface StartedBy {
  readonly kind: (typeof STARTED_BY_KINDS)[number];
  /** The name of the key or of the MCP host, or the id of the definition with the schedule or webhook; else null. */
  readonly name: string | null;
}

/** The command line, which has also started the runs of which an earlier version has not kept it. */
export const BY_COMMAND_LINE: StartedBy = { kind: 'cli', name: null };

/** Selects runs by who has started them (D75). */
export interface StartedByFilter {
  readonly kind: StartedBy['kind'];
  /** Undefined selects all of the kind. */
  readonly name: string | undefined;
}

/** Reads a filter such as `schedule` or `key:ci`. Returns undefined for a kind that does not exist. */
export function readStartedBy(text: string): StartedByFilter | undefined {
  return readKindAndName(text, STARTED_BY_KINDS);
}

/** Reads one of several kinds, with a name behind a colon if it has one. Returns undefined for a kind that does not exist. */
export function readKindAndName<K extends string>(
  text: string,
  kinds: readonly K[],
): { readonly kind: K; readonly name: string | undefined } | undefined {
  const [word = ''] = text.split(':', 1);
  const kind = kinds.find((one) => one === word);
  return kind && { kind, name: text.length > kind.length ? text.slice(kind.length + 1) : undefined };
}

export function matchesStartedBy({ kind, name }: StartedByFilter, startedBy: StartedBy): boolean {
  return startedBy.kind === kind && (name === undefined || startedBy.name === name);
}

/** Shows who has started a run or done something else, as in `key ci`. */
export function formatStartedBy({
  kind,
  name,
}: {
  readonly kind: string;
  readonly name: string | null;
}): string {
  return name === null ? kind : `${kind} ${name}`;
}
