/** Lazy boundary: reads secrets. Imported when the environment names any, because most commands need none. */
export { findSecretProblem } from '../../common/secrets/encodings.js';
export { readSecretsFile } from '../../definition/secrets-file.js';
export { environmentSecrets, UsedSecrets } from '../../definition/secret-sources.js';
