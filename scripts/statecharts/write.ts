import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStatecharts } from './statecharts.js';

/** Writes the charts for the inspector: elkjs is needed to build the package, and not to run it. */
const folder = join(import.meta.dirname, '..', '..', 'dist');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'statecharts.json'), JSON.stringify(await createStatecharts()));
