import type { DefinitionFlags } from '../prepared.js';

/** The flags of `run`, as they were given. */
export interface RunFlags extends DefinitionFlags {
  readonly json: boolean;
  readonly timeout?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly planConcurrency?: string | undefined;
  readonly jitter?: string | undefined;
  readonly retryBaseDelay?: string | undefined;
  readonly maxRetryDelay?: string | undefined;
  readonly events?: string | undefined;
  readonly tenant?: string | undefined;
  readonly verbose: boolean;
  readonly quiet: boolean;
}
