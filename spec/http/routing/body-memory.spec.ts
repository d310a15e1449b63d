import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import { parseRawResponse, RawSocket } from '../../support/http/raw-socket.js';
import { createApiKey } from '../../support/http/api-key.js';
import { suiteServer } from '../support/suite-server.js';

const MIB = 2 ** 20;

describe('The memory of request bodies that are under way (D25)', () => {
  const server = suiteServer({
    env: { SERVICE_MEMORY: '16' },
    keys: [createApiKey('alice', ['alice']), createApiKey('bob', ['bob'])],
  });
  let sockets: RawSocket[];

  beforeEach(() => {
    sockets = [];
  });

  afterEach(async () => {
    for (const socket of sockets) socket.disconnect();
    await Promise.all(sockets.map(({ closed }) => closed));
    await settle(20);
  });

  function connect(head: readonly string[], key = 'alice'): RawSocket {
    const socket = new RawSocket(server.url);
    const lines = ['POST /pipelines/validate HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
    socket.send([...lines, ...(key === '' ? [] : [`X-API-Key: ${key}`]), ...head, '', ''].join('\r\n'));
    sockets.push(socket);
    return socket;
  }

  /** Sends the beginning of a body of 1 MiB, and no more. */
  function beginBody(key?: string): RawSocket {
    return connect([`Content-Length: ${MIB}`], key).send('{"yaml": "');
  }

  /** Returns the responses once so many requests were refused. */
  async function untilRefused(count: number): Promise<string[]> {
    for (;;) {
      const responses = sockets.map(({ text }) => text).filter((text) => text.endsWith('}'));
      if (responses.length >= count) return responses;
      await settle(1);
    }
  }

  async function validate(key: string): Promise<number> {
    const pipeline = {
      id: 'p',
      goal: 'g',
      tasks: [{ id: 'a', tool: 'mock', inputs: { text: 'x'.repeat(400_000) } }],
    };
    const { status } = await server.request(
      'POST',
      '/pipelines/validate',
      { pipeline },
      { 'x-api-key': key },
    );
    return status;
  }

  it('counts by the declared length from the first byte, and further requests get 503', async () => {
    for (let count = 0; count < 20; count++) beginBody();
    // Each body takes three times its length while it arrives.
    const responses = await untilRefused(15);
    expect(responses).to.have.length(15);
    const { status, headers, body } = parseRawResponse(responses[0] ?? '');
    expect([status, headers['retry-after'], headers['connection']]).to.deep.equal([503, '1', 'close']);
    expect((JSON.parse(body) as ErrorBody).detail).to.include({ code: 'memory_full' });
  });

  it('leaves other tenants their share, and is given back when the clients disconnect', async () => {
    for (let count = 0; count < 20; count++) beginBody('alice');
    await untilRefused(15);
    expect(await validate('alice')).to.equal(503);
    expect(await validate('bob')).to.equal(200);
    for (const socket of sockets) socket.disconnect();
    await Promise.all(sockets.map(({ closed }) => closed));
    while ((await validate('alice')) !== 200) await settle(1);
  });

  it('counts as it grows when no length is declared', async () => {
    const chunk = 'x'.repeat(64 * 1024);
    for (let count = 0; count < 20; count++)
      connect(['Transfer-Encoding: chunked']).send('a\r\n{"yaml": "\r\n');
    await settle(20);
    expect(sockets.map(({ text }) => text).join('')).to.equal('');
    for (let round = 0; round < 15; round++) {
      await Promise.all(sockets.map((socket) => socket.push(`10000\r\n${chunk}\r\n`)));
    }
    const [first = ''] = await untilRefused(1);
    const { status, body } = parseRawResponse(first);
    expect(status).to.equal(503);
    expect((JSON.parse(body) as ErrorBody).detail.code).to.equal('memory_full');
  });

  it('is not taken by requests without a key, which are refused before their body arrives', async () => {
    for (let count = 0; count < 40; count++) beginBody('');
    await Promise.all(sockets.map((socket) => socket.readResponse()));
    expect(sockets.every(({ text }) => text.startsWith('HTTP/1.1 401'))).to.equal(true);
    expect(await validate('alice')).to.equal(200);
  });
});

describe('A body that takes more memory than SERVICE_MEMORY allows for everything', () => {
  const server = suiteServer({ env: { SERVICE_MEMORY: '16', SERVICE_BODY_LIMIT: '20000000' } });

  it('is refused as too large, not as something to try again', async () => {
    const send = async (head: string, body: string): Promise<unknown[]> => {
      const socket = new RawSocket(server.url);
      const lines = [
        'POST /pipelines/validate HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
      ];
      socket.send([...lines, head, '', body].join('\r\n'));
      const { status, headers, body: text } = await socket.readResponse();
      socket.disconnect();
      const { code, message } = (JSON.parse(text) as ErrorBody).detail;
      return [status, headers['retry-after'], code, message];
    };
    const refused = [
      413,
      undefined,
      'body_too_large',
      'the body takes 3 times its length while it arrives, and that is more than SERVICE_MEMORY (16 MiB): send less',
    ];
    expect(await send(`Content-Length: ${6 * MIB}`, '{"yaml": "')).to.deep.equal(refused);
    const chunk = `100000\r\n${'x'.repeat(MIB)}\r\n`;
    expect(await send('Transfer-Encoding: chunked', chunk.repeat(6))).to.deep.equal(refused);
  });

  it('is also one of a great many lists and objects, which take more than their text', async () => {
    const send = async (value: unknown): Promise<string> => {
      const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { value } }] };
      const { status, body } = await server.request('POST', '/pipelines/validate', { pipeline });
      return status === 200 ? 'ok' : (body as ErrorBody).detail.message;
    };
    expect(await send('x'.repeat(900_000))).to.equal('ok');
    expect(await send(Array.from({ length: 300_000 }, () => []))).to.equal(
      'the values in the body take 16 MiB, and that is more than SERVICE_MEMORY (16 MiB): send less',
    );
    expect(await send(Array.from({ length: 300_000 }, () => 1))).to.equal('ok');
  });
});

