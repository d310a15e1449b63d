import type { ServerConfig } from '../../common/config/server-config.js';
import { WavetrainError } from '../../common/errors.js';
import { isLoopback } from '../security/browser-guard.js';

/**
 * Checks that only callers with a key, or on this machine, can reach the server (D37).
 *
 * @throws WavetrainError `bad_usage`
 */
export function assertAuthenticatedBinding({ host, allowAnonymous }: ServerConfig, hasKeys: boolean): void {
  if (hasKeys || allowAnonymous || isLoopback(host.toLowerCase())) return;
  throw new WavetrainError(
    'bad_usage',
    `listening on ${host} without keys would let anyone on the network run pipelines: create a key with ` +
      '`wavetrain keys new --file keys.yaml` and set SERVICE_API_KEYS_FILE=keys.yaml, ' +
      'or listen on 127.0.0.1; SERVICE_ALLOW_ANONYMOUS=true allows anonymous access',
  );
}
