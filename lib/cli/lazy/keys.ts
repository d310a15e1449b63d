/** Lazy boundary: creates and reads API keys. Imported by `keys new` and `doctor`, because loading YAML takes longer than a short command. */
export {
  createApiKey,
  formatKeyEntry,
  KEY_BYTES,
  KEY_FIELD_CHECKS,
  parseKeysFile,
  readKeysFile,
} from '../../http/auth/keys-file.js';
