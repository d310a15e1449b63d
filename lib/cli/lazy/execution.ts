/** Lazy boundary: runs pipelines and plans. Imported for the first run, because loading XState takes longer than a short command. */
export { RunRegistry } from '../../runs/registry.js';
export { TaskPools } from '../../common/scheduling/task-pools.js';
export { HistoryWriter } from '../../runs/store/shell/history-writer.js';
export { KeptRuns } from '../../runs/store/shell/kept-runs.js';
export { ShellFolder } from '../../runs/store/shell/shell-folder.js';
export { ShellStore } from '../../runs/store/shell/shell-store.js';
export { recordingFormat } from '../../runs/inspection/recording.js';
export { commandAccess } from '../../tools/commands/command-access.js';
export { networkAccess } from '../../tools/fetching/network.js';
export { fileAccess } from '../../tools/files/file-access.js';
export { createModels } from '../../models/create-models.js';
