import type { ServerConfig } from '../server-config.js';

/** @throws WavetrainError `bad_usage` when the server would let anybody in from other machines (D37). */
export function checkExposure(_config: ServerConfig, _hasKeys: boolean): void {}
