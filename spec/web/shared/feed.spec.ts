import { expect } from 'chai';
import { InspectionFeed, type InspectionListener } from '../../../web/inspect/server/inspection-feed.js';
import type { FeedState } from '../../../web/shared/server/feed.js';
import { EventStreamParser } from '../../../web/shared/server/event-stream-parser.js';
import { Server } from '../../../web/shared/server/server.js';

/** The entries, states and waits that a feed has told. */
interface Told {
  readonly entries: string[];
  readonly states: FeedState[];
  readonly waits: number[];
  /** The Last-Event-ID of each connection. */
  readonly resumes: (string | null)[];
}

type Answer = () => Response;

/** Runs a feed over a server that answers each connection in turn. */
async function runFeed(answers: readonly Answer[]): Promise<Told> {
  const told: Told = { entries: [], states: [], waits: [], resumes: [] };
  const waiting = [...answers];
  const send: typeof fetch = (_, init) => {
    const headers = new Headers(init?.headers);
    if (headers.get('accept') === 'application/json')
      return Promise.resolve(Response.json({ origin: 'live' }));
    told.resumes.push(headers.get('last-event-id'));
    const answer = waiting.shift();
    return answer ? Promise.resolve(answer()) : Promise.reject(new Error('the spec has no more answers'));
  };
  const keys = new Map<string, string>();
  const store = {
    getItem: (name: string) => keys.get(name) ?? null,
    setItem: (name: string, value: string) => void keys.set(name, value),
  };
  const listener: InspectionListener = {
    onEntry: (text) => told.entries.push(text),
    onState: (state) => told.states.push(state),
    onGap: (after, next) => told.entries.push(`gap ${after} ${next}`),
    onOrigin: () => {},
    keepUp: () => Promise.resolve(),
  };
  const waiter = {
    wait: (milliseconds: number) => {
      told.waits.push(milliseconds);
      return Promise.resolve();
    },
  };
  await new InspectionFeed(new Server(store, send), 'r1', listener, waiter).run();
  return told;
}

const stream = (text: string): Answer => {
  return () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
};

const END = 'event: end\ndata: {}\n\n';

const refuse =
  (status: number, code: string): Answer =>
  () =>
    Response.json({ detail: { code, message: `refused with ${code}` } }, { status });

const fail: Answer = () => {
  throw new TypeError('the network is gone');
};

describe('The feed of the inspector', () => {
  it('reads entries, gaps and the end', async () => {
    const { entries, states } = await runFeed([
      stream(
        `retry: 1000\n\nevent: gap\ndata: {"after":0,"next":5}\n\nid: 5\ndata: {"seq":5}\n\n: \n\n${END}`,
      ),
    ]);
    expect(entries).to.deep.equal(['gap 0 5', '{"seq":5}']);
    expect(states.map(({ kind }) => kind)).to.deep.equal(['live', 'ended']);
  });

  it('goes on after the last entry when the connection breaks, and waits longer each time', async () => {
    const { resumes, waits, states } = await runFeed([
      stream('id: 1\ndata: {}\n\nid: 2\ndata: {}\n\n'),
      fail,
      refuse(503, 'memory_full'),
      refuse(429, 'too_many_streams'),
      stream(`id: 3\ndata: {}\n\n${END}`),
    ]);
    expect(resumes).to.deep.equal([null, '2', '2', '2', '2']);
    expect(waits).to.deep.equal([500, 1000, 2000, 4000]);
    expect(states.at(-1)).to.deep.equal({ kind: 'ended' });
  });

  it('connects again in browsers without AbortSignal.any, such as Firefox 115', async () => {
    const any = Object.getOwnPropertyDescriptor(AbortSignal, 'any');
    if (any === undefined) throw new Error('this Node.js has no AbortSignal.any');
    Reflect.deleteProperty(AbortSignal, 'any');
    try {
      const { states } = await runFeed([fail, stream(END)]);
      expect(states.map(({ kind }) => kind)).to.deep.equal(['lost', 'live', 'ended']);
    } finally {
      Object.defineProperty(AbortSignal, 'any', any);
    }
  });

  it('ends when there is nothing to wait for', async () => {
    const last = async (...answers: Answer[]) => (await runFeed(answers)).states.at(-1);
    expect(await last(refuse(404, 'run_not_found'))).to.deep.equal({ kind: 'missing' });
    expect(await last(stream('id: 1\ndata: {}\n\n'), refuse(404, 'run_not_found'))).to.deep.equal({
      kind: 'restarted',
    });
    expect(await last(refuse(401, 'unauthorized'))).to.deep.equal({ kind: 'key' });
    expect(await last(refuse(403, 'forbidden'))).to.deep.equal({
      kind: 'refused',
      message: 'refused with forbidden',
    });
    expect(await last(() => new Response(null, { status: 204 }))).to.deep.equal({ kind: 'ended' });
  });
});

describe('The reader of Server-Sent Events', () => {
  it('finds the same frames however the text is cut', () => {
    const text = ': hello\r\nid: 7\r\ndata: a\r\ndata:b\r\n\r\nevent: end\ndata: {}\n\n';
    const expected = [
      { id: '7', name: 'message', data: 'a\nb' },
      { id: '', name: 'end', data: '{}' },
    ];
    for (let cut = 0; cut <= text.length; cut++) {
      const reader = new EventStreamParser();
      expect([...reader.read(text.slice(0, cut)), ...reader.read(text.slice(cut))]).to.deep.equal(expected);
    }
  });

  it('refuses a line without an end', () => {
    const reader = new EventStreamParser();
    expect(() => reader.read('x'.repeat(17 * 1024 * 1024))).to.throw('without an end');
  });
});
