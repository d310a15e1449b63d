import { expect } from 'chai';
import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { type StreamedEvent, WavetrainClient } from '../../lib/client/index.js';
import { deferred } from '../support/deferred.js';
import { catchRejection } from '../support/rejection.js';
import { type ReceivedRequest, respondJson, FakeServer } from './fake-server.js';
import { ImmediateClock } from './immediate-clock.js';
import { cases } from '../support/measuring/cases.js';

const COUNT = 600;

const frames = Array.from({ length: COUNT }, (_, index) => {
  const event = { seq: index + 1, kind: 'log', task_id: 'a', message: `größer ${index + 1} 🚂` };
  return `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
});
const END = 'event: end\ndata: {"run_id":"r","status":"succeeded"}\n\n';

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.write('retry: 1000\n\n');
}

/** How one connection ends. */
type Break =
  | { readonly kind: 'cut'; readonly bytes: number }
  | { readonly kind: 'close'; readonly events: number }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'repeat'; readonly events: number };

const breaks: fc.Arbitrary<Break> = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), bytes: fc.nat(1500) }),
  fc.record({ kind: fc.constant('close' as const), events: fc.nat(10) }),
  fc.record({ kind: fc.constant('refuse' as const) }),
  fc.record({ kind: fc.constant('repeat' as const), events: fc.nat(10) }),
);

function lastKnown({ headers }: ReceivedRequest): number {
  return Number(headers['last-event-id'] ?? 0);
}

/** Breaks one connection after the other as the spec asks, then serves all remaining events. */
function breaking(plan: readonly Break[]): (response: ServerResponse, asked: ReceivedRequest) => void {
  const left = [...plan];
  return (response, asked) => {
    const from = lastKnown(asked);
    const next = left.shift();
    if (next?.kind === 'refuse')
      return respondJson(response, 503, { detail: { code: 'x', message: 'busy' } });
    openStream(response);
    if (next === undefined) response.end(frames.slice(from).join('') + END);
    else if (next.kind === 'close') response.end(frames.slice(from, from + next.events).join(''));
    // Events that are known already are sent once more.
    else if (next.kind === 'repeat')
      response.end(frames.slice(Math.max(0, from - 3), from + next.events).join(''));
    else {
      const bytes = Buffer.from(frames.slice(from).join('')).subarray(0, next.bytes);
      response.write(bytes, () => response.destroy());
    }
  };
}

async function seqsOf(events: AsyncIterable<StreamedEvent>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const event of events) seqs.push(event.kind === 'gap' ? -event.next : event.seq);
  return seqs;
}

describe('WavetrainClient.events', () => {
  const all = Array.from({ length: COUNT }, (_, index) => index + 1);

  it('yields each event once and in order, wherever connections break (D30)', async () => {
    const check = fc.asyncProperty(fc.array(breaks, { maxLength: 7 }), async (plan) => {
      const fake = await FakeServer.open(breaking(plan));
      const client = new WavetrainClient({ url: fake.url, clock: new ImmediateClock(), retries: 8 });
      expect(await seqsOf(client.events('r'))).to.deep.equal(all);
      await fake.close();
    });
    await fc.assert(check, cases(60));
  });

  it('yields one gap for dropped events, and the events after it', async () => {
    const gap = 'event: gap\ndata: {"after":0,"next":598}\n\n';
    const fake = await FakeServer.open((response, asked) => {
      openStream(response);
      const from = lastKnown(asked);
      // The connection breaks between the gap and the first event after it.
      if (from === 0) response.end(gap);
      else response.end((from < 597 ? gap : '') + frames.slice(from).join('') + END);
    });
    const client = new WavetrainClient({ url: fake.url, clock: new ImmediateClock() });
    const events: StreamedEvent[] = [];
    for await (const event of client.events('r')) events.push(event);
    expect(events[0]).to.deep.equal({ kind: 'gap', after: 0, next: 598 });
    expect(events.slice(1).map((event) => event.kind !== 'gap' && event.seq)).to.deep.equal([598, 599, 600]);
    await fake.close();
  });

  it('ends when the server has no more events (204)', async () => {
    const fake = await FakeServer.open((response) => response.writeHead(204).end());
    const client = new WavetrainClient({ url: fake.url, clock: new ImmediateClock() });
    expect(await seqsOf(client.events('r', { after: 7 }))).to.deep.equal([]);
    expect(fake.requests.map((asked) => asked.headers['last-event-id'])).to.deep.equal(['7']);
    await fake.close();
  });

  it('skips heartbeats and frames with unknown names', async () => {
    const fake = await FakeServer.open((response) => {
      openStream(response);
      response.end(`: \n\nevent: news\ndata: {"seq":9}\n\n${frames[0]}: \n\n${END}`);
    });
    const client = new WavetrainClient({ url: fake.url, clock: new ImmediateClock() });
    expect(await seqsOf(client.events('r'))).to.deep.equal([1]);
    await fake.close();
  });

  it('ends the request when the loop is left', async () => {
    const closed = deferred<void>();
    const fake = await FakeServer.open((response) => {
      response.once('close', () => closed.resolve());
      openStream(response);
      response.write(frames.join(''));
    });
    const clock = new ImmediateClock();
    for await (const event of new WavetrainClient({ url: fake.url, clock }).events('r')) {
      if (event.kind !== 'gap' && event.seq === 3) break;
    }
    await closed.promise;
    expect(fake.requests).to.have.length(1);
    await fake.close();
  });

  it('rejects at once with an error response', async () => {
    const fake = await FakeServer.open((response) =>
      respondJson(response, 404, { detail: { code: 'run_not_found', message: 'there is no run r' } }),
    );
    const client = new WavetrainClient({ url: fake.url, clock: new ImmediateClock() });
    expect(await catchRejection(seqsOf(client.events('r')))).to.include({
      code: 'run_not_found',
      status: 404,
    });
    expect(fake.requests).to.have.length(1);
    await fake.close();
  });

  it('rejects when a server becomes unreachable, after delays of up to 8 seconds', async () => {
    let connections = 0;
    const fake = await FakeServer.open((response) => {
      if (connections++ > 0) return void response.destroy();
      openStream(response);
      response.end(frames[0]);
    });
    const clock = new ImmediateClock();
    const client = new WavetrainClient({ url: fake.url, clock });
    const error = await catchRejection(seqsOf(client.events('r')));
    expect(error).to.include({ code: 'server_unreachable' });
    expect(clock.waits).to.deep.equal([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(connections).to.equal(9);
    await fake.close();
  });

  for (const [what, text] of [
    ['a page', '<html>'],
    ['an event that is no JSON', 'data: {\n\n'],
  ] as const) {
    it(`rejects when ${what} arrives instead`, async () => {
      const type = text.startsWith('data') ? 'text/event-stream' : 'text/html';
      const fake = await FakeServer.open((response) =>
        response.writeHead(200, { 'content-type': type }).end(text),
      );
      const client = new WavetrainClient({ url: fake.url, clock: new ImmediateClock() });
      const error = await catchRejection(seqsOf(client.events('r')));
      expect(error).to.include({ code: 'server_unreachable', status: 200 });
      expect(error)
        .to.have.property('message')
        .that.contains(fake.url)
        .and.contains('not a response of Wavetrain');
      await fake.close();
    });
  }
});
