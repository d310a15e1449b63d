import { type Json, MEMBER_BYTES } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { Write } from './session-overrides.js';

const WRITES_PER_STEP = 1000;

/** A list that templates can read until the next write replaces it. */
interface AppendedList {
  readonly bytes: number;
  /** True when values that were rendered from the list may be held until the wave has settled. */
  isRead: boolean;
}

/** Counts the memory of the lists that tasks append to: every append makes a new one (D23), whose elements count as writes. */
export class AppendedLists {
  readonly #memory: Pick<MemoryBudget, 'reserve' | 'release'>;
  /** The lists that templates can read now, by key. */
  readonly #lists = new Map<string, AppendedList>();
  /** Memory of the lists that were read and replaced in the current wave. */
  #replacedBytes = 0;

  constructor(memory: Pick<MemoryBudget, 'reserve' | 'release'>) {
    this.#memory = memory;
  }

  /**
   * Takes the memory of the lists that writes will make, and returns it by key, in bytes, in steps.
   * @throws ToolError, not retryable
   */
  *reserve(
    writes: readonly Write[],
    current: (key: string) => Json | undefined,
  ): Steps<ReadonlyMap<string, number>> {
    if (!writes.some(({ append }) => append)) return NO_LISTS;
    const bytesByKey = new Map<string, number>();
    let sum = 0;
    for (const [position, { key, append }] of writes.entries()) {
      if (position % WRITES_PER_STEP === WRITES_PER_STEP - 1) yield;
      if (!append) continue;
      const known = bytesByKey.get(key);
      const bytes = known ?? this.#lists.get(key)?.bytes ?? measure(current(key));
      bytesByKey.set(key, bytes + MEMBER_BYTES);
      sum += MEMBER_BYTES + (known === undefined ? bytes : 0);
    }
    this.#memory.reserve(sum);
    return bytesByKey;
  }

  /** Makes a value readable. @param bytes reserved for the value; undefined when nothing was appended to it */
  show(values: Record<string, Json>, key: string, value: Json, bytes: number | undefined): void {
    this.#replace(key);
    const shown = { enumerable: true, configurable: true };
    if (bytes === undefined)
      return void Object.defineProperty(values, key, { ...shown, value, writable: true });
    const list = { bytes, isRead: false };
    this.#lists.set(key, list);
    const get = (): Json => {
      list.isRead = true;
      return value;
    };
    Object.defineProperty(values, key, { ...shown, get });
  }

  /** Call with values that were read elsewhere than from the `values` of `show`. */
  onRead(values: Record<string, Json>): void {
    for (const [key, list] of this.#lists) if (Object.hasOwn(values, key)) list.isRead = true;
  }

  #replace(key: string): void {
    const list = this.#lists.get(key);
    if (list === undefined) return;
    this.#lists.delete(key);
    if (list.isRead) this.onReplaced(list.bytes);
    else this.#memory.release(list.bytes);
  }

  /** Call when what tasks at work may hold was replaced. */
  onReplaced(bytes: number): void {
    this.#replacedBytes += bytes;
  }

  /** Returns the memory of the lists that were replaced. Call when a wave has settled. */
  releaseReplaced(): void {
    this.#memory.release(this.#replacedBytes);
    this.#replacedBytes = 0;
  }
}

const NO_LISTS: ReadonlyMap<string, number> = new Map();

function measure(value: Json | undefined): number {
  return Array.isArray(value) ? MEMBER_BYTES * value.length : MEMBER_BYTES;
}
