/** Lazy boundary: reads secrets. Imported when the environment names any, because most commands need none. */
export { findSecretProblem } from '../../secrets/encodings.js';
export { environmentSecrets } from '../../secrets/environment-secrets.js';
export { readSecretsFile } from '../../secrets/secrets-file.js';
export { UsedSecrets } from '../../secrets/used-secrets.js';
