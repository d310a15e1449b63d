import { isEqualFrozenList, type Json } from '../../common/json/json.js';
import type { Masker } from '../../definition/secrets/masker.js';

/** A large copy and its measures. */
interface MeasuredCopy {
  readonly copy: object & Json;
  /** Length of its JSON text, about. */
  readonly jsonBytes: number;
  /** Levels of lists and objects in it. */
  readonly height: number;
  /** Approximate memory, in bytes. */
  readonly sizeBytes: number;
  /** The masker that the copy was made with. */
  readonly masker: Masker | undefined;
}

/** A copy whose JSON is shorter is made again: that takes less than remembering it. */
export const MIN_KEPT_BYTES = 1024;

/**
 * Large copies, by themselves, and by frozen lists that cannot change either: values that tasks pass on are neither
 * copied nor measured again, however many read them.
 */
const measuredCopies = new WeakMap<object, MeasuredCopy>();

/**
 * Returns the copy of a value that was copied before, or is such a copy.
 *
 * @param masker of the run that copies it
 */
export function findMeasuredCopy(value: object, masker: Masker | undefined): MeasuredCopy | undefined {
  const found = Object.isFrozen(value) ? measuredCopies.get(value) : undefined;
  // In another run, the value may have been copied with what are secrets in this one.
  return masker === undefined || found?.masker === masker ? found : undefined;
}

/** Remembers a copy that is frozen. @param value what it is a copy of */
export function keepMeasuredCopy(value: object, measured: MeasuredCopy): void {
  measuredCopies.set(measured.copy, measured);
  if (isEqualFrozenList(value, measured.copy)) measuredCopies.set(value, measured);
}
