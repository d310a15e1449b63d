import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStatecharts } from './statecharts.js';

/** Writes the charts for the inspector: elkjs is needed to build the package, and not to run it. */
const file = join(import.meta.dirname, '..', '..', 'dist', 'statecharts.json');
writeFileSync(file, JSON.stringify(await createStatecharts()));
