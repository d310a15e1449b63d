// Starts a small web with a search engine, and runs the pipeline of this folder against it.
//
//   npx tsx examples/12-http-api/research/main.ts

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PAGES: Readonly<Record<string, string>> = {
  '/history': '<html><h1>History</h1><p>The lighthouse of Alexandria was built about 280 BC.</p></html>',
  '/lenses':
    '<html><h1>Lenses</h1><p>Fresnel lenses came into use in 1823; they are light and reach far.</p></html>',
};

/** A search engine, and the pages that it finds, of which one is gone. */
const web = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://localhost');
  const page = PAGES[pathname];
  if (pathname === '/search') {
    const results = ['/history', '/gone', '/lenses'].map((path) => ({
      title: path.slice(1),
      url: `${address}${path}`,
      snippet: '',
    }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
  } else if (page === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': 'text/html' }).end(page);
}).listen(0, '127.0.0.1');
await new Promise((listening) => web.once('listening', listening));
const address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;

const pipeline = fileURLToPath(new URL('pipeline.yaml', import.meta.url));
const { stdout } = await promisify(execFile)('npx', ['wavetrain', 'run', pipeline, '--json'], {
  env: {
    ...process.env,
    SERVICE_SEARCH_PROVIDER: `${address}/search?q={query}`,
    // The web is on this machine, which tools may not reach unless you say so.
    SERVICE_ALLOW_PRIVATE_NETWORK: 'true',
  },
});
web.close();

const { pages, summaries, report } = JSON.parse(stdout) as {
  pages: { error?: string }[];
  summaries: string[];
  report: string;
};
console.log(`left out: ${pages.filter(({ error }) => error !== undefined).length}`);
for (const summary of summaries) console.log(`- ${summary}`);
console.log(report);
