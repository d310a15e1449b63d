/** Lazy boundary: creates API keys. Imported by `keys new` alone, because loading YAML takes longer than a short command. */
export {
  createApiKey,
  formatKeyEntry,
  KEY_BYTES,
  KEY_FIELD_CHECKS,
  parseKeysFile,
} from '../../http/auth/keys-file.js';
