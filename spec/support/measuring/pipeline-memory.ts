import { readFileSync } from 'node:fs';
import { checkDefinition } from '../../../lib/pipelines/check.js';
import type { Pipeline } from '../../../lib/pipelines/pipeline.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { measureHeap } from './heap.js';

/** Bytes of equal pipelines that are measured together, so that what else the process keeps does not count. */
const MEASURED_BYTES = 6 * 2 ** 20;

const MEASURES = 3;

const catalog = builtinCatalog();

/**
 * A program: reads a list of definitions as JSON from its standard input, and prints for each the heap that its checked
 * pipeline takes, relative to what is counted for it. In a process of its own, nothing else has shaped the heap. A `#` in a
 * definition stands for the number of its copy, so that each has keys of its own.
 */
const texts = (JSON.parse(readFileSync(0, 'utf8')) as unknown[]).map((definition) =>
  JSON.stringify(definition),
);
for (const text of texts) check(text);
process.stdout.write(JSON.stringify(texts.map(medianRatio)));

function medianRatio(text: string): number {
  const sizeBytes = check(text).sizeBytes;
  const count = Math.ceil(MEASURED_BYTES / sizeBytes);
  let copies = 0;
  const create = (): Pipeline[] =>
    Array.from({ length: count }, () => check(text.replaceAll('#', `_${copies++}_`)));
  // The engine keeps some of the last pipeline for a while: as much before the second time as after it.
  measureHeap(create);
  const ratios = Array.from({ length: MEASURES }, () => measureHeap(create) / (count * sizeBytes));
  return ratios.toSorted((a, b) => a - b)[Math.floor(MEASURES / 2)] as number;
}

function check(text: string): Pipeline {
  const result = checkDefinition(JSON.parse(text), { catalog });
  if (!result.ok) throw new Error(JSON.stringify(result.problems[0]));
  return result.pipeline;
}
