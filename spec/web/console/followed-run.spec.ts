import { expect } from 'chai';
import { FollowedRun } from '../../../web/console/run/followed-run.js';
import { Server } from '../../../web/shared/server/server.js';
import { ManualScheduler } from '../shared/manual-scheduler.js';
import { Streams } from '../shared/streams.js';
import { eventually } from '../waiting.js';

const GAP = 'event: gap\ndata: {"after": 1, "next": 9}\n\n';

describe('The tasks of a run whose events were missed', () => {
  let frames: ManualScheduler;
  let streams: Streams;
  let run: FollowedRun;

  beforeEach(() => {
    frames = new ManualScheduler();
    streams = new Streams();
    streams.answer = (path) => {
      if (path.endsWith('/graph'))
        return { kind: 'pipeline', graph: { id: 'p', goal: 'g', waves: [], edges: [] } };
      return path.includes('/tasks') ? { tasks: [], next_cursor: null } : { run_id: 'r1', status: 'running' };
    };
    const server = new Server({ getItem: () => null, setItem: () => {} }, streams.fetch);
    run = new FollowedRun(server, 'r1', frames, '');
  });

  afterEach(() => run.close());

  const reads = (): number => streams.asked.filter((path) => path.includes('/tasks')).length;
  const waits = (time: number): number =>
    frames.waits.filter(({ milliseconds }) => milliseconds === time).length;
  const endWaits = (): void => {
    for (const { end } of frames.waits) end();
  };

  async function follow(): Promise<void> {
    run.start();
    await eventually(() => run.feed.value.kind === 'live' && reads() === 1);
    await new Promise((resolve) => setImmediate(resolve));
    streams.failsOn = '/tasks';
    streams.opened[0]?.write(GAP);
    await eventually(() => reads() === 2);
  }

  it('are read again and again, also after an answer that was 503', async () => {
    await follow();
    streams.failsOn = undefined;
    await eventually(() => waits(1000) === 1);
    endWaits();
    await eventually(() => waits(3000) === 1);
    endWaits();
    await eventually(() => reads() === 4);
    expect(run.problem.value).to.equal('');
  });

  it('are read no more when the page is closed, and followed again when it is opened again', async () => {
    await follow();
    run.close();
    endWaits();
    await new Promise((resolve) => setImmediate(resolve));
    expect(reads()).to.equal(2);
    streams.failsOn = undefined;
    run.start();
    await eventually(() => waits(3000) === 1);
  });
});
