import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { median } from './measure.js';

const FOUR_TASKS = `pipeline:
  id: four
  goal: start and end
  tasks:
    - {id: a, tool: mock}
    - {id: b, tool: mock, inputs: {x: "{{a.output.status}}"}}
    - {id: c, tool: mock, inputs: {x: "{{a.output.status}}"}}
    - {id: d, tool: mock, inputs: {x: "{{b.output.status}}", y: "{{c.output.status}}"}}
`;

/** Measures whole processes, alternating: `wavetrain run` of a 4-task file and `node -e 0`; medians in milliseconds. */
export function compareStart(
  command: string,
  rounds: number,
): { readonly run: number; readonly node: number } {
  const folder = mkdtempSync(join(tmpdir(), 'wavetrain-bench-'));
  const file = join(folder, 'four.yaml');
  writeFileSync(file, FOUR_TASKS);
  const runs: number[] = [];
  const nodes: number[] = [];
  for (let round = 0; round < rounds + 2; round++) {
    const run = measureProcess([command, 'run', file]);
    const node = measureProcess(['-e', '0']);
    if (round >= 2) {
      runs.push(run);
      nodes.push(node);
    }
  }
  rmSync(folder, { recursive: true });
  return { run: median(runs), node: median(nodes) };
}

function measureProcess(args: readonly string[]): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - start;
}
