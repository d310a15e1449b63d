import { WavetrainError } from '../../common/errors.js';
import type { RunRegistry } from '../../runs/registry.js';

/**
 * What a key may be used for: `read` looks at runs, `run` starts, cancels, reruns and deletes them, `metrics` reads
 * the figures of the whole server.
 */
export type Scope = 'read' | 'run' | 'metrics';

export const SCOPES: readonly Scope[] = ['read', 'run', 'metrics'];

/** Who asks: the name of a key, and what it may see and do (D37). */
export interface Caller {
  /** Of the key; null when no keys are in use. */
  readonly name: string | null;
  /** Whose runs it sees and starts; null is every tenant's. */
  readonly tenants: readonly string[] | null;
  readonly scopes: readonly Scope[];
}

/** Everybody, where no keys are in use. */
export const ANYONE: Caller = { name: null, tenants: null, scopes: SCOPES };

const DEFAULT_TENANT = 'default';

export function mayUse({ tenants }: Caller, tenantId: string): boolean {
  return tenants === null || tenants.includes(tenantId);
}

/**
 * The tenant that a run is started for: the one asked for, else `default`, else the first that the caller has.
 *
 * @throws WavetrainError `forbidden` when the caller does not have the one asked for
 */
export function tenantFor(caller: Caller, asked?: string): string {
  if (asked === undefined) {
    return mayUse(caller, DEFAULT_TENANT) ? DEFAULT_TENANT : (caller.tenants?.[0] ?? DEFAULT_TENANT);
  }
  if (mayUse(caller, asked)) return asked;
  throw new WavetrainError('forbidden', `this key may not use tenant "${asked}"`);
}

/**
 * The id of a run that the caller may see. What it may not see is not there for it (D37).
 *
 * @throws WavetrainError `run_not_found`
 */
export function visibleRun(registry: RunRegistry, caller: Caller, runId: string): string {
  if (mayUse(caller, registry.tenantOf(runId))) return runId;
  throw new WavetrainError('run_not_found', `there is no run ${runId}`);
}

/** What a tenant may be called: words of which no harm comes in logs, queries and headers. */
export const TENANT_ID = '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$';

/** A key that callers may use, as the keys file lists it (D37). The key itself is known to its owner alone. */
export interface Key {
  /** Stands in the log. */
  readonly name: string;
  /** Of the key, in hexadecimal. */
  readonly sha256: string;
  /** Whose runs it sees and starts; `*` alone is every tenant. */
  readonly tenants: readonly string[];
  readonly scopes: readonly Scope[];
}
