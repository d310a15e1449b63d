import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { runOnTheFloor } from '../floor.js';
import { compare } from '../measure.js';
import { runOurs } from '../ours.js';
import { firstLine } from './load.js';
import type { Peer, RunOnce } from './peer.js';

export interface Shape {
  readonly name: string;
  readonly pipeline: Pipeline;
  /** Measured rounds; in each of them every candidate runs once. */
  readonly rounds: number;
}

export interface Measured {
  readonly shape: Shape;
  /** Milliseconds of a run, the median, by candidate: `floor`, `wavetrain` and the names of the peers. */
  readonly ms: ReadonlyMap<string, number>;
  /** Why a peer has no number. */
  readonly leftOut: readonly string[];
}

/** Everything is warm before the first measured round; the quick ones need more runs for that than the slow ones. */
export async function measureShape(shape: Shape, peers: readonly Peer[]): Promise<Measured> {
  const { pipeline, rounds } = shape;
  const { runs, leftOut } = await checkedRuns(pipeline, peers);
  const own = { floor: () => runOnTheFloor(pipeline), wavetrain: () => runOurs(pipeline) };
  await compare(own, { rounds: 0, warmup: 60 });
  const ms = await compare({ ...own, ...Object.fromEntries(runs) }, { rounds, warmup: 5 });
  return { shape, ms: new Map(Object.entries(ms)), leftOut };
}

/** A number counts only when the peer did the work: every task's output is there, handed on from the first one's. */
async function checkedRuns(
  pipeline: Pipeline,
  peers: readonly Peer[],
): Promise<{ runs: [string, RunOnce][]; leftOut: string[] }> {
  const runs: [string, RunOnce][] = [];
  const leftOut: string[] = [];
  for (const peer of peers) {
    try {
      const run = peer.prepare(pipeline);
      const outputs = await run();
      for (const id of pipeline.tasks.keys()) {
        const text = JSON.stringify(outputs(id));
        if (text !== '{"n":0,"text":"after 0"}') throw new Error(`${id} put out ${text}`);
      }
      runs.push([peer.name, run]);
    } catch (error) {
      leftOut.push(`${peer.name} did not run: ${firstLine(error)}`);
    }
  }
  return { runs, leftOut };
}
