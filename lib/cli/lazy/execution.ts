/** What it takes to run a pipeline, to be imported when one runs: XState costs more than a short command. */
export { RunRegistry } from '../../runs/registry.js';
export { fileAccess } from '../../tools/files/files.js';
