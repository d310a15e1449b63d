import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A notification of an MCP server, which answers nothing. */
const NOTIFICATION = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'x' },
});

/** A part of an answer of a language model: one letter. */
const LETTER = JSON.stringify({
  id: '1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
});

const MCP_RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'loud', version: '1' },
  },
  'tools/list': { tools: [{ name: 'flood', inputSchema: { type: 'object' } }] },
};

/** An MCP server on its standard streams that answers a call with notifications without end. */
const LOUD_SERVER = `
const results = ${JSON.stringify(MCP_RESULTS)};
const block = ${JSON.stringify(`${NOTIFICATION}\n`)}.repeat(500);
const flood = () => { while (process.stdout.write(block)); process.stdout.once('drain', flood); };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const result = results[method];
  if (method === 'tools/call') flood();
  else if (id !== undefined && result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

/** The settings of a server that asks the floods: MCP servers `loud` and `web`, and models `compatible/…`. */
export function floodSettings(folder: string, originUrl: string): Record<string, string> {
  const file = join(folder, 'mcp.json');
  const loud = { command: process.execPath, args: ['-e', LOUD_SERVER] };
  writeFileSync(file, JSON.stringify({ mcpServers: { loud, web: { url: `${originUrl}/mcp` } } }));
  return { SERVICE_MCP_FILE: file, COMPATIBLE_BASE_URL: `${originUrl}/v1` };
}

/** Floods by path. */
export const FLOODS: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> =
  {
    '/v1/chat/completions': (_, response) => flood(response, `data: ${LETTER}\n\n`),
    '/mcp': (request, response) => void answerMcp(request, response),
  };

async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method } = JSON.parse(await text(request)) as { id?: number; method: string };
  if (id === undefined) return void response.writeHead(202).end();
  if (method === 'tools/call') return flood(response, `data: ${NOTIFICATION}\n\n`);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: MCP_RESULTS[method] ?? {} }));
}

/** Sends an event again and again, as fast as it is read. */
function flood(response: ServerResponse, event: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const block = event.repeat(500);
  const more = (): void => {
    while (!response.destroyed && response.write(block));
    response.once('drain', more);
  };
  more();
}
