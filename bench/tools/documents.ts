import { resolve } from 'node:path';
import { systemClock } from '../../lib/common/clock.js';
import type { Json, JsonObject } from '../../lib/common/json/json.js';
import { runToEnd, runWithPauses } from '../../lib/common/scheduling/steps.js';
import { DocumentPool } from '../../lib/tools/documents/document-pool.js';
import { Bm25Index } from '../../lib/tools/builtin/select/bm25.js';
import { smallChunks } from '../../lib/tools/builtin/select/chunks.js';
import { makePdf } from '../../spec/tools/documents/make-pdf.js';
import { longestGap, median, timed } from '../measure.js';

const ROUNDS = 5;
const WORDS = Array.from({ length: 20_000 }, (_, i) => `word${i}`);
const IN_PROCESS = {
  tenant_id: 't',
  signal: new AbortController().signal,
  pauseTimeout: () => () => undefined,
};

/** Measures a PDF of 500 pages of 40 lines: in another process, and with the library alone in this one; in milliseconds. */
export async function pdfTimes(): Promise<{
  readonly pool: number;
  readonly library: number;
  readonly gap: number;
}> {
  const bytes = makePdf(
    Array.from({ length: 500 }, (_, page) =>
      Array.from(
        { length: 40 },
        (_line, line) => `Page ${page}, line ${line}: the quick brown fox jumps over it`,
      ),
    ),
  );
  const pool = new DocumentPool({
    file: resolve('dist/document-process.cjs'),
    parallelism: 1,
    tenantShare: 0,
    isolateTenants: false,
    clock: systemClock,
    runSteps: (steps) => runWithPauses(steps, nextTurn),
  });
  const parse = (): Promise<unknown> => pool.parse({ format: 'pdf', bytes, source: 'a.pdf' }, IN_PROCESS);
  const times = { pool: [] as number[], library: [] as number[] };
  const gaps: number[] = [];
  try {
    await parse();
    await extractAlone(bytes);
    for (let round = 0; round < ROUNDS; round++) {
      times.pool.push(await timed(parse));
      times.library.push(await timed(() => extractAlone(bytes)));
      gaps.push(await longestGap(parse));
    }
  } finally {
    await pool.close();
  }
  return { pool: median(times.pool), library: median(times.library), gap: median(gaps) };
}

async function extractAlone(bytes: Buffer): Promise<void> {
  const { extractText } = await import('unpdf');
  await extractText(Uint8Array.from(bytes), { mergePages: false });
}

/** Measures 10,000 chunks of 100 words: the time of indexing them with pauses, its longest gap, and one query. */
export async function searchTimes(): Promise<{
  readonly indexMs: number;
  readonly gapMs: number;
  readonly queryMs: number;
}> {
  const document = manyPages();
  let index: Bm25Index | undefined;
  const create = async (): Promise<void> => {
    const chunks = await runWithPauses(smallChunks(document), nextTurn);
    index = await runWithPauses(Bm25Index.create(chunks), nextTurn);
  };
  const indexMs = median([await timed(create), await timed(create), await timed(create)]);
  const gaps: number[] = [];
  for (let round = 0; round < ROUNDS; round++) gaps.push(await longestGap(create));
  const queries = Array.from({ length: 200 }, (_, i) => {
    const start = performance.now();
    if (index !== undefined) runToEnd(index.search(`word${i} word${7 * i} and word${i % 10}`, 15));
    return performance.now() - start;
  });
  return { indexMs, gapMs: median(gaps), queryMs: median(queries) };
}

/** Pages of one chunk each; the words that come early in the list are the frequent ones. */
function manyPages(): JsonObject {
  const pages = Array.from({ length: 10_000 }, (_, page): Json => {
    const words = Array.from({ length: 100 }, (_word, i) => {
      const rank = (page * 7919 + i * 104_729) % 99_991;
      return WORDS[Math.floor((rank / 99_991) ** 3 * WORDS.length)] ?? '';
    });
    return { number: page + 1, text: words.join(' '), sheet_name: null, metadata: {} };
  });
  return { source: 'many', format: 'text', pages };
}

function nextTurn(): Promise<void> {
  return new Promise((next) => {
    setImmediate(next);
  });
}
