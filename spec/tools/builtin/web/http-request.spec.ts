import { expect } from 'chai';
import type { ToolError } from '../../../../lib/common/errors.js';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { httpRequest } from '../../../../lib/tools/builtin/web/http-request.js';
import { findLiteralInputProblems } from '../../../../lib/tools/inputs/literal-inputs.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import type { LiveEvent } from '../../../../lib/execution/events/event.js';
import { deferred, settle } from '../../../support/deferred.js';
import { catchRejection } from '../../../support/rejection.js';
import { startRun } from '../../../support/runs/start-run.js';
import { toolContext } from '../../../support/tool-context.js';
import {
  LoopbackServer,
  loopbackFetch,
  loopbackNetwork,
  readRequestBody,
} from '../../fetching/loopback-server.js';

interface Answer {
  readonly status: number;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

describe('http_request (D62)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  const request = async (inputs: JsonObject): Promise<Answer> => {
    const checked = validateInputs(httpRequest, { url: server.url, ...inputs });
    if (!checked.ok) throw new Error(checked.errors.join('\n'));
    return (await httpRequest.run(checked.inputs, toolContext({ fetch: loopbackFetch() }))) as Answer;
  };
  const fail = async (inputs: JsonObject = {}): Promise<ToolError> =>
    (await catchRejection(request(inputs))) as ToolError;

