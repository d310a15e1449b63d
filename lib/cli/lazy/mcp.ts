/** Lazy boundary: calls tools of MCP servers. Imported when a definition names one, because most name none. */
export { parseMcpConfig } from '../../tools/mcp/config.js';
export { openLazily } from '../../tools/mcp/open-servers.js';
export { McpServers } from '../../tools/mcp/servers.js';
