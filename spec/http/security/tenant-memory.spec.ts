import { expect } from 'chai';
import type { RunRecord } from '../../../lib/runs/record.js';
import { settle } from '../../support/deferred.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { ManualClock } from '../../support/manual-clock.js';

const SLEEP = { id: 'sleep', goal: 'g', tasks: [{ id: 't', tool: 'sleep', inputs: { seconds: 2_000_000 } }] };
const MOCK = { id: 'mock', goal: 'g', tasks: [{ id: 't', tool: 'mock', inputs: {} }] };

describe('A server with a hostile tenant (D25, D26)', () => {
  let server: TestServer;
  let clock: ManualClock;

  beforeEach(() => {
    clock = new ManualClock();
  });

  afterEach(async () => {
    const closed = server.close(0);
    await settle();
    clock.advance(1);
    await closed;
  });

  async function submit(tenant: string, pipeline: object, inputs: object = {}): Promise<string> {
    const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', {
      pipeline,
      inputs,
      tenant_id: tenant,
    });
    return body.run_id;
  }

  async function record(runId: string): Promise<RunRecord> {
    await settle();
    return (await server.request<RunRecord>('GET', `/pipelines/runs/${runId}`)).body;
  }

  it('starts a run of bob while alice sleeps in every slot and fills the queue', async () => {
    const env = { SERVICE_MAX_RUNNING: '4', SERVICE_MAX_QUEUED: '16' };
    server = await startTestServer({ env, clock });
    for (let run = 0; run < 20; run++) expect(await submit('alice', SLEEP)).to.be.a('string');
    expect(await submit('alice', SLEEP)).to.equal(undefined);
    expect((await record(await submit('bob', MOCK))).status).to.equal('succeeded');
  });

  it('queues more runs than it has memory for at once if all of them were at work', async () => {
    const env = { SERVICE_MEMORY: '16', SERVICE_MAX_RUNNING: '1' };
    server = await startTestServer({ env, clock });
    for (let run = 0; run < 400; run++) expect(await submit('alice', SLEEP)).to.be.a('string');
  });

  it('lets alice list and cancel her runs when bodies that never end have used up her memory', async () => {
    server = await startTestServer({ env: { SERVICE_MEMORY: '16' }, clock });
    const runId = await submit('alice', SLEEP);
    const head = 'POST /pipelines/validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const powers = Array.from({ length: 21 }, (_, n) => 2 ** (20 - n));
    // Each body until nothing is left of its size; with and without what is not counted.
    const lengths = [...powers, ...powers]
      .flatMap((length) => [length, length + 1024])
      .filter((n) => n <= 2 ** 20);
    const sockets: RawSocket[] = [];
    for (const length of lengths.toSorted((a, b) => b - a)) {
      for (let count = 0; count < 6; count++) {
        const socket = new RawSocket(server.url).send(`${head}Content-Length: ${length}\r\n\r\n`);
        sockets.push(socket);
        await settle(3);
        if (!socket.isOpen) break;
      }
    }
    const statuses: number[] = [];
    for (const [method, path] of [
      ['GET', '/pipelines/runs?limit=10'],
      ['POST', `/pipelines/runs/${runId}/cancel`],
    ] as const) {
      const body = method === 'POST' ? { force: true } : undefined;
      statuses.push((await server.request(method, path, body)).status);
    }
    for (const socket of sockets) socket.disconnect();
    expect(statuses).to.deep.equal([200, 200]);
  });
});
