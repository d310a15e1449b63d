import type { Json } from '../common/json.js';

/** A write that a tool asked for; it is applied when its task succeeds. */
export interface Write {
  readonly key: string;
  readonly value: Json;
  readonly append: boolean;
  /** What the value takes in memory, in bytes, roughly. */
  readonly weight: number;
}
