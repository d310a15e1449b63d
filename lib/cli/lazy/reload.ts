/** Lazy boundary: reads the files of a server again. Imported by `serve` alone, which loads what it needs of the HTTP API. */
export { inspectFiles } from '../commands/serve/file-poller.js';
export { configurationFiles, ReloadedParts } from '../commands/serve/reloaded-parts.js';
export { Reloader } from '../commands/serve/reloader.js';
export { ServerTools } from '../commands/serve/server-tools.js';
