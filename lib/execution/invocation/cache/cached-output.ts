import type { Json } from '../../../common/json/json.js';
import type { Write } from '../../session/session-overrides.js';

/** The output and the writes of an invocation, for an equal one later (D65). */
export interface CachedOutput {
  /** Frozen. */
  readonly output: Json;
  /** The values that the invocation stored on the blackboard. */
  readonly writes: readonly Write[];
  /** Approximate memory of the output and the writes, in bytes. */
  readonly sizeBytes: number;
}

/** Identifies equal invocations: the same tool in the same version, with the same inputs, of the same tenant. */
export interface CacheKey {
  readonly tenantId: string;
  /** SHA-256 in hexadecimal digits. */
  readonly hash: string;
}

/** Keeps outputs beyond this process. Resolves or rejects whatever the state of its files is, and never hangs. */
export interface CacheFolder {
  /** Resolves with undefined when there is no such output, or when it has expired. */
  read(key: CacheKey): Promise<CachedOutput | undefined>;
  /** @param expiresAt milliseconds since 1970; `Infinity` for never */
  write(key: CacheKey, cached: CachedOutput, expiresAt: number): Promise<void>;
}
