import { type Clock, systemClock } from '../../lib/common/clock.js';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { RunInspection } from '../../lib/runs/inspection/inspection.js';
import { compare } from '../measure.js';
import { chain, fanOut } from '../shapes.js';

const executor = new LocalExecutor();

/** Recording ends with the last viewer, not some time later. */
const impatientClock: Clock = {
  ...systemClock,
  setTimeout(callback) {
    callback();
    return undefined;
  },
};

/** The time for which somebody views the run: from its first event on, only before its first event, or never. */
type Viewer = 'always' | 'left' | 'never';

/** Runs a pipeline as a server does, whose runs can be inspected. Returns how many entries were recorded. */
async function runViewed(pipeline: Pipeline, viewer: Viewer): Promise<number> {
  const runId = await executor.submit({ pipeline });
  const inspection = new RunInspection(executor.getRun(runId), impatientClock);
  if (viewer !== 'never') {
    const view = inspection.openNow();
    if (viewer === 'left') view.close();
  }
  await executor.getResult(runId);
  executor.forget(runId);
  return inspection.log.lastSeq;
}

/** Milliseconds of runs, by who views them, and microseconds for each entry of two fan-outs, the second a tenth of the first. */
export async function inspectionTimes(): Promise<{
  readonly never: number;
  readonly left: number;
  readonly always: number;
  readonly usPerEntry: number;
  readonly usPerEntryOfTenth: number;
}> {
  const hundred = chain(100);
  const chains = await compare(
    {
      never: () => runViewed(hundred, 'never'),
      left: () => runViewed(hundred, 'left'),
      always: () => runViewed(hundred, 'always'),
    },
    { rounds: 101, warmup: 40 },
  );
  return { ...chains, usPerEntry: await entryTime(10_000), usPerEntryOfTenth: await entryTime(1000) };
}

/** Microseconds that recording adds for each entry of a fan-out. */
async function entryTime(items: number): Promise<number> {
  const pipeline = fanOut(items);
  const { never, always } = await compare(
    { never: () => runViewed(pipeline, 'never'), always: () => runViewed(pipeline, 'always') },
    { rounds: 15, warmup: 4 },
  );
  return ((always - never) * 1000) / (await runViewed(pipeline, 'always'));
}
