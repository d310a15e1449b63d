import { WavetrainError } from '../common/errors.js';
import { LIBRARY_LIMITS } from './limits.js';

interface Allowance {
  readonly tenant: number;
  /** The amount that a tenant may have whatever the others have beyond their shares. */
  readonly share: number;
  /** Limit of all shares together; the same limit applies to everything beyond the shares. */
  readonly all: number;
}

/**
 * The amounts that the tenants have of something. Amounts that fit together do so in any order, so that a server that
 * reads its folder again finds room for all that was saved.
 */
class TenantQuota {
  readonly #allowance: Allowance;
  readonly #byTenant = new Map<string, number>();
  #shares = 0;
  #beyond = 0;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  /** @param amount below zero, to take it away */
  add(tenantId: string, amount: number): void {
    const { had, share } = this.#compare(tenantId, amount);
    this.#shares += share;
    this.#beyond += amount - share;
    if (had + amount === 0) this.#byTenant.delete(tenantId);
    else this.#byTenant.set(tenantId, had + amount);
  }

  /** Says which limit refuses `more`; undefined when it fits. */
  findObstacle(tenantId: string, more: number): 'tenant' | 'folder' | undefined {
    if (more <= 0) return undefined;
    const { tenant, all } = this.#allowance;
    const { had, share } = this.#compare(tenantId, more);
    if (had + more > tenant) return 'tenant';
    const areSharesFull = share > 0 && this.#shares + share > all;
    const isRestFull = more > share && this.#beyond + more - share > all;
    return areSharesFull || isRestFull ? 'folder' : undefined;
  }

  #compare(tenantId: string, more: number): { readonly had: number; readonly share: number } {
    const had = this.#byTenant.get(tenantId) ?? 0;
    const { share } = this.#allowance;
    return { had, share: Math.min(had + more, share) - Math.min(had, share) };
  }
}

/**
 * Shares the room of the folder between the tenants (D69). A file that holds room keeps it: only a file that is new, or
 * has grown, may find none.
 */
export class FolderRoom {
  readonly #held = new Map<string, { readonly tenantId: string; readonly bytes: number }>();
  readonly #bytes = new TenantQuota({
    tenant: LIBRARY_LIMITS.tenantBytes,
    share: LIBRARY_LIMITS.tenantShareBytes,
    all: LIBRARY_LIMITS.bytes,
  });
  readonly #files = new TenantQuota({
    tenant: LIBRARY_LIMITS.tenantFiles,
    share: LIBRARY_LIMITS.tenantShareFiles,
    all: LIBRARY_LIMITS.files / 2,
  });

  /** Returns the bytes that a file holds; 0 for a file that is not known. */
  heldBy(path: string): number {
    return this.#held.get(path)?.bytes ?? 0;
  }

  hasRoom(path: string, tenantId: string, bytes: number): boolean {
    return this.#bytes.findObstacle(tenantId, bytes - this.heldBy(path)) === undefined;
  }

  /** Lets a file hold so many bytes from now on, whether or not there is room for them. */
  hold(path: string, tenantId: string, bytes: number): void {
    this.#bytes.add(tenantId, bytes - this.heldBy(path));
    if (!this.#held.has(path)) this.#files.add(tenantId, 1);
    this.#held.set(path, { tenantId, bytes });
  }

  release(path: string): void {
    const held = this.#held.get(path);
    if (held === undefined) return;
    this.#held.delete(path);
    this.#bytes.add(held.tenantId, -held.bytes);
    this.#files.add(held.tenantId, -1);
  }

  /** @throws WavetrainError `forbidden` when there is no room for a file that is to be saved with so many bytes */
  assertRoom(path: string, tenantId: string, bytes: number): void {
    const name = { tenant: `tenant "${tenantId}"`, folder: 'the folder' };
    if (!this.#held.has(path)) {
      const isFull = this.#held.size >= LIBRARY_LIMITS.files;
      const obstacle = this.#files.findObstacle(tenantId, 1) ?? (isFull ? 'folder' : undefined);
      if (obstacle !== undefined) {
        const message = `${name[obstacle]} has as many files as it may have: remove some first`;
        throw new WavetrainError('forbidden', message);
      }
    }
    const obstacle = this.#bytes.findObstacle(tenantId, bytes - this.heldBy(path));
    if (obstacle === undefined) return;
    const message = `the definitions of ${name[obstacle]} would be longer than they may be together: shorten or remove some first`;
    throw new WavetrainError('forbidden', message);
  }
}
