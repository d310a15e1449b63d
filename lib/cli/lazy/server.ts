/** What it takes to serve the API, to be imported when a server starts: Koa and its company cost more than a run. */
export { readKeys } from '../../http/auth/keys-file.js';
export { openLog } from '../../http/logging/log.js';
export { openServer } from '../../http/server.js';
export { transformWith } from '../../tools/builtin/transform.js';
export { ExpressionProcesses } from '../../tools/expressions/expression-processes.js';
export { openTracing } from '../../telemetry/tracing.js';
export { fileAccess } from '../../tools/files/files.js';
