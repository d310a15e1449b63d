import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { runFloor } from '../runs/floor.js';
import { compare } from '../measure.js';
import { runWavetrain } from '../runs/wavetrain.js';
import { firstLine } from './load.js';
import type { Peer, RunOnce } from './peer.js';

export interface Shape {
  readonly name: string;
  readonly pipeline: Pipeline;
  /** ShapeResult rounds; in each of them every candidate runs once. */
  readonly rounds: number;
}

export interface ShapeResult {
  readonly shape: Shape;
  /** Milliseconds of a run, the median, by candidate: `floor`, `wavetrain` and the names of the peers. */
  readonly ms: ReadonlyMap<string, number>;
  /** Why a peer has no number. */
  readonly excluded: readonly string[];
}

/** Everything is warm before the first measured round; the quick ones need more runs for that than the slow ones. */
export async function measureShape(shape: Shape, peers: readonly Peer[]): Promise<ShapeResult> {
  const { pipeline, rounds } = shape;
  const { runs, excluded } = await verifyPeers(pipeline, peers);
  const own = { floor: () => runFloor(pipeline), wavetrain: () => runWavetrain(pipeline) };
  await compare(own, { rounds: 0, warmup: 60 });
  const ms = await compare({ ...own, ...Object.fromEntries(runs) }, { rounds, warmup: 5 });
  return { shape, ms: new Map(Object.entries(ms)), excluded };
}

/** A number counts only when the peer did the work: every task's output is there, handed on from the first one's. */
async function verifyPeers(
  pipeline: Pipeline,
  peers: readonly Peer[],
): Promise<{ runs: [string, RunOnce][]; excluded: string[] }> {
  const runs: [string, RunOnce][] = [];
  const excluded: string[] = [];
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
      excluded.push(`${peer.name} did not run: ${firstLine(error)}`);
    }
  }
  return { runs, excluded };
}
