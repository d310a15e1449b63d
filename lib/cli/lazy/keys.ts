/** What it takes to make a key, to be imported when one is made: YAML costs more than a short command. */
export { KEY_FAULTS } from '../../http/auth/keys-file.js';
export { keysIn } from '../../http/auth/keys-file.js';
export { KEY_BYTES, keyEntry, newKey } from '../../http/auth/new-key.js';
