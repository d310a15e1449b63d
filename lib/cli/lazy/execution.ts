/** Lazy boundary: runs pipelines and plans. Imported for the first run, because loading XState takes longer than a short command. */
export { FolderStore, recordingFormat, RunFolders, RunRegistry } from '../../runs/registry.js';
export { networkAccess } from '../../tools/fetching/network.js';
export { fileAccess } from '../../tools/files/file-access.js';
export { createModels } from '../../models/create-models.js';
