// Runs a pipeline against an HTTP API with pages, a limit on requests and a token.
//
//   npx tsx examples/12-http-api/main.ts

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { LocalExecutor, loadPipeline, networkAccess } from 'wavetrain';

const TOKEN = 'pier-7-lantern';
const PAGES = [[120, 80], [45], [300, 5], [50]];

/** An API that refuses the first request for each page after the second one. */
const statuses: number[] = [];
const refused = new Set<number>();
const api = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const page = Number(searchParams.get('page') ?? 1);
  const answer = (status: number, body: object, headers = {}): void => {
    statuses.push(status);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  if (request.headers.authorization !== `Bearer ${TOKEN}`) return answer(401, { error: 'who are you?' });
  if (page > 2 && !refused.has(page)) {
    refused.add(page);
    return answer(429, { error: 'slow down' }, { 'retry-after': '0' });
  }
  const orders = (PAGES[page - 1] ?? []).map((amount) => ({ amount }));
  answer(200, { pages: PAGES.length, orders });
}).listen(0, '127.0.0.1');
await new Promise((listening) => api.once('listening', listening));
const { port } = api.address() as AddressInfo;

const pipeline = await loadPipeline(fileURLToPath(new URL('pipeline.yaml', import.meta.url)));
const executor = new LocalExecutor({
  // The API is on this machine, which tools may not reach unless you say so.
  network: networkAccess({ allowPrivate: true }),
  secrets: { find: (_tenant, name) => (name === 'ORDERS_TOKEN' ? TOKEN : undefined) },
});
const runId = await executor.submit({
  pipeline,
  params: { api: `http://127.0.0.1:${port}` },
  collect_events: true,
});
const result = await executor.getResult(runId);
api.close();

console.log(`total: ${JSON.stringify(result.outputs['report'])}`);
console.log(`answers: ${statuses.sort((a, b) => a - b).join(' ')}`);
console.log(`the result has the token: ${JSON.stringify(result).includes(TOKEN)}`);
