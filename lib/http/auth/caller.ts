import { WavetrainError } from '../../common/errors.js';
import type { RunRegistry } from '../../runs/registry.js';

/**
 * What an API key permits: `read` shows runs; `run` starts, cancels, reruns and deletes them; `metrics` reads the
 * metrics of the whole server.
 */
export type KeyScope = 'read' | 'run' | 'metrics';

export const KEY_SCOPES: readonly KeyScope[] = ['read', 'run', 'metrics'];

/** The sender of a request (D37). */
export interface Caller {
  /** Name of the API key; null when the server has no keys. */
  readonly name: string | null;
  /** Tenants whose runs the caller may see and start; null for all tenants. */
  readonly tenants: readonly string[] | null;
  readonly scopes: readonly KeyScope[];
}

/** The caller of every request when the server has no keys. */
export const ANONYMOUS: Caller = { name: null, tenants: null, scopes: KEY_SCOPES };

/** Allows only characters that are harmless in logs, queries and headers. */
export const TENANT_ID_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$';

const DEFAULT_TENANT = 'default';

export function canUseTenant({ tenants }: Caller, tenantId: string): boolean {
  return tenants === null || tenants.includes(tenantId);
}

/**
 * Returns the tenant of a new run: the requested one, else `default`, else the caller's first.
 *
 * @throws WavetrainError `forbidden` when the caller may not use the requested tenant
 */
export function resolveTenant(caller: Caller, requested?: string): string {
  if (requested === undefined) {
    return canUseTenant(caller, DEFAULT_TENANT) ? DEFAULT_TENANT : (caller.tenants?.[0] ?? DEFAULT_TENANT);
  }
  if (canUseTenant(caller, requested)) return requested;
  throw new WavetrainError('forbidden', `this key may not use tenant "${requested}"`);
}

/**
 * Returns the run id if the caller may see the run. Runs of other tenants are reported as not found (D37).
 *
 * @throws WavetrainError `run_not_found`
 */
export function authorizeRun(registry: RunRegistry, caller: Caller, runId: string): string {
  if (canUseTenant(caller, registry.tenantId(runId))) return runId;
  throw new WavetrainError('run_not_found', `there is no run ${runId}`);
}
