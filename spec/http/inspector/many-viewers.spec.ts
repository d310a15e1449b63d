import { expect } from 'chai';
import { WebSocket } from 'ws';
import { INSPECTION_LIMITS } from '../../../lib/common/limits.js';
import { INSPECTOR_LIMITS } from '../../../lib/http/inspector/socket-limits.js';
import { FLUSH_DELAY_MS } from '../../../lib/http/sse/streams.js';
import { ControlledServer } from '../support/controlled-server.js';
import { EventReader } from '../support/event-reader.js';

const VIEWERS = 100;

describe('A hundred viewers of one run', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  it('receive the same entries over HTTP, which are kept once, and whose memory is that of the run', async () => {
    const runId = await fixture.submit();
    const url = `${fixture.server.url}/pipelines/runs/${runId}/inspection`;
    const readers = Array.from({ length: VIEWERS }, () => new EventReader(url));
    await Promise.all(readers.map((reader) => reader.waitUntil(() => reader.events.length === 3)));
    const { log } = await fixture.server.registry.queries.inspection(runId);
    await fixture.complete(runId);
    fixture.clock.advance(FLUSH_DELAY_MS);
    await fixture.complete(runId);
    fixture.clock.advance(FLUSH_DELAY_MS);
    const ends = await Promise.all(readers.map(({ closed }) => closed));
    expect(new Set(ends)).to.deep.equal(new Set([true]));
    expect(readers[0]?.seqs).to.deep.equal(Array.from({ length: log.lastSeq }, (_, index) => index + 1));
    expect(new Set(readers.map(({ events }) => JSON.stringify(events))).size).to.equal(1);
    expect(log.bytes).to.be.at.most(INSPECTION_LIMITS.length);
    fixture.clock.advance(INSPECTION_LIMITS.lingerMs);
  });

  it('receive the same over WebSockets, as many as there may be, and the others learn why not', async () => {
    const runId = await fixture.submit();
    const url = `${fixture.server.url.replace('http:', 'ws:')}/inspect/ws?run=${runId}`;
    let refused = 0;
    let informed = 0;
    let onDecided = (): void => {};
    const decided = new Promise<void>((resolve) => (onDecided = resolve));
    const decide = (): void => {
      if (refused + informed === VIEWERS) onDecided();
    };
    const views = Array.from({ length: VIEWERS }, () => {
      const socket = new WebSocket(url);
      const messages: string[] = [];
      socket.once('open', () => socket.send('{}'));
      socket.on('message', (data: Buffer) => {
        messages.push(String(data));
        if (messages.length === 3) informed++;
        decide();
      });
      const closed = new Promise<string>((resolve) => {
        socket.once('close', (code, reason) => {
          if (messages.length === 0) refused++;
          decide();
          resolve(`${code} ${String(reason)}`);
        });
      });
      return { messages, closed };
    });
    await decided;
    expect({ refused, informed }).to.deep.equal({
      refused: VIEWERS - INSPECTOR_LIMITS.viewers,
      informed: INSPECTOR_LIMITS.viewers,
    });
    await fixture.complete(runId);
    await fixture.complete(runId);
    const ends = await Promise.all(views.map(({ closed }) => closed));
    expect(new Set(ends)).to.deep.equal(
      new Set(['1000 the run has settled', '4429 too many inspectors are open: close some']),
    );
    const received = views.flatMap(({ messages }) => (messages.length > 0 ? [messages.join('\n')] : []));
    expect(new Set(received).size).to.equal(1);
    expect(received[0]).to.include('"name":"b"');
  });
});
