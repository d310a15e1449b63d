import { connect } from 'node:net';
import { expect } from 'chai';
import { ControlledServer } from '../support/controlled-server.js';

describe('POST /pipelines/runs/{run_id}/cancel (States and transitions)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  it('leads to exactly one terminal state when it races completion', async () => {
    const seen = new Set<string>();
    for (let turns = 0; turns < 60; turns++) {
      const runId = await fixture.submit({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
      const pending = fixture.request('POST', `/pipelines/runs/${runId}/cancel`);
      for (let turn = 0; turn < turns; turn++) await new Promise((next) => void setImmediate(next));
      fixture.findCall(runId).resolve('done');
      const { status } = await pending;
      await fixture.waitUntilIdle();
      const record = await fixture.poll(runId);
      expect(record).to.include({ settled: true, status: status === 200 ? 'cancelled' : 'succeeded' });
      const events = fixture.server.registry.queries.events(runId).readAfter(0, 100).events;
      const terminal = events.flatMap((event) =>
        event.kind === 'run' && !['queued', 'running'].includes(event.status) ? [event.status] : [],
      );
      expect(terminal).to.deep.equal([record.status]);
      seen.add(record.status);
      if (seen.size === 2 && turns > 20) break;
    }
    expect([...seen].toSorted()).to.deep.equal(['cancelled', 'succeeded']);
  });

  it('accepts exactly one of ten thousand cancels, four hundred at once', async () => {
    const runId = await fixture.submit();
    const cancelFourTimes = (): Promise<string[]> =>
      readStatuses(fixture.server.url, `/pipelines/runs/${runId}/cancel`, 4);
    const statuses: string[] = [];
    while (statuses.length < 10_000) {
      statuses.push(...(await Promise.all(Array.from({ length: 100 }, cancelFourTimes))).flat());
    }
    expect(statuses.filter((status) => status === '200')).to.have.length(1);
    expect(statuses.filter((status) => status === '400')).to.have.length(9999);
    expect(await fixture.poll(runId)).to.include({ status: 'cancelled', settled: false });
    await fixture.complete(runId);
    expect(await fixture.poll(runId)).to.include({ status: 'cancelled', settled: true });
  });
});

/** Sends `count` requests one behind the other over one connection, without waiting for responses. */
async function readStatuses(url: string, path: string, count: number): Promise<string[]> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const request = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`;
  const last = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  socket.write(request.repeat(count - 1) + last);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return [
    ...Buffer.concat(chunks)
      .toString()
      .matchAll(/HTTP\/1\.1 (\d{3})/g),
  ].map(([, status]) => status ?? '');
}
