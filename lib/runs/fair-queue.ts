import { Line } from './linked-set.js';

/**
 * What waits, by tenant: each tenant's in the order in which it came, and the tenants in turn, so that nobody's
 * thousand keeps another's one waiting (D25). Every operation takes the same time however many wait.
 */
export class FairQueue<T> {
  readonly #waiting = new Map<string, Line<T>>();
  /** Tenants for whom something waits; the one whose turn it is stands first. */
  readonly #turns = new Line<string>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(tenantId: string, waiting: T): void {
    const line = this.#waiting.get(tenantId) ?? new Line<T>();
    if (!line.add(waiting)) return;
    this.#waiting.set(tenantId, line);
    this.#turns.add(tenantId);
    this.#size++;
  }

  /** Takes out who is next; undefined when nobody waits. */
  next(): T | undefined {
    const tenantId = this.#turns.first;
    if (tenantId === undefined) return undefined;
    const first = this.#waiting.get(tenantId)?.first;
    if (first === undefined) return undefined;
    this.delete(tenantId, first);
    this.#endTurn(tenantId);
    return first;
  }

  /** Takes one out before its turn. False when it was not waiting. */
  delete(tenantId: string, waiting: T): boolean {
    const line = this.#waiting.get(tenantId);
    if (!line?.delete(waiting)) return false;
    this.#size--;
    if (line.size === 0) {
      this.#waiting.delete(tenantId);
      this.#turns.delete(tenantId);
    }
    return true;
  }

  /** Takes everybody out. */
  clear(): T[] {
    const all = [...this.#waiting].flatMap(([tenantId, line]) => {
      this.#turns.delete(tenantId);
      return [...line];
    });
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }

  #endTurn(tenantId: string): void {
    if (this.#turns.delete(tenantId) && this.#waiting.has(tenantId)) this.#turns.add(tenantId);
  }
}