describe('Large bodies (D25)', () => {
  const waiting = new ControlledTool();
  const server = suiteServer({
    keys: [createApiKey('alice', ['alice']), createApiKey('bob', ['bob'])],
    tools: [waiting.tool],
  });

  function send(path: string, key: string, length: number, tool = 'mock'): Promise<{ status: number }> {
    const tasks = [{ id: 'a', tool, inputs: { text: 'x'.repeat(length) } }];
    return server.request('POST', path, { pipeline: { id: 'p', goal: 'g', tasks } }, { 'x-api-key': key });
  }

  it('are checked two at once, one more of another tenant, and small ones in any case', async () => {
    const { stepRunner } = server.registry;
    const checking: Deferred<void>[] = [];
    const check = stepRunner.check.bind(stepRunner);
    const tenants: string[] = [];
    const holdCheck: typeof check = async (steps, tenantId) => {
      tenants.push(tenantId);
      const held = deferred<void>();
      checking.push(held);
      await held.promise;
      return check(steps, tenantId);
    };
    Object.assign(stepRunner, { check: holdCheck });
    const untilChecked = async (count: number): Promise<void> => {
      while (checking.length < count) await settle(1);
      await settle(50);
    };
    try {
      const answers = Array.from({ length: 4 }, () => send('/pipelines/validate', 'alice', 70_000));
      await untilChecked(2);
      expect(tenants).to.deep.equal(['alice', 'alice']);
      answers.push(send('/pipelines/validate', 'alice', 10));
      await untilChecked(3);
      answers.push(send('/pipelines/validate', 'bob', 70_000), send('/pipelines/validate', 'bob', 70_000));
      await untilChecked(4);
      expect(tenants).to.deep.equal(['alice', 'alice', 'alice', 'bob']);
      for (let next = 0; next < answers.length; next++) {
        await untilChecked(next + 1);
        checking[next]?.resolve();
      }
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 200, 200]);
    } finally {
      Object.assign(stepRunner, { check });
    }
  });

  it('let others have their turn once they are part of a run', async () => {
    const running = Array.from({ length: 4 }, () => send('/pipelines/run', 'alice', 70_000, 'controlled'));
    while (waiting.calls.length < 4) await settle(1);
    for (const call of waiting.calls) call.resolve(null);
    expect((await Promise.all(running)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
  });

  it('let others have their turn when they are refused', async () => {
    for (let count = 0; count < 5; count++) {
      const { status } = await server.request(
        'POST',
        '/pipelines/validate',
        { none: 'x'.repeat(70_000) },
        { 'x-api-key': 'alice' },
      );
      expect(status).to.equal(400);
    }
  });
});
