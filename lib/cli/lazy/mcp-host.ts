/** Lazy boundary: serves MCP hosts. Imported by `mcp` alone, because the SDK of the protocol is large. */
export { HostRuns } from '../mcp-host/host-runs.js';
export { serveHost } from '../mcp-host/sdk.js';
export { answerCall, toListedTool } from '../mcp-host/served-tool.js';
export { hostTools } from '../mcp-host/tools.js';
