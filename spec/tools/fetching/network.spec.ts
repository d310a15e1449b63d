import { expect } from 'chai';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { ToolError } from '../../../lib/common/errors.js';
import type { FetchOptions } from '../../../lib/tools/tool.js';
import { deferred, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';
import { fetchCaller, LoopbackServer, loopbackNetwork, readRequestBody } from './loopback-server.js';

const MIB = 2 ** 20;

describe('the requests of tools: what comes back (context.fetch, D51)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  const get = (path = '/', options: FetchOptions = {}) =>
    loopbackNetwork().fetch(server.url + path, options, fetchCaller());
  const failToGet = async (options: FetchOptions = {}): Promise<ToolError> => {
    const error = await catchRejection(get('/path?key=secret', options));
    expect(error).to.be.instanceOf(ToolError);
    expect(String(error)).to.not.include('secret');
    return error as ToolError;
  };

  it('resolves with any status, the headers in lower case and the bytes', async () => {
    server.handler = (_, response) =>
      response.writeHead(418, { 'X-One': 'a', 'Set-Cookie': ['b=1', 'c=2'] }).end('teapot');
    const { url, status, headers, bytes } = await get('/tea#fragment');
    expect({ url, status, text: bytes.toString() }).to.deep.equal({
      url: `${server.url}/tea`,
      status: 418,
      text: 'teapot',
    });
    expect(headers).to.include({ 'x-one': 'a', 'set-cookie': 'b=1, c=2' });
  });

  it('sends method, headers and body as they are', async () => {
    server.handler = (request, response) => {
      void readRequestBody(request).then((body) => {
        const { method, headers } = request;
        response.end(JSON.stringify({ method, body, type: headers['content-type'], accept: headers.accept }));
      });
    };
    const options = {
      method: 'post',
      headers: { 'Content-Type': 'text/plain' },
      body: 'grüße',
      accept: 'a/b',
    };
    const { bytes } = await get('/', options);
    const expected = { method: 'POST', body: 'grüße', type: 'text/plain', accept: 'a/b' };
    expect(JSON.parse(bytes.toString())).to.deep.equal(expected);
  });

  const packed: Record<string, [string, Buffer]> = {
    gzip: ['gzip', gzipSync('unpacked')],
    'x-gzip in capitals': ['X-GZIP', gzipSync('unpacked')],
    deflate: ['deflate', deflateSync('unpacked')],
    'deflate without its head': ['deflate', deflateRawSync('unpacked')],
    br: ['br', brotliCompressSync('unpacked')],
    'gzip in br': ['gzip, br', brotliCompressSync(gzipSync('unpacked'))],
    identity: ['identity', Buffer.from('unpacked')],
  };
  for (const [name, [encoding, bytes]] of Object.entries(packed)) {
    it(`unpacks ${name}`, async () => {
      server.handler = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
      expect((await get()).bytes.toString()).to.equal('unpacked');
    });
  }

  it('has nothing to unpack after HEAD', async () => {
    server.handler = (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 20 * MIB }).end();
    expect((await get('/', { method: 'HEAD' })).bytes.length).to.equal(0);
  });

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const) {
    it(`refuses a small ${encoding} that unpacks to 12 MiB, and holds no more of it than the limit`, async () => {
      const bomb = compress(Buffer.alloc(12 * MIB));
      server.handler = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
      let held = 0;
      const reserve = (bytes: number): void => void (held += bytes);
      const error = await catchRejection(loopbackNetwork().fetch(server.url, {}, fetchCaller({ reserve })));
      expect(error).to.include({ retryable: false });
      expect(error)
        .to.have.property('message')
        .that.includes('the response is larger than the limit of 10 MiB');
      expect(held).to.be.at.most(10 * MIB);
    });
  }

  it('refuses an endless number of empty packages, which unpack to nothing', async () => {
    const empty = gzipSync('');
    const many = Buffer.concat(Array.from({ length: 200 }, () => empty));
    server.handler = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(many);
    expect((await failToGet({ maxBytes: 1000 })).message).to.include('larger than the limit of 1000 bytes');
  });

  it('refuses a response that says it is too large, before it reads it', async () => {
    server.handler = (_, response) => {
      response.writeHead(200, { 'content-length': 11 * MIB });
      response.write('only the beginning');
    };
    expect((await failToGet()).message).to.equal(
      `GET ${server.url}/path: the response is larger than the limit of 10 MiB`,
    );
  });

  it('refuses a response that becomes too large without having said so', async () => {
    server.handler = (_, response) => {
      for (let part = 0; part < 20; part++) response.write('x'.repeat(100));
      response.end();
    };
    expect(await failToGet({ maxBytes: 1999 })).to.include({ retryable: false });
    expect((await get('/', { maxBytes: 2000 })).bytes.length).to.equal(2000);
  });

  const broken: Record<string, [Record<string, string>, Buffer | string, RegExp]> = {
    'bytes that are not packed': [{ 'content-encoding': 'gzip' }, 'plain', /cannot be unpacked/],
    'a package that is cut off': [
      { 'content-encoding': 'gzip' },
      gzipSync('x'.repeat(100_000)).subarray(0, 60),
      /cannot be unpacked/,
    ],
    'a package of br that is none': [{ 'content-encoding': 'br' }, 'plain text', /cannot be unpacked/],
    'an unknown package': [{ 'content-encoding': 'compress' }, 'x', /packed as "compress"; only gzip/],
    'a package in a package in a package': [
      { 'content-encoding': 'br, br, br' },
      'x',
      /packed as "br, br, br"/,
    ],
  };
  for (const [what, [headers, bytes, message]] of Object.entries(broken)) {
    it(`says what is wrong with ${what}`, async () => {
      server.handler = (_, response) => response.writeHead(200, headers).end(bytes);
      expect((await failToGet()).message).to.match(message);
    });
  }

  it('says how much of a response had arrived when it was cut off, with the cause', async () => {
    server.handler = (_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('abc', () => response.destroy());
    };
    const error = await failToGet();
    expect(error.message).to.equal(`GET ${server.url}/path failed: the response was cut off after 3 bytes`);
    expect(error).to.include({ retryable: true });
    expect(error.cause).to.be.instanceOf(Error);
  });

  it('reads no more than the length that the response has said', async () => {
    server.handler = (_, response) => {
      response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef');
    };
    expect((await get()).bytes.toString()).to.equal('abc');
  });

  it('says that the answer is not HTTP', async () => {
    server.handler = (_, response) => response.socket?.end('220 mail.example ESMTP\r\n');
    expect((await failToGet()).message).to.include('failed: the answer is not HTTP');
  });

  it('says that nothing answers, and lets another attempt follow', async () => {
    const { url } = server;
    await server.close();
    const error = await catchRejection(loopbackNetwork().fetch(url, {}, fetchCaller()));
    const message = `GET ${url}/ failed: nothing answers at this address`;
    expect(error).to.be.instanceOf(ToolError).that.includes({ retryable: true, message });
    server = await LoopbackServer.start();
  });
});

