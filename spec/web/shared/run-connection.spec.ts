import { expect } from 'chai';
import { EntryQueue } from '../../../web/shared/server/entry-queue.js';
import { Feed, type FeedListener } from '../../../web/shared/server/feed.js';
import { RunConnection } from '../../../web/shared/server/run-connection.js';
import { Server } from '../../../web/shared/server/server.js';
import { ManualScheduler } from './manual-scheduler.js';
import { Streams } from './streams.js';
import { eventually } from '../waiting.js';

describe('The queue of entries of a page', () => {
  it('hands on, in each frame, what the frame has time for, and makes the feed wait while 5000 wait', async () => {
    const frames = new ManualScheduler();
    const taken: string[][] = [];
    const queue = new EntryQueue(
      frames,
      (entries) => taken.push([...entries]),
      (error) => expect.fail(String(error)),
    );
    for (let seq = 1; seq <= 5000; seq++) queue.add(String(seq));
    let hasRoom = false;
    const room = queue.keepUp().then(() => (hasRoom = true));
    frames.draw();
    frames.draw();
    await Promise.resolve();
    expect(taken).to.deep.equal([
      ['1', '2'],
      ['3', '4'],
    ]);
    expect(hasRoom).to.equal(false);
    frames.perFrame = 5000;
    frames.draw();
    await room;
    expect(taken.at(-1)?.at(-1)).to.equal('5000');
  });

  it('takes in no entry twice, and goes on with the next ones, when one cannot be taken in', () => {
    const frames = new ManualScheduler();
    const seen: string[] = [];
    const errors: unknown[] = [];
    const takeIn = (entries: Iterable<string>): void => {
      for (const entry of entries) {
        seen.push(entry);
        if (entry === 'bad') throw new Error('cannot take it in');
      }
    };
    const queue = new EntryQueue(frames, takeIn, (error) => errors.push(error));
    for (const entry of ['a', 'bad', 'b', 'c']) queue.add(entry);
    frames.draw();
    frames.draw();
    expect(seen).to.deep.equal(['a', 'bad', 'b', 'c']);
    expect(errors).to.have.length(1);
  });
});

/** A run whose entries change its record when they say so. */
class Followed extends RunConnection {
  readonly taken: string[] = [];

  protected override openFeed(listener: FeedListener): Feed {
    return new Feed(this.server, this.path('/events'), listener, this.scheduler);
  }

  protected override missed(): void {}

  protected override takeIn(entries: Iterable<string>): boolean {
    const taken = [...entries];
    for (const entry of taken) JSON.parse(entry);
    this.taken.push(...taken);
    return taken.includes('"wave"');
  }
}

