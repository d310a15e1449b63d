/** Lazy boundary: serves the HTTP API. Imported by `serve` alone, because loading Koa and its middleware takes longer than a run. */
export { startLauncher } from '../../common/workers/fork-server.js';
export { TextParser } from '../../definition/parsing/text-parser.js';
export { ALL_TENANTS, countTenants } from '../../http/auth/authenticate.js';
export { readKeysFile } from '../../http/auth/keys-file.js';
export { createLog } from '../../http/logging/log.js';
export { serveShownRun } from '../../http/routes/following/shown-run.js';
export { startServer } from '../../http/server.js';
export { FolderStore, runInTurns, SqliteStore } from '../../runs/registry.js';
export { allowConfiguredModels } from '../../models/choose-model.js';
export { createModels } from '../../models/create-models.js';
export { openTracing } from '../../telemetry/tracing.js';
export { createAssert } from '../../tools/builtin/assert.js';
export { createIngestDocument } from '../../tools/builtin/ingest-document.js';
export { createTransform } from '../../tools/builtin/transform.js';
export { DocumentPool } from '../../tools/documents/document-pool.js';
export { ExpressionPool } from '../../tools/expressions/expression-pool.js';
export { networkAccess } from '../../tools/fetching/network.js';
export { serverFileAccess } from '../../tools/files/file-access.js';
