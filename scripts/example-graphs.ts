import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderSvg } from '../lib/pipelines/drawing/graph-svg.js';
import { createGraph } from '../lib/pipelines/drawing/graph.js';
import { parsePipeline } from '../lib/pipelines/load.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The examples whose graphs the documents show. */
const DRAWN = ['examples/08-csv-report/workbook'];

/** Draws examples as `wavetrain graph --format svg` does: path to content. */
export function drawExamples(): Record<string, string> {
  return Object.fromEntries(
    DRAWN.map((path) => {
      const pipeline = parsePipeline(readFileSync(join(root, `${path}.yaml`), 'utf8'));
      return [`${path}.svg`, renderSvg(createGraph(pipeline))];
    }),
  );
}
