/** Lazy boundary: reads secrets. Imported when the environment names any, because most commands need none. */
export { findSecretProblem } from '../../definition/secrets/encodings.js';
export { readConnectionsFile } from '../../tools/connections/connections-file.js';
export { readSecretsFile } from '../../definition/secrets/secrets-file.js';
export { environmentSecrets, UsedSecrets } from '../../definition/secrets/sources.js';
