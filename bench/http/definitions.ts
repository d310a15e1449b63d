import { performance } from 'node:perf_hooks';
import { stringify } from 'yaml';
import { median } from '../measure.js';
import { Child } from './child.js';
import { closeConnections, postJson } from './post.js';
import type { Table } from './table.js';

const ROUNDS = 5;
const MAX_GAP_MS = 50;
const YAML_BYTES = 256 * 1024;

/** Measures how long the event loop is held while the server validates long definitions; none is in its cache. */
export async function measureDefinitions(table: Table): Promise<void> {
  const bodies: Readonly<Record<string, (round: number) => unknown>> = {
    '2,000 tasks as JSON': (round) => ({ pipeline: tasks(2000, round) }),
    '2,000 tasks as YAML': (round) => ({ yaml: stringify(tasks(2000, round), { indent: 1 }) }),
    '256 KiB of commas as YAML': () => ({ yaml: `[${','.repeat(YAML_BYTES - 2)}]` }),
    '9,000 unknown references': (round) => ({ pipeline: unknownReferences(9000, round) }),
  };
  const server = await Child.open('server');
  for (const [name, body] of Object.entries(bodies)) {
    await measureGap(server, body(-1));
    const rounds: Awaited<ReturnType<typeof measureGap>>[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measureGap(server, body(round)));
    const gaps = rounds.map(({ gapMs }) => gapMs);
    table.add({
      measure: `validating ${name}: longest event-loop gap`,
      result: `${median(gaps).toFixed(0)} ms`,
      limit: `< ${MAX_GAP_MS} ms`,
      ok: median(gaps) < MAX_GAP_MS,
      detail: `worst of ${ROUNDS}: ${Math.max(...gaps).toFixed(0)} ms; answered after ${median(rounds.map(({ tookMs }) => tookMs)).toFixed(0)} ms`,
    });
  }
  closeConnections();
  await server.close();
}

async function measureGap(
  server: Child,
  body: unknown,
): Promise<{ readonly gapMs: number; readonly tookMs: number }> {
  await server.request('watchGaps');
  const began = performance.now();
  await postJson(server.url, '/pipelines/validate', body);
  const tookMs = performance.now() - began;
  return { gapMs: await server.request<number>('longestGap'), tookMs };
}

function tasks(count: number, round: number): object {
  return {
    id: `many_${round}`,
    goal: 'be validated',
    tasks: Array.from({ length: count }, (_, task) => ({
      id: `t${task}`,
      tool: 'mock',
      ...(task > 1 && { inputs: { x: `{{t${task - 1}.output.n}}`, y: `{{t${task - 2}.output.n}}` } }),
    })),
  };
}

function unknownReferences(count: number, round: number): object {
  const references = Array.from({ length: count }, (_, index) => `{{none_${index}.output}}`);
  return { id: `wrong_${round}`, goal: 'fail', tasks: [{ id: 'a', tool: 'mock', inputs: { references } }] };
}
