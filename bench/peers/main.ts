import { setMaxListeners } from 'node:events';
import { cpus } from 'node:os';
import own from '../../package.json' with { type: 'json' };
import { chain, waves } from '../shapes.js';
import { loadPeers } from './load.js';
import { type ShapeResult, measureShape, type Shape } from './measure-shape.js';
import manifest from './package.json' with { type: 'json' };
import type { Peer } from './peer.js';
import { table } from './table.js';

/** `main.mjs <many|few> <package>...`: measures these peers beside us, all in this process, and prints a table. */
const [rounds, ...packageNames] = process.argv.slice(2);
const { peers, excluded } = await loadPeers(packageNames);

// A peer that listens to one signal with every task should not also pay for a warning each time.
setMaxListeners(0);

const rows: ShapeResult[] = [];
for (const shape of shapes(rounds === 'many')) {
  process.stderr.write(`${shape.name} ...\n`);
  rows.push(await measureShape(shape, peers));
}
const names = peers.map(({ name }) => name);
const reasons = [
  ...excluded,
  ...rows.flatMap(({ shape, excluded }) => excluded.map((why) => `${shape.name}: ${why}`)),
];
process.stdout.write(`${machine()}; ${versions(peers).join(', ')}\n\n`);
process.stdout.write(`${table(rows, ['floor', 'wavetrain', ...names])}\n`);
for (const reason of reasons) process.stdout.write(`\nLeft out: ${reason}\n`);

/** Fewer rounds where one of them takes the slow peers most of a second. */
function shapes(many: boolean): Shape[] {
  return [
    { name: 'chain of 100 tasks', pipeline: chain(100), rounds: many ? 301 : 51 },
    { name: 'one wave of 1,000', pipeline: waves(1, 1000), rounds: many ? 301 : 15 },
    { name: '20 waves of 50', pipeline: waves(20, 50), rounds: many ? 301 : 31 },
  ];
}

function machine(): string {
  const day = new Date().toISOString().slice(0, 10);
  return `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${day}`;
}

function versions(peers: readonly Peer[]): string[] {
  const exact: ReadonlyMap<string, string> = new Map(Object.entries(manifest.dependencies));
  return [
    `wavetrain ${own.version}`,
    ...peers.map(({ name, packageName }) => `${name} ${exact.get(packageName)}`),
  ];
}
