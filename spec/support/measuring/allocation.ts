import { type HeapProfiler, Session } from 'node:inspector/promises';
import { runWavetrain } from '../../../bench/runs/wavetrain.js';
import { chain, fanOut, waves } from '../../../bench/shapes.js';

/** Bytes between two samples. */
const INTERVAL = 512;

/** Tasks until V8 has compiled what the runs call. */
const WARMUP_TASKS = 30_000;

/** On a busy machine V8 compiles later, and code that it interprets allocates more: the least of several measures counts. */
const MEASURES = 4;
const MEASURED_TASKS = 10_000;

/** Node.js has no types for them. */
const WITH_COLLECTED = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };

const SHAPES = {
  chain: { pipeline: chain(100), tasks: 100 },
  wave: { pipeline: waves(1, 1000), tasks: 1000 },
  item: { pipeline: fanOut(10_000), tasks: 10_000 },
};

export type AllocatedBytes = Readonly<Record<keyof typeof SHAPES, number>>;

/** A program: prints the AllocatedBytes of a task of each shape. In a process of its own, nothing else has shaped the code. */
const allocated: Record<string, number> = {};
for (const [name, { pipeline, tasks }] of Object.entries(SHAPES)) {
  const run = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= tasks) {
      await runWavetrain(pipeline, { fan_out_concurrency: 64 });
    }
  };
  await run(WARMUP_TASKS);
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < MEASURES; time++) {
    least = Math.min(least, (await measureAllocation(() => run(MEASURED_TASKS))) / MEASURED_TASKS);
  }
  allocated[name] = least;
}
process.stdout.write(JSON.stringify(allocated));

/** Returns how many bytes `work` allocates, those that the collector has taken back included, from samples of the heap. */
async function measureAllocation(work: () => Promise<void>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: INTERVAL,
      ...WITH_COLLECTED,
    });
    await work();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return sumSizes(profile.head);
  } finally {
    session.disconnect();
  }
}

function sumSizes({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + sumSizes(child), selfSize);
}
