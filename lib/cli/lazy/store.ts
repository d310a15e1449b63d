/** Lazy boundary: looks into the store of a server. Imported by `doctor` alone, and only where a store is configured. */
export { inspectStore } from '../../runs/store/inspect-store.js';
