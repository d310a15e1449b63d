import { WavetrainError } from '../common/errors.js';
import type { ServerConfig } from '../common/config.js';
import { isLoopback } from './loopback.js';

/** @throws WavetrainError `bad_usage` when the server would let anybody in from other machines (D37). */
export function checkExposure({ host, allowAnonymous }: ServerConfig, hasKeys: boolean): void {
  if (hasKeys || allowAnonymous || isLoopback(host.toLowerCase())) return;
  throw new WavetrainError(
    'bad_usage',
    `listening on ${host} would let anybody on the network run pipelines: make a key with ` +
      '`wavetrain keys new --file keys.yaml` and set SERVICE_API_KEYS_FILE=keys.yaml, ' +
      'or listen on 127.0.0.1; SERVICE_ALLOW_ANONYMOUS=true lets everybody in',
  );
}
