import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Table } from '../http/table.js';
import { median } from '../measure.js';
import { Api } from './api.js';
import { floodSettings } from './floods.js';
import type { HonestResult } from './honest.js';
import { startOrigin } from './origin.js';

/**
 * `npm run soak [-- MINUTES [ATTACK…]]`: two tenants attack a real server while a third one works (10 minutes). Measures
 * what the attacks cost the third one, and whether memory stays bounded.
 */
const [minutes = '10', ...attacks] = process.argv.slice(2);
const attackSeconds = Number(minutes) * 60;
const IDLE_SECONDS = Math.min(60, attackSeconds);

/** How much longer than alone the 99th percentile of a request may take during the attacks. */
const MAX_SLOWDOWN = 5;
/** How much the memory may grow from the second quarter of the attacks to the last one. */
const MAX_GROWTH = 1.25;

const folder = mkdtempSync(join(tmpdir(), 'wavetrain-soak-'));
const keys = Object.fromEntries(
  ['bob', 'mallory', 'trudy', 'operator'].map((name) => [name, randomBytes(24).toString('base64url')]),
);
const origin = await startOrigin();
Object.assign(process.env, floodSettings(folder, origin.url));
const server = startServer();
const url = await server.url;
const table = new Table();

try {
  const alone = await runHonest(IDLE_SECONDS);
  const memory: number[] = [];
  const sampling = setInterval(
    () =>
      void sampleMemory().then(
        (mib) => memory.push(mib),
        () => undefined,
      ),
    1000,
  );
  const hostile = ['mallory', 'trudy'].map((name, seed) =>
    runProgram('hostile', [
      url,
      keys[name] ?? '',
      String(attackSeconds),
      String(seed + 1),
      origin.url,
      ...attacks,
    ]),
  );
  const attacked = await runHonest(attackSeconds);
  for (const result of await Promise.all(hostile)) process.stderr.write(`attacks: ${result}\n`);
  clearInterval(sampling);
  addRows(alone, attacked, memory);
} finally {
  server.process.kill('SIGKILL');
  // It may be writing into the folder until it has ended.
  if (server.process.exitCode === null) await once(server.process, 'exit');
  origin.server.close();
  origin.server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}
table.print();
process.exit(table.missed > 0 ? 1 : 0);

function startServer(): { readonly process: ChildProcess; readonly url: Promise<string> } {
  const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex');
  const entries = Object.entries(keys).map(([name, key]) => ({
    name,
    sha256: sha256(key),
    tenants: [name],
    scopes: name === 'operator' ? ['metrics'] : ['read', 'run'],
  }));
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify(entries));
  const command = fileURLToPath(new URL('../../bin/wavetrain.js', import.meta.url));
  const child = spawn(process.execPath, [command, 'serve', '--port', '0'], {
    cwd: folder,
    env: {
      ...process.env,
      SERVICE_API_KEYS_FILE: join(folder, 'keys.yaml'),
      SERVICE_LOG_LEVEL: 'info',
      // The hostile server is on loopback.
      SERVICE_ALLOW_PRIVATE_NETWORK: 'true',
      SERVICE_CACHE: join(folder, 'cache'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const address = new Promise<string>((resolve, reject) => {
    let text = '';
    const read = (chunk: Buffer): void => {
      text = (text + chunk.toString()).slice(-10_000);
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (status, signal) =>
      reject(new Error(`the server ended: ${signal ?? status}\n${text}`)),
    );
  });
  return { process: child, url: address };
}

async function runHonest(seconds: number): Promise<HonestResult> {
  return JSON.parse(await runProgram('honest', [url, keys['bob'] ?? '', String(seconds)])) as HonestResult;
}

/** Runs a bundled program beside this one, in a process of its own, and resolves with what it prints. */
async function runProgram(name: string, args: readonly string[]): Promise<string> {
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => (text += chunk));
  const status = await new Promise((resolve) => child.once('close', resolve));
  if (status !== 0) throw new Error(`${name} ended with ${String(status)}`);
  return text;
}

/** The resident memory of the server, in MiB. */
async function sampleMemory(): Promise<number> {
  const api = new Api(url, keys['operator'] ?? '', 10_000);
  try {
    const { text } = await api.send('GET', '/metrics');
    const [, bytes = ''] = /^process_resident_memory_bytes(?:\{.*\})? (\S+)/m.exec(text) ?? [];
    if (bytes === '') throw new Error('no memory in the metrics');
    return Number(bytes) / 2 ** 20;
  } finally {
    api.close();
  }
}

function addRows(alone: HonestResult, attacked: HonestResult, memory: readonly number[]): void {
  const isAlive = server.process.exitCode === null && server.process.signalCode === null;
  table.add({
    measure: 'the server after the attacks',
    result: isAlive ? 'alive' : 'dead',
    limit: 'alive',
    detail: `${attackSeconds / 60} minutes of attacks`,
    ok: isAlive,
  });
  const [first = 'none'] = attacked.lost;
  table.add({
    measure: 'responses to the third tenant that were wrong or missing',
    result: String(attacked.lost.length),
    limit: '0',
    detail: first.slice(0, 200),
    ok: attacked.lost.length === 0 && alone.lost.length === 0,
  });
  for (const [name, before] of Object.entries(alone.latencies)) {
    const during = attacked.latencies[name] ?? {
      count: 0,
      p50: Number.NaN,
      p99: Number.NaN,
      max: Number.NaN,
    };
    const slowdown = during.p99 / before.p99;
    const show = ({ p50, p99, max }: typeof before): string =>
      `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, max ${max.toFixed(0)} ms`;
    table.add({
      measure: `p99 of a ${name}`,
      result: `${slowdown.toFixed(1)}x`,
      limit: `<= ${MAX_SLOWDOWN}x`,
      detail: `${during.count} requests: ${show(during)}; alone: ${show(before)}`,
      ok: slowdown <= MAX_SLOWDOWN,
    });
  }
  const quarter = Math.floor(memory.length / 4);
  const early = median(memory.slice(quarter, 2 * quarter));
  const late = median(memory.slice(-quarter));
  table.add({
    measure: 'memory in the last quarter against the second one',
    result: `${(late / early).toFixed(2)}x`,
    limit: `<= ${MAX_GROWTH}x`,
    detail: `median ${late.toFixed(0)} against ${early.toFixed(0)} MiB, highest ${Math.max(...memory).toFixed(0)} MiB`,
    ok: late / early <= MAX_GROWTH,
  });
}
