/** The storage of a browser, with room for so many characters. */
export class FakeStorage {
  readonly items = new Map<string, string>();
  /** In characters of names and values. */
  room = Number.POSITIVE_INFINITY;

  get length(): number {
    return this.items.size;
  }

  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null;
  }

  getItem(name: string): string | null {
    return this.items.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    let used = name.length + value.length;
    for (const [other, kept] of this.items) if (other !== name) used += other.length + kept.length;
    if (used > this.room) throw new Error('QuotaExceededError');
    this.items.set(name, value);
  }

  removeItem(name: string): void {
    this.items.delete(name);
  }
}
