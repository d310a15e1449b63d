import { expect } from 'chai';
import type { RunRecord } from '../../../lib/runs/record.js';
import { EntryQueue } from '../../../web/shared/server/entry-queue.js';
import { Feed, type FeedListener } from '../../../web/shared/server/feed.js';
import { RunConnection } from '../../../web/shared/server/run-connection.js';
import { Server } from '../../../web/shared/server/server.js';
import { ManualFrames } from './manual-frames.js';
import { eventually } from '../waiting.js';

describe('The queue of entries of a page', () => {
  it('hands on, in each frame, what the frame has time for, and makes the feed wait while 5000 wait', async () => {
    const frames = new ManualFrames();
    const taken: string[][] = [];
    const queue = new EntryQueue(frames, (entries) => taken.push([...entries]));
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
});

/** A run whose entries change its record when they say so. */
class Followed extends RunConnection {
  readonly taken: string[] = [];

  protected override openFeed(listener: FeedListener): Feed {
    return new Feed(this.server, this.path('/events'), listener, this.frames);
  }

  protected override missed(): void {}

  protected override takeIn(entries: Iterable<string>): boolean {
    const taken = [...entries];
    this.taken.push(...taken);
    return taken.includes('"wave"');
  }
}

/** A server whose streams the spec writes. */
class Streams {
  readonly asked: string[] = [];
  /** The Last-Event-ID of each connection, and what writes to it. */
  readonly opened: { readonly after: string | null; readonly write: (text: string) => void }[] = [];
  /** Connections that the page has closed. */
  closed = 0;

  readonly fetch: typeof fetch = (path, init) => {
    const headers = new Headers(init?.headers);
    if (headers.get('accept') !== 'text/event-stream') {
      this.asked.push(path instanceof Request ? path.url : path.toString());
      return Promise.resolve(Response.json({ run_id: 'r1', status: 'running' } satisfies Partial<RunRecord>));
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        init?.signal?.addEventListener('abort', () => {
          this.closed++;
          controller.error(new Error('aborted'));
        });
        this.opened.push({
          after: headers.get('last-event-id'),
          write: (text) => controller.enqueue(new TextEncoder().encode(text)),
        });
      },
    });
    return Promise.resolve(new Response(body));
  };
}

describe('The connection of a page to its run', () => {
  let frames: ManualFrames;
  let streams: Streams;
  let run: Followed;

  beforeEach(() => {
    frames = new ManualFrames();
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
});
