/** Lazy boundary: runs pipelines and plans. Imported for the first run, because loading XState takes longer than a short command. */
export { RunRegistry } from '../../runs/registry.js';
export { FolderStore } from '../../runs/store/folders/folder-store.js';
export { recordingFormat } from '../../runs/inspection/recording.js';
export { RunFolders } from '../../runs/store/folders/run-folders.js';
export { networkAccess } from '../../tools/fetching/network.js';
export { fileAccess } from '../../tools/files/file-access.js';
export { createModels } from '../../models/create-models.js';