describe('the requests of tools: redirects (context.fetch, D51)', () => {
  let server: LoopbackServer;
  let other: LoopbackServer;
  beforeEach(async () => {
    server = await LoopbackServer.start();
    other = await LoopbackServer.start();
    other.handler = (request, response) => {
      void readRequestBody(request).then((body) => {
        response.end(JSON.stringify({ method: request.method, headers: request.headers, body }));
      });
    };
  });
  afterEach(async () => {
    await server.close();
    await other.close();
  });

  const send = async (status: number, location: string, options: FetchOptions) => {
    server.handler = (request, response) => {
      if (request.url === '/start') response.writeHead(status, { location }).end('moved');
      else other.handler(request, response);
    };
    const { url, bytes } = await loopbackNetwork().fetch(`${server.url}/start`, options, fetchCaller());
    return { url, ...(JSON.parse(bytes.toString()) as SentRequest) };
  };

  interface SentRequest {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  }

  const SECRETS = { authorization: 'Bearer k', cookie: 'a=b', 'x-api-key': 'k' };

  it('keeps the headers on the same origin', async () => {
    const { url, headers } = await send(302, '/next?a=b', { headers: SECRETS });
    expect(url).to.equal(`${server.url}/next?a=b`);
    expect(headers).to.include(SECRETS);
  });

  it('shows another origin no authorization, no cookie and no key', async () => {
    const headers = { ...SECRETS, accept: 'text/csv', 'user-agent': 'me' };
    const sent = await send(302, `${other.url}/`, { headers });
    expect(sent.headers).to.not.have.any.keys('authorization', 'cookie', 'x-api-key');
    expect(sent.headers).to.include({ accept: 'text/csv', 'user-agent': 'me' });
  });

  for (const [status, method, expected, body] of [
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [301, 'PUT', 'PUT', 'data'],
    [307, 'POST', 'POST', 'data'],
    [308, 'PATCH', 'PATCH', 'data'],
  ] as const) {
    it(`sends ${expected} after ${status} for ${method}`, async () => {
      const options = { method, body: 'data', headers: { 'content-type': 'text/plain' } };
      const sent = await send(status, '/next', options);
      expect(sent).to.include({ method: expected, body });
      expect('content-type' in sent.headers).to.equal(body !== '');
    });
  }

  it('follows five redirects and not a sixth', async () => {
    server.handler = (request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('arrived');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    const network = loopbackNetwork();
    const { bytes } = await network.fetch(`${server.url}/5`, {}, fetchCaller());
    expect(bytes.toString()).to.equal('arrived');
    const error = await catchRejection(network.fetch(`${server.url}/6`, {}, fetchCaller()));
    expect(error).to.have.property('message').that.includes('more than 5 redirects');
  });

  for (const location of [
    'file:///etc/passwd',
    'http://user:pw@127.0.0.1/',
    'http://127.0.0.1:22/',
    'http://[',
  ]) {
    it(`refuses a redirect to ${location}`, async () => {
      server.handler = (_, response) => response.writeHead(302, { location }).end();
      const error = await catchRejection(loopbackNetwork().fetch(server.url, {}, fetchCaller()));
      expect(error).to.be.instanceOf(ToolError).that.includes({ retryable: false });
    });
  }

  it('returns a redirect without a location as it is', async () => {
    server.handler = (_, response) => response.writeHead(304).end();
    expect(await loopbackNetwork().fetch(server.url, {}, fetchCaller())).to.include({ status: 304 });
  });
});

describe('the requests of tools: time, memory and turns (context.fetch, D51)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  /** Resolves when the server has got the number of requests; it leaves them without an answer. */
  const requestsArrived = (count: number): Promise<void> => {
    const arrived = deferred<void>();
    let left = count;
    server.handler = (_, response) => {
      response.write('first part');
      if (--left === 0) arrived.resolve();
    };
    return arrived.promise;
  };

  it('gives up when nothing arrives for 30 s, and after 60 s in any case', async () => {
    for (const [ms, parts, message] of [
      [30_000, 0, 'nothing arrived for 30 s'],
      [20_000, 3, 'no complete answer within 60 s'],
    ] as const) {
      const clock = new ManualClock();
      const arrived = deferred<void>();
      let held = 0;
      let onHeld = deferred<void>();
      server.handler = (_, response) => {
        response.write('x');
        for (let part = 1; part < parts; part++) clock.setTimeout(() => response.write('x'), part * ms);
        arrived.resolve();
      };
      const reserve = (bytes: number): void => {
        held += bytes;
        onHeld.resolve();
      };
      const rejection = catchRejection(
        loopbackNetwork().fetch(server.url, {}, fetchCaller({ clock, reserve })),
      );
      await onHeld.promise;
      for (let part = 1; part <= Math.max(1, parts); part++) {
        onHeld = deferred<void>();
        clock.advance(ms);
        if (part < parts) await onHeld.promise;
      }
      const error = await rejection;
      expect(error).to.be.instanceOf(ToolError).that.includes({ retryable: true });
      expect(error).to.have.property('message').that.includes(message);
      expect(held).to.equal(Math.max(1, parts));
      expect(clock.pending).to.equal(0);
    }
  });

  it('makes a body when its request is sent, and counts it as memory of the run', async () => {
    const network = loopbackNetwork({ inFlight: { total: 1 } });
    const arrived = requestsArrived(1);
    const controller = new AbortController();
    const first = catchRejection(network.fetch(server.url, {}, fetchCaller({ signal: controller.signal })));
    await arrived;
    let made = 0;
    const held: number[] = [];
    const body = (): string => {
      made++;
      return 'x'.repeat(1000);
    };
    const reserve = (bytes: number): void => void held.push(bytes);
    const second = network.fetch(server.url, { method: 'POST', body }, fetchCaller({ reserve }));
    await settle();
    expect(made).to.equal(0);
    server.handler = (_, response) => void response.end();
    controller.abort();
    await first;
    await second;
    expect([made, held]).to.deep.equal([1, [1000]]);
  });

  it('ends with the attempt, before it has begun and while the response arrives', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const arrived = requestsArrived(1);
    const clock = new ManualClock();
    const rejection = catchRejection(loopbackNetwork().fetch(server.url, {}, fetchCaller({ signal, clock })));
    await arrived;
    controller.abort(new Error('timed out after 1 s'));
    const expected = { name: 'ToolError', retryable: false, message: 'the request was stopped' };
    expect(await rejection).to.include(expected);
    expect(clock.pending).to.equal(0);
    expect(await catchRejection(loopbackNetwork().fetch(server.url, {}, fetchCaller({ signal })))).to.include(
      expected,
    );
    expect(server.requests).to.have.length(1);
  });

  it('stops reading when the run has no memory left for the response', async () => {
    server.handler = (_, response) => response.end('x'.repeat(1000));
    const reserve = (): void => {
      throw ToolError.nonRetryable('no memory is left');
    };
    for (const encoding of ['identity', 'gzip']) {
      const bytes = encoding === 'gzip' ? gzipSync('x') : 'x';
      server.handler = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
      const error = await catchRejection(loopbackNetwork().fetch(server.url, {}, fetchCaller({ reserve })));
      expect(error).to.include({ retryable: false, message: `GET ${server.url}/: no memory is left` });
    }
  });

  it('sends no more requests at once than the limit; a tenant with many does not delay another (D25)', async () => {
    const network = loopbackNetwork({ inFlight: { total: 2 } });
    const answer: (() => void)[] = [];
    let arrived = deferred<string>();
    server.handler = (request, response) => {
      answer.push(() => response.end('ok'));
      arrived.resolve(request.url ?? '');
    };
    let paused = 0;
    const pauseTimeout = (): (() => void) => {
      paused++;
      return () => paused--;
    };
    const send = (tenantId: string, path: string) =>
      network.fetch(server.url + path, {}, fetchCaller({ tenantId, pauseTimeout }));
    const next = async (action: () => unknown): Promise<string> => {
      arrived = deferred<string>();
      action();
      return await arrived.promise;
    };
    const sent: Promise<unknown>[] = [];
    expect(await next(() => sent.push(send('many', '/1')))).to.equal('/1');
    expect(await next(() => sent.push(send('many', '/2')))).to.equal('/2');
    for (const path of ['/3', '/4', '/5']) sent.push(send('many', path));
    await Promise.resolve();
    sent.push(send('one', '/other'));
    const controller = new AbortController();
    const { signal } = controller;
    const given = catchRejection(network.fetch(server.url, {}, fetchCaller({ signal, pauseTimeout })));
    await new Promise(setImmediate);
    expect(paused).to.equal(5);
    controller.abort();
    expect(await given).to.include({ message: 'the request was stopped' });
    expect(paused).to.equal(4);
    const order: string[] = [];
    for (let count = 0; count < 4; count++) order.push(await next(() => answer.shift()?.()));
    expect(order).to.deep.equal(['/3', '/other', '/4', '/5']);
    for (const end of answer) end();
    await Promise.all(sent);
    expect(paused).to.equal(0);
  });
});
