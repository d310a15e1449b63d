/** Lazy boundary: serves MCP hosts. Imported by `mcp` alone, because the SDK of the protocol is large. */
export { answerCall } from '../mcp/answer-call.js';
export { HostRuns } from '../mcp/host-runs.js';
export { serveHost } from '../mcp/sdk.js';
export { toListedTool } from '../mcp/served-tool.js';
export { hostTools } from '../mcp/tools.js';
