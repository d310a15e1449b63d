/** What it takes to make a key, to be imported when one is made: YAML costs more than a short command. */
export { KEY_FAULTS } from '../../http/key-fields.js';
export { keysIn } from '../../http/key-list.js';
export { KEY_BYTES, keyEntry, newKey } from '../../http/new-key.js';
