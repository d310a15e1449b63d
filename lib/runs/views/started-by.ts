import type { StartedBy } from '../../execution/run/base-run.js';

export const STARTED_BY_KINDS: readonly StartedBy['kind'][] = [
  'key',
  'anonymous',
  'schedule',
  'webhook',
  'mcp',
  'cli',
  'library',
];

/** Selects runs by who has started them (D75). */
export interface StartedByFilter {
  readonly kind: StartedBy['kind'];
  /** Undefined selects all of the kind. */
  readonly name: string | undefined;
}

/** Reads a filter such as `schedule` or `key:ci`. Returns undefined for a kind that does not exist. */
export function readStartedBy(text: string): StartedByFilter | undefined {
  const [word = ''] = text.split(':', 1);
  const kind = STARTED_BY_KINDS.find((one) => one === word);
  return kind && { kind, name: text.length > kind.length ? text.slice(kind.length + 1) : undefined };
}

export function matchesStartedBy({ kind, name }: StartedByFilter, startedBy: StartedBy): boolean {
  return startedBy.kind === kind && (name === undefined || startedBy.name === name);
}

/** Shows who has started a run, as in `key ci`. */
export function formatStartedBy({ kind, name }: StartedBy): string {
  return name === null ? kind : `${kind} ${name}`;
}
