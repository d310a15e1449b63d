import type { ServerConfig } from '../server-config.js';
import type { Guard } from './guard.js';

/** The guard of a server (D38). */
export function guardFor(_config: ServerConfig): Guard {
  return { check() {} };
}
