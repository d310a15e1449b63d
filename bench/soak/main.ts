import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Table } from '../http/table.js';
import { floodSettings } from './floods.js';
import type { HonestResult } from './programs/honest.js';
import { addAnswers, addEventLoop, addMemory } from './report.js';
import { Samples } from './samples.js';
import {
  createKeys,
  readWindows,
  runProgram,
  startFloor,
  startAttacked,
  startOriginProcess,
} from './servers.js';

/**
 * `npm run soak [-- MINUTES [ATTACK…]]`: two tenants attack a real server while a third one works (10 minutes). Measures
 * what the attacks cost the third one, and whether memory stays bounded. Then the same tenants attack a server that does
 * nothing but read bodies and answer, which shows what the machine and Node.js cost by themselves.
 */
const [minutes = '10', ...attacks] = process.argv.slice(2);
const attackSeconds = Number(minutes) * 60;
const IDLE_SECONDS = Math.min(60, attackSeconds);

const folder = mkdtempSync(join(tmpdir(), 'wavetrain-soak-'));
const keys = createKeys();
const origin = startOriginProcess(folder);
const originUrl = await origin.url;
// The servers are given the environment of this process.
Object.assign(process.env, floodSettings(folder, originUrl));
const server = startAttacked(folder, keys);
const bare = startFloor(folder);
const table = new Table();

try {
  const url = await server.url;
  const alone = await runHonest(url, IDLE_SECONDS);
  const idleWindows = readWindows(folder).length;
  const samples = new Samples(url, keys.operator);
  const attacked = await runAttacked(url, attackSeconds);
  samples.close();
  const windows = readWindows(folder).slice(idleWindows);
  const { isAlive } = server;
  await server.kill();
  const floor = await runAttacked(await bare.url, IDLE_SECONDS);
  table.add({
    measure: 'the server after the attacks',
    result: isAlive ? 'alive' : 'dead',
    limit: 'alive',
    detail: `${attackSeconds / 60} minutes of attacks`,
    ok: isAlive,
  });
  addAnswers(table, { alone, attacked, floor });
  addEventLoop(table, windows, samples);
  addMemory(table, samples);
} finally {
  await Promise.all([server.kill(), bare.kill(), origin.kill()]);
  rmSync(folder, { recursive: true, force: true });
}
table.print();
process.exit(table.missed > 0 ? 1 : 0);

async function runHonest(url: string, seconds: number): Promise<HonestResult> {
  return JSON.parse(await runProgram('honest', [url, keys.bob, String(seconds)])) as HonestResult;
}

/** Lets two tenants attack while the third one works. */
async function runAttacked(url: string, seconds: number): Promise<HonestResult> {
  const hostile = [keys.mallory, keys.trudy].map((key, seed) =>
    runProgram('hostile', [url, key, String(seconds), String(seed + 1), originUrl, ...attacks]),
  );
  const honest = await runHonest(url, seconds);
  for (const result of await Promise.all(hostile)) process.stderr.write(`attacks: ${result}\n`);
  return honest;
}
