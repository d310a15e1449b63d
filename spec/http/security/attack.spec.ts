import { constants } from 'node:buffer';
import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { suiteServer } from '../support/suite-server.js';

const { MAX_STRING_LENGTH } = constants;

/** Attacks by one caller on all others, found by experiment. */
/** All tasks output the same string, so that only the response is large. */
const LARGE = defineTool({
  name: 'large',
  description: 'returns nine million characters',
  inputs: {},
  run: () => TEXT,
});

describe('A server under attack', () => {
  const server = suiteServer({ tools: [LARGE], env: { SERVICE_MEMORY: '4096' } });

  it('sends a result too large for one string, in chunks, and then deletes the run (D26)', async () => {
    const response = await fetch(`${server.url}/pipelines/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pipeline: tooLargeTogether() }),
    });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).to.equal('no-store');
    let length = 0;
    for await (const chunk of response.body ?? []) length += chunk.length;
    expect(length).to.be.above(MAX_STRING_LENGTH);
    expect(server.registry.list({ limit: 10 }).runs).to.deep.equal([]);
  });

  it('rejects YAML that would block the event loop for seconds, with advice', async () => {
    const yaml = `${'# a comment\n'.repeat(30_000)}pipeline: {id: p, goal: g, tasks: [{id: a, tool: mock}]}`;
    for (const [body, type] of [
      [yaml, 'application/yaml'],
      [JSON.stringify({ yaml }), 'application/json'],
    ] as const) {
      const { status, body: errorBody } = await server.request<ErrorBody>(
        'POST',
        '/pipelines/validate',
        body,
        {
          'content-type': type,
        },
      );
      expect(status).to.equal(413);
      expect(errorBody.detail.message).to.equal(
        'the limit for YAML is 256 KiB: send a longer definition as JSON',
      );
    }
  });

  it('accepts only one spelling of each path, so that a proxy can block it', async () => {
    for (const path of ['/METRICS', '/Health', '/pipelines/RUNS']) {
      const { status } = await server.request('GET', path);
      expect(status, path).to.equal(404);
    }
  });

  it('rejects a second Host header, because a proxy may have read the other one', async () => {
    const socket = new RawSocket(server.url);
    const { host } = new URL(server.url);
    socket.send(`GET /health HTTP/1.1\r\nHost: ${host}\r\nHost: other\r\nConnection: close\r\n\r\n`);
    await socket.closed;
    expect(socket.text).to.match(/^HTTP\/1\.1 400 .*"invalid_request"/s);
  });

  it('survives a template path of 10,000 names, and refuses one of 100,000 (D12)', async () => {
    const readFirst = (names: number): object => ({
      pipeline: {
        id: 'p',
        goal: 'g',
        params: { p: { default: 'x' } },
        tasks: [
          {
            id: 'a',
            tool: 'store',
            inputs: { key: 'k', value: `{{params.p${'.first'.repeat(names)}}}` },
          },
        ],
      },
    });
    const short = await server.request('POST', '/pipelines/run', readFirst(10_000));
    expect(short.body).to.deep.include({ outputs: { a: 'x' } });
    const long = await server.request('POST', '/pipelines/run', readFirst(100_000));
    expect(long.status).to.equal(400);
    expect(JSON.stringify(long.body)).to.contain('template_syntax').and.contain('64 KiB');
  });
});

const TEXT = 'x'.repeat(9_000_000);

/** A string has at most 2 ** 29 characters. */
function tooLargeTogether(): object {
  const tasks = Array.from({ length: 60 }, (_, i) => ({ id: `t${i}`, tool: 'large' }));
  return { id: 'large', goal: 'be too large', tasks };
}
