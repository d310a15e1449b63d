import { expect } from 'chai';
import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { type RunEvent, WavetrainClient } from '../../lib/client/index.js';
import { deferred } from '../support/deferred.js';
import { Puppet } from '../support/puppet.js';
import { rejectionOf } from '../support/rejection.js';
import { serving } from '../support/http/serving.js';
import { type Asked, answerJson, FakeServer } from './fake-server.js';
import { HastyClock } from './hasty-clock.js';

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

function lastKnown({ headers }: Asked): number {
  return Number(headers['last-event-id'] ?? 0);
}

/** Breaks one connection after the other as it was told, then serves all that is left. */
function breaking(plan: readonly Break[]): (response: ServerResponse, asked: Asked) => void {
  const left = [...plan];
  return (response, asked) => {
    const from = lastKnown(asked);
    const next = left.shift();
    if (next?.kind === 'refuse') return answerJson(response, 503, { detail: { code: 'x', message: 'busy' } });
    openStream(response);
    if (next === undefined) response.end(frames.slice(from).join('') + END);
    else if (next.kind === 'close') response.end(frames.slice(from, from + next.events).join(''));
    // What is known already is sent once more.
    else if (next.kind === 'repeat')
      response.end(frames.slice(Math.max(0, from - 3), from + next.events).join(''));
    else {
      const bytes = Buffer.from(frames.slice(from).join('')).subarray(0, next.bytes);
      response.write(bytes, () => response.destroy());
    }
  };
}

async function seqsOf(events: AsyncIterable<RunEvent>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const event of events) seqs.push(event.kind === 'gap' ? -event.next : event.seq);
  return seqs;
}

