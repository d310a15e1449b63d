import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { FLOODS } from './floods.js';

const MIB = 2 ** 20;

/** The answers of a hostile server, by path. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/lists': (response) => sendText(response, 'application/json', `[${'[],'.repeat(2_000_000)}0]`),
  '/nested': (response) =>
    sendText(response, 'application/json', `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  '/html': (response) =>
    sendText(response, 'text/html', `<html><body>${'<table><tr><td>1'.repeat(60_000)}</body></html>`),
  '/csv': (response) => sendText(response, 'text/csv', `a\n${'1\n'.repeat(2_000_000)}`),
  '/bomb': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(BOMB);
  },
  '/drip': (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const timer = setInterval(() => response.write('x'), 500);
    response.once('close', () => clearInterval(timer));
  },
  '/away': (response) => {
    response.writeHead(302, { location: '/away' });
    response.end();
  },
  '/busy': (response) => {
    response.writeHead(429, { 'retry-after': '1' });
    response.end();
  },
};

const BOMB = gzipSync(Buffer.alloc(100 * MIB, '0'));

function sendText(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type });
  response.end(text);
}

/** Starts a server on loopback whose answers cost those who read them more than those who ask. Resolves with its URL. */
export async function startOrigin(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const answer = ANSWERS[request.url ?? ''];
    const flood = FLOODS[request.url ?? ''];
    if (flood !== undefined) flood(request, response);
    else if (answer === undefined) response.writeHead(404).end();
    else answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