  /** Answers with what was sent. */
  const echo = (): void => {
    server.handler = (sent, response) => {
      void readRequestBody(sent).then((body) => {
        const { method, url, headers } = sent;
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ method, url, body, type: headers['content-type'], key: headers['x-key'] }),
        );
      });
    };
  };

  it('gives status, url, headers and parsed JSON', async () => {
    echo();
    const answer = await request({});
    expect(answer).to.include({ status: 200, url: `${server.url}/` });
    expect(answer.headers).to.include({ 'content-type': 'application/json' });
    expect(answer.body).to.deep.equal({ method: 'GET', url: '/', body: '' });
  });

  it('sends JSON, headers and a query', async () => {
    echo();
    const { body } = await request({
      url: `${server.url}/p?a=1`,
      method: 'POST',
      json: { b: [1, null] },
      query: { a: 2, list: ['x y', true], none: null },
      headers: { 'X-Key': 7, none: null },
    });
    expect(body).to.deep.equal({
      method: 'POST',
      url: '/p?a=1&a=2&list=x+y&list=true',
      body: '{"b":[1,null]}',
      type: 'application/json',
      key: '7',
    });
  });

  it('sends a long JSON body as it is', async () => {
    const json = { texts: Array.from({ length: 5000 }, (_, n) => `text ${n} "quoted"`) };
    echo();
    const { body } = await request({ method: 'POST', json });
    expect(JSON.parse((body as { body: string }).body)).to.deep.equal(json);
  });

  it('sends a text, with a type of its own or another', async () => {
    echo();
    const sent = { method: 'PUT', text: 'ü' };
    expect((await request(sent)).body).to.include({ body: 'ü', type: 'text/plain;charset=utf-8' });
    const headers = { 'Content-Type': 'text/csv' };
    expect((await request({ ...sent, headers })).body).to.include({ type: 'text/csv' });
  });

  const bodies: Record<string, [string | undefined, string | Buffer, unknown, JsonObject?]> = {
    'JSON by a type of its family': ['application/hal+json', '{"a":1}', { a: 1 }],
    'an empty body that should be JSON': ['application/json', '', null],
    'a text': ['text/html; charset=utf-8', '<p>ü', '<p>ü'],
    'a text in another character set': ['text/plain; charset="iso-8859-1"', Buffer.from([0xfc]), 'ü'],
    'a text in an unknown character set as UTF-8': ['text/plain; charset=klingon', 'ü', 'ü'],
    'a text without a type': [undefined, 'plain', 'plain'],
    'bytes of another type': ['image/png', Buffer.from([1, 2]), Buffer.from([1, 2])],
    'bytes without a type': [undefined, Buffer.from([0xff, 0]), Buffer.from([0xff, 0])],
    'JSON as a text, when asked': ['application/json', '[1]', '[1]', { parse: 'text' }],
    'JSON of any type, when asked': ['text/plain', '[1]', [1], { parse: 'json' }],
    'a text as bytes, when asked': ['text/plain', 'a', Buffer.from('a'), { parse: 'bytes' }],
  };
  for (const [what, [type, sent, expected, inputs]] of Object.entries(bodies)) {
    it(`reads ${what}`, async () => {
      server.handler = (_, response) => {
        if (type !== undefined) response.setHeader('content-type', type);
        response.end(sent);
      };
      expect((await request(inputs ?? {})).body).to.deep.equal(expected);
    });
  }

  it('says that an answer is not the JSON that its type promises', async () => {
    server.handler = (_, response) => response.setHeader('content-type', 'application/json').end('<html>');
    expect((await fail()).message).to.match(/^the answer of 127\.0\.0\.1:\d+ should be JSON, but is not: /);
  });

  for (const [status, retryable] of [
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, false],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
    [599, true],
    [304, false],
  ] as const) {
    it(`fails for ${status}, ${retryable ? 'and another attempt may succeed' : 'for good'}`, async () => {
      server.handler = (_, response) => response.writeHead(status).end();
      expect(await fail()).to.include({ name: 'ToolError', retryable });
    });
  }

  it('names status, method and host, and the first 200 characters of the body, but not the query', async () => {
    server.handler = (_, response) => response.writeHead(404).end(`no\n  such ${'x'.repeat(500)}`);
    const { message } = await fail({ url: `${server.url}/thing?token=secret`, method: 'DELETE' });
    expect(message).to.include(`DELETE ${server.url}/thing answered 404 Not Found: no such xxx`);
    expect(message).to.not.include('secret');
    expect(message.length).to.be.below(320);
  });

  it('has the size of a body of bytes in its message instead of the bytes', async () => {
    server.handler = (_, response) =>
      response.writeHead(404, { 'content-type': 'image/png' }).end(Buffer.alloc(5));
    expect((await fail()).message).to.match(/ answered 404 Not Found: 5 bytes$/);
  });

  for (const [status, header, expected] of [
    [429, '7', 7000],
    [503, '0', 0],
    [503, 'Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    [503, 'Wed, 31 Dec 2025 00:00:30 GMT', 0],
    [429, 'soon', undefined],
    [429, '-1', undefined],
    [500, '7', undefined],
  ] as const) {
    it(`waits ${expected ?? 'as usual'} after ${status} with "retry-after: ${header}"`, async () => {
      server.handler = (_, response) => response.writeHead(status, { 'retry-after': header }).end();
      expect((await fail()).retryAfterMs).to.equal(expected);
    });
  }

  for (const [expected, status] of [
    [[404], 404],
    [['4xx'], 418],
    [[204, '200-203'], 203],
    [['2xx', 304], 304],
  ] as const) {
    it(`takes ${status} for a success when ${JSON.stringify(expected)} is expected`, async () => {
      server.handler = (_, response) => response.writeHead(status).end();
      expect(await request({ expect: [...expected] })).to.include({ status });
    });
  }

  it('takes at most 100 entries in expect', () => {
    const check = (count: number): boolean =>
      validateInputs(httpRequest, { url: 'http://a.test', expect: Array<number>(count).fill(200) }).ok;
    expect([check(100), check(101)]).to.deep.equal([true, false]);
  });

  it('fails for a success that is not expected', async () => {
    expect((await fail({ expect: [201] })).message).to.include('answered 200 OK: ok');
  });

  const literal = (inputs: JsonObject): string[] =>
    [...findLiteralInputProblems(httpRequest, { url: 'https://example.com', ...inputs })].map(
      ({ input }) => input,
    );

  it('is checked when the pipeline is validated', () => {
    expect(literal({})).to.deep.equal([]);
    for (const wrong of ['6xx', '20x', 'ok', 99, 600])
      expect(literal({ expect: [wrong] })).to.deep.equal(['expect']);
    expect(literal({ method: 'get' })).to.deep.equal(['method']);
    expect(literal({ max_bytes: 2 ** 30 })).to.deep.equal(['max_bytes']);
    expect(literal({ body: 'x' })).to.deep.equal(['body']);
  });

  for (const [inputs, message] of [
    [{ json: 1, text: 'x', method: 'POST' }, '"json" and "text" are both given'],
    [{ query: { a: { b: 1 } } }, `the query's "a" must be a text, a number or a boolean`],
    [{ headers: { a: ['b'] } }, 'the header "a" must be a text, a number or a boolean'],
    [{ json: 1 }, 'a GET request has no body'],
    [{ url: 'nowhere', query: { a: 1 } }, '"nowhere" is no URL'],
  ] as const) {
    it(`refuses ${JSON.stringify(inputs)}`, async () => {
      const error = await fail(inputs as JsonObject);
      expect(error).to.include({ retryable: false });
      expect(error.message).to.include(message);
    });
  }

  it('refuses a long URL, query and headers before it works on them', async () => {
    const long = 'é'.repeat(64 * 1024);
    const refusal = 'at most 65536 are sent; send more as a body';
    for (const inputs of [
      { url: `http://a.example/${long}` },
      { url: `http://a.example/${long}`, query: { a: 1 } },
      { query: { a: long } },
      { query: { [long]: 1 } },
      { query: { a: Array.from({ length: 20 }, () => 'a'.repeat(4000)) } },
      { headers: { [long]: 'a' } },
      { headers: { a: 'a'.repeat(40_000), b: 'b'.repeat(40_000) } },
    ]) {
      const error = await fail(inputs);
      expect(error.message).to.include(refusal);
      expect(error.retryable).to.equal(false);
    }
  });
});

