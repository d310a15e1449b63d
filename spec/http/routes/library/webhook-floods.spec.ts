import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import { settle } from '../../../support/deferred.js';
import { RawSocket } from '../../../support/http/raw-socket.js';
import { createRouteTable } from '../../../support/http/route-table.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { formatRequestHead } from '../../support/body-server.js';

const SECRET = 'a-secret-of-24-letters-';
const MIB = 2 ** 20;
const FALSE = `sha256=${'0'.repeat(64)}`;

const sign = (text: string): string => `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`;

describe('A body that is received to check its signature (D71)', () => {
  const clock = new ManualClock();
  let folder: TemporaryFolder;
  let server: TestServer;
  let sockets: RawSocket[] = [];
  before(async () => {
    folder = new TemporaryFolder();
    for (const id of ['push', 'other']) {
      folder.write(
        `pipelines/${id}.yaml`,
        `pipeline: {id: ${id}, goal: g, webhook: {secret: HOOK}, tasks: [{id: a, tool: mock}]}`,
      );
    }
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines'), SERVICE_MEMORY: '16' },
      secrets: { find: (_, name) => (name === 'HOOK' ? SECRET : undefined) },
      clock,
    });
    await server.restored;
  });
  afterEach(async () => {
    for (const socket of sockets) socket.disconnect();
    sockets = [];
    await untilUsed((bytes) => bytes < 64 * 1024);
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  /** Resolves when the server has counted so much memory; a run that has settled takes a few kilobytes. */
  async function untilUsed(isEnough: (bytes: number) => boolean): Promise<void> {
    for (;;) {
      const { body } = await server.request<string>('GET', '/metrics');
      if (isEnough(Number(/^wavetrain_memory_used_bytes (\S+)/m.exec(body)?.[1]))) return;
      await settle(1);
    }
  }

  /** Declares a body of `length`, and sends so much of it. */
  function begin(length: number, sent: number, signature = FALSE): RawSocket {
    const head = `Content-Length: ${length}\r\nX-Hub-Signature-256: ${signature}`;
    const socket = new RawSocket(server.url);
    socket.send(formatRequestHead(head, '/pipelines/push/webhook') + 'x'.repeat(sent));
    sockets.push(socket);
    return socket;
  }

  const post = (body: string, signature: string, id = 'push'): ReturnType<TestServer['request']> =>
    server.request('POST', `/pipelines/${id}/webhook`, body, {
      'content-type': 'application/json',
      'x-hub-signature-256': signature,
    });

  async function codeOf(socket: RawSocket): Promise<[status: number, code: string]> {
    const { status, body } = await socket.readResponse();
    return [status, (JSON.parse(body) as ErrorBody).detail.code];
  }

  it('takes the memory of what has arrived, and not of what it declares', async () => {
    for (let count = 0; count < 40; count++) begin(MIB, 2048);
    await untilUsed((bytes) => bytes >= 40 * 3 * 1024);
    const inputs = { text: 'x'.repeat(900_000) };
    const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs }] };
    expect((await server.request('POST', '/pipelines/validate', { pipeline })).status).to.equal(200);
    expect(sockets.map(({ text }) => text).join('')).to.equal('');
  });

  it('is refused when an eighth of SERVICE_MEMORY is used up and it is the oldest, with memory_full', async () => {
    const oldest = begin(MIB, 400_000);
    await untilUsed((bytes) => bytes > 3 * 390_000);
    const next = begin(MIB, 200_000);
    await untilUsed((bytes) => bytes > 3 * 590_000);
    const text = JSON.stringify({ name: 'x'.repeat(200_000) });
    expect((await post(text, sign(text))).status).to.equal(202);
    expect(await codeOf(oldest)).to.deep.equal([503, 'memory_full']);
    expect(next.text).to.equal('');
  });

  it('is refused when it takes more than that part of the memory alone', async () => {
    expect(await codeOf(begin(MIB, 800_000))).to.deep.equal([413, 'body_too_large']);
    const response = await server.request<ErrorBody>('POST', '/pipelines/push/webhook', 'x'.repeat(800_000), {
      'content-type': 'application/json',
      'x-webhook-token': SECRET,
    });
    expect(response.body.detail.code).to.equal('invalid_request');
  });

  it('is refused when it has not arrived after 10 s, and its memory is given back', async () => {
    const socket = begin(MIB, 300_000);
    await untilUsed((bytes) => bytes > 3 * 290_000);
    clock.advance(9999);
    await settle();
    expect(socket.text).to.equal('');
    clock.advance(1);
    expect(await codeOf(socket)).to.deep.equal([408, 'request_timeout']);
    await untilUsed((bytes) => bytes < 64 * 1024);
  });

  it('is not parsed before its signature was found to be right', async () => {
    expect((await post('no json', FALSE)).status).to.equal(404);
    expect((await post('no json', sign('no json'))).status).to.equal(400);
  });

  it('locks nobody out when many of one address are wrong', async () => {
    for (let count = 0; count < 100; count++) expect((await post('{}', FALSE)).status).to.equal(404);
    expect((await post('{}', sign('{}'))).status).to.equal(202);
    expect((await post('{}', sign('{}'), 'other')).status).to.equal(202);
  });
});

describe('A route that needs no key', () => {
  it('finds out who pays for its body before that is received (D71)', () => {
    for (const { access, body, admit, path } of createRouteTable()) {
      if (access === 'open' && body !== undefined) expect(admit, path).to.be.a('function');
    }
  });
});