describe('The events of a client', () => {
  const all = Array.from({ length: COUNT }, (_, index) => index + 1);

  it('come each once and in order, however connections break (D30)', async function () {
    this.timeout(60_000);
    const check = fc.asyncProperty(fc.array(breaks, { maxLength: 7 }), async (plan) => {
      const fake = await FakeServer.open(breaking(plan));
      const client = new WavetrainClient({ url: fake.url, clock: new HastyClock(), retries: 8 });
      expect(await seqsOf(client.events('r'))).to.deep.equal(all);
      await fake.close();
    });
    await fc.assert(check, { numRuns: 60 });
  });

  it('come through 500 broken connections', async function () {
    this.timeout(30_000);
    let connections = 0;
    const plan = Array.from(
      { length: 500 },
      (_, index): Break =>
        index % 2 === 0 ? { kind: 'close', events: 1 } : { kind: 'cut', bytes: (index * 37) % 150 },
    );
    const answer = breaking(plan);
    const fake = await FakeServer.open((response, asked) => {
      connections++;
      answer(response, asked);
    });
    const client = new WavetrainClient({ url: fake.url, clock: new HastyClock() });
    expect(await seqsOf(client.events('r'))).to.deep.equal(all);
    expect(connections).to.equal(501);
    await fake.close();
  });

  it('of a run at work on a real server come through connections that break', async () => {
    const puppet = new Puppet();
    const server = await serving({ tools: [puppet.tool] });
    let connections = 0;
    const cutting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (!isStream || response.body === null) return response;
      return new Response(cutAfter(response.body, 200 + ((++connections * 61) % 300)), response);
    };
    const client = new WavetrainClient({ url: server.url, fetch: cutting, clock: new HastyClock() });
    const tasks = Array.from({ length: 30 }, (_, index) => ({ id: `t${index}`, tool: 'mock' }));
    const pipeline = { id: 'p', goal: 'g', tasks: [...tasks, { id: 'last', tool: 'puppet', await: ['t0'] }] };
    const { run_id } = await client.submit({ pipeline });
    const seqs: number[] = [];
    for await (const event of client.events(run_id)) {
      if (event.kind === 'gap') continue;
      seqs.push(event.seq);
      if (event.kind === 'start' && event.task_id === 'last') await puppet.returns('done');
    }
    const { last_seq } = (
      await server.ask<{ last_seq: number }>('GET', `/pipelines/runs/${run_id}/events`, undefined, {
        accept: 'application/json',
      })
    ).body;
    expect(seqs).to.deep.equal(Array.from({ length: last_seq }, (_, index) => index + 1));
    expect(connections).to.be.above(10);
    await server.close(0);
  });

  it('that are kept no longer are told once, and the rest follows', async () => {
    const gap = 'event: gap\ndata: {"after":0,"next":598}\n\n';
    const fake = await FakeServer.open((response, asked) => {
      openStream(response);
      const from = lastKnown(asked);
      // The connection breaks between the gap and the first event after it.
      if (from === 0) response.end(gap);
      else response.end((from < 597 ? gap : '') + frames.slice(from).join('') + END);
    });
    const client = new WavetrainClient({ url: fake.url, clock: new HastyClock() });
    const events: RunEvent[] = [];
    for await (const event of client.events('r')) events.push(event);
    expect(events[0]).to.deep.equal({ kind: 'gap', after: 0, next: 598 });
    expect(events.slice(1).map((event) => event.kind !== 'gap' && event.seq)).to.deep.equal([598, 599, 600]);
    await fake.close();
  });

  it('end without a word when the server has nothing more (204)', async () => {
    const fake = await FakeServer.open((response) => response.writeHead(204).end());
    const client = new WavetrainClient({ url: fake.url, clock: new HastyClock() });
    expect(await seqsOf(client.events('r', { after: 7 }))).to.deep.equal([]);
    expect(fake.asked.map((asked) => asked.headers['last-event-id'])).to.deep.equal(['7']);
    await fake.close();
  });

  it('leave frames out whose name this version does not know, and heartbeats', async () => {
    const fake = await FakeServer.open((response) => {
      openStream(response);
      response.end(`: \n\nevent: news\ndata: {"seq":9}\n\n${frames[0]}: \n\n${END}`);
    });
    const client = new WavetrainClient({ url: fake.url, clock: new HastyClock() });
    expect(await seqsOf(client.events('r'))).to.deep.equal([1]);
    await fake.close();
  });

  it('end their request when the loop is left', async () => {
    const closed = deferred<void>();
    const fake = await FakeServer.open((response) => {
      response.once('close', () => closed.resolve());
      openStream(response);
      response.write(frames.join(''));
    });
    const clock = new HastyClock();
    for await (const event of new WavetrainClient({ url: fake.url, clock }).events('r')) {
      if (event.kind !== 'gap' && event.seq === 3) break;
    }
    await closed.promise;
    expect(fake.asked).to.have.length(1);
    await fake.close();
  });

  it('end with what the server refuses, at once', async () => {
    const fake = await FakeServer.open((response) =>
      answerJson(response, 404, { detail: { code: 'run_not_found', message: 'there is no run r' } }),
    );
    const client = new WavetrainClient({ url: fake.url, clock: new HastyClock() });
    expect(await rejectionOf(seqsOf(client.events('r')))).to.include({ code: 'run_not_found', status: 404 });
    expect(fake.asked).to.have.length(1);
    await fake.close();
  });

  it('end when a server that was reached stays away, after waits that grow up to 8 seconds', async () => {
    let connections = 0;
    const fake = await FakeServer.open((response) => {
      if (connections++ > 0) return void response.destroy();
      openStream(response);
      response.end(frames[0]);
    });
    const clock = new HastyClock();
    const client = new WavetrainClient({ url: fake.url, clock });
    const error = await rejectionOf(seqsOf(client.events('r')));
    expect(error).to.include({ code: 'server_unreachable' });
    expect(clock.waits).to.deep.equal([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(connections).to.equal(9);
    await fake.close();
  });

  for (const [what, text] of [
    ['a page', '<html>'],
    ['an event that is no JSON', 'data: {\n\n'],
  ] as const) {
    it(`end when ${what} comes in their place`, async () => {
      const type = text.startsWith('data') ? 'text/event-stream' : 'text/html';
      const fake = await FakeServer.open((response) =>
        response.writeHead(200, { 'content-type': type }).end(text),
      );
      const client = new WavetrainClient({ url: fake.url, clock: new HastyClock() });
      const error = await rejectionOf(seqsOf(client.events('r')));
      expect(error).to.include({ code: 'server_unreachable', status: 200 });
      expect(error)
        .to.have.property('message')
        .that.contains(fake.url)
        .and.contains('no answer of Wavetrain');
      await fake.close();
    });
  }
});

/** The beginning of a stream, and then a connection that is lost. */
function cutAfter(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      controller.enqueue(value.subarray(0, left));
      left -= value.length;
      if (left > 0) return;
      await reader.cancel();
      controller.error(new Error('lost'));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