describe('http_request in a run (D62)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  it('is retried when the server asked for it, and not before', async () => {
    server.handler = (_, response) => {
      if (server.requests.length === 1) response.writeHead(429, { 'retry-after': '20' }).end('slow down');
      else response.end('welcome');
    };
    const waits = deferred<LiveEvent>();
    const ended = deferred<LiveEvent>();
    const run = await startRun(`{id: a, tool: http_request, inputs: {url: '${server.url}'}, retry: 1}`, {
      executor: { network: loopbackNetwork() },
      onEvent: (event) => {
        if (event.kind === 'retry') waits.resolve(event);
        if (event.kind === 'finish' || event.kind === 'fail') ended.resolve(event);
      },
    });
    expect(await waits.promise).to.include({ delay_ms: 20_000 });
    await run.advance(19_999);
    expect(server.requests).to.have.length(1);
    await run.advance(1);
    expect(await ended.promise).to.include({ kind: 'finish' });
    expect(server.requests).to.have.length(2);
  });

  it('counts what arrives as memory of the run, until the attempt has ended', async () => {
    server.handler = (_, response) => response.end('x'.repeat(100_000));
    const task = `{id: a, tool: http_request, inputs: {url: '${server.url}'}}`;
    for (const [runOutputLimitBytes, kind] of [
      [50_000, 'fail'],
      [1_000_000, 'finish'],
    ] as const) {
      const ended = deferred<LiveEvent>();
      const run = await startRun(task, {
        executor: { network: loopbackNetwork(), runOutputLimitBytes },
        onEvent: (event) => {
          if (event.kind === 'finish' || event.kind === 'fail') ended.resolve(event);
        },
      });
      expect(await ended.promise).to.include({ kind });
      await settle();
      const { usedBytes } = run.executor.getRun(run.runId).budget;
      expect(usedBytes).to.be.below(kind === 'fail' ? 30_000 : 150_000);
    }
  });

  it('reaches no private address without being allowed to', async () => {
    const ended = deferred<LiveEvent>();
    await startRun(`{id: a, tool: http_request, inputs: {url: '${server.url}'}}`, {
      onEvent: (event) => {
        if (event.kind === 'fail') ended.resolve(event);
      },
    });
    expect(await ended.promise)
      .to.have.property('error')
      .that.includes('to SERVICE_ALLOW_NETWORKS');
    expect(server.requests).to.deep.equal([]);
  });
});
