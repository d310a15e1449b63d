import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { LocalExecutor } from '../lib/execution/local-executor.js';
import { parsePipeline } from '../lib/pipelines/load.js';

/**
 * Validates and runs all pipelines of a folder, and compares their waves and counts with NAME.expected.json:
 * `node --import tsx scripts/replay.ts FOLDER`. For recorded pipelines that are not part of this project.
 */
interface Expected {
  readonly tasks: number;
  readonly edges: number;
  readonly waves: number;
  readonly wave_sizes: readonly number[];
}

const folder = process.argv[2];
if (folder === undefined) throw new Error('name the folder: node --import tsx scripts/replay.ts FOLDER');

let wrong = 0;
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .sort()) {
  const expected = JSON.parse(
    readFileSync(`${folder}/${file.replace(/\.yaml$/, '.expected.json')}`, 'utf8'),
  ) as Expected;
  const found = await replay(readFileSync(`${folder}/${file}`, 'utf8'));
  const same = isDeepStrictEqual(found, {
    ...expected,
    status: 'succeeded',
    waves_executed: expected.waves,
    tasks_executed: expected.tasks,
  });
  if (!same) wrong++;
  process.stdout.write(
    `${same ? 'ok   ' : 'WRONG'} ${file}: ${found.tasks} tasks, ${found.edges} edges, waves ${found.wave_sizes.join(' ')}\n`,
  );
}
process.exitCode = wrong === 0 ? 0 : 1;

async function replay(text: string) {
  const pipeline = parsePipeline(text);
  const executor = new LocalExecutor();
  const runId = await executor.submit({ pipeline });
  const { waves_executed, tasks_executed } = await executor.getResult(runId);
  const { tasks, waves, wave_sizes } = pipeline.statistics;
  const edges = [...pipeline.tasks.values()].reduce((sum, task) => sum + task.upstream.length, 0);
  return {
    tasks,
    edges,
    waves,
    wave_sizes,
    status: executor.getRun(runId).status,
    waves_executed,
    tasks_executed,
  };
}