describe('The connection of a page to its run', () => {
  let frames: ManualScheduler;
  let streams: Streams;
  let run: Followed;

  beforeEach(() => {
    frames = new ManualScheduler();
    streams = new Streams();
    run = new Followed(new Server({ getItem: () => null, setItem: () => {} }, streams.fetch), 'r1', frames);
  });

  afterEach(() => run.close());

  const isLive = (): Promise<void> => eventually(() => run.feed.value.kind === 'live');

  async function take(count: number): Promise<void> {
    await eventually(() => {
      frames.draw();
      return run.taken.length === count;
    });
  }

  it('reads the record again when an entry changes it, and at most every 400 ms', async () => {
    run.start();
    await isLive();
    await eventually(() => frames.waits.length === 1);
    streams.opened[0]?.write('id: 1\ndata: "wave"\n\nid: 2\ndata: "wave"\n\n');
    await take(2);
    expect(streams.asked).to.deep.equal(['/pipelines/runs/r1']);
    expect(frames.waits.map(({ milliseconds }) => milliseconds)).to.deep.equal([400]);
    frames.waits[0]?.end();
    await eventually(() => streams.asked.length === 2);
    expect(run.record.value?.status).to.equal('running');
  });

  it('goes on after the last entry when it is restarted, so that no entry is taken in twice', async () => {
    run.start();
    await isLive();
    streams.opened[0]?.write('id: 1\ndata: "a"\n\nid: 2\ndata: "b"\n\n');
    await take(2);
    run.close();
    run.restart();
    await isLive();
    expect(streams.opened.map(({ after }) => after)).to.deep.equal([null, '2']);
    streams.opened[1]?.write('id: 3\ndata: "c"\n\n');
    await take(3);
    expect(run.taken).to.deep.equal(['"a"', '"b"', '"c"']);
  });

  it('closes the stream of a page that was hidden for 30 s, and goes on after its last entry when it is shown', async () => {
    run.start();
    await isLive();
    streams.opened[0]?.write('id: 7\ndata: "a"\n\n');
    await take(1);
    frames.hide(true);
    expect(streams.closed).to.equal(0);
    const away = frames.waits.find(({ milliseconds }) => milliseconds === 30_000);
    away?.end();
    await eventually(() => streams.closed === 1);
    expect(run.feed.value).to.deep.equal({ kind: 'hidden' });
    frames.hide(false);
    await isLive();
    expect(streams.opened.map(({ after }) => after)).to.deep.equal([null, '7']);
  });

  it('keeps the stream of a page that is shown again within 30 s', async () => {
    run.start();
    await isLive();
    frames.hide(true);
    frames.hide(false);
    for (const { milliseconds, end } of frames.waits) if (milliseconds === 30_000) end();
    await Promise.resolve();
    expect(streams.closed).to.equal(0);
    expect(run.feed.value).to.deep.equal({ kind: 'live' });
  });

  it('closes the stream of a page that is opened in the background, too', async () => {
    frames.hide(true);
    run.start();
    await isLive();
    frames.waits.find(({ milliseconds }) => milliseconds === 30_000)?.end();
    await eventually(() => streams.closed === 1);
  });

  it('does not connect again when the page of a run that has ended is shown', async () => {
    run.start();
    await isLive();
    streams.opened[0]?.write('event: end\ndata: {}\n\n');
    await eventually(() => run.feed.value.kind === 'ended');
    frames.hide(true);
    frames.waits.find(({ milliseconds }) => milliseconds === 30_000)?.end();
    await Promise.resolve();
    frames.hide(false);
    expect(run.feed.value).to.deep.equal({ kind: 'ended' });
    expect(streams.opened.length).to.equal(1);
  });

  it('reads the record again, after longer and longer pauses, when the server is in trouble, and says so until then', async () => {
    streams.failures = [503, 429];
    run.start();
    await eventually(() => frames.waits.length === 1);
    expect(run.problem.value).to.equal('the server has answered with status 503');
    frames.waits[0]?.end();
    await eventually(() => frames.waits.length === 2);
    expect(run.problem.value).to.equal('the server has answered with status 429');
    frames.waits[1]?.end();
    await eventually(() => run.record.value !== undefined);
    expect(run.problem.value).to.equal('');
    expect(frames.waits.slice(0, 2).map(({ milliseconds }) => milliseconds)).to.deep.equal([1000, 2000]);
  });

  it('reads no more after it was closed', async () => {
    streams.failures = [503];
    run.start();
    await eventually(() => frames.waits.length === 1);
    run.close();
    for (const { end } of frames.waits) end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(streams.asked).to.have.length(1);
  });

  it('says that an entry is not JSON, and goes on after it when it is restarted', async () => {
    run.start();
    await isLive();
    streams.opened[0]?.write('id: 1\ndata: {\n\n');
    await eventually(() => {
      frames.draw();
      return run.feed.value.kind === 'refused';
    });
    expect(run.feed.value).to.have.property('message').that.includes('not JSON');
    run.restart();
    await isLive();
    expect(streams.opened.map(({ after }) => after)).to.deep.equal([null, '1']);
  });
});
