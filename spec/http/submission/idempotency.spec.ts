import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { AcceptedRun } from '../../../lib/runs/record.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { settle } from '../../support/deferred.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { suiteServer } from '../support/suite-server.js';

const ONE_MOCK = {
  id: 'p',
  goal: 'greet {{params.name}}',
  params: { name: { default: 'Ada' } },
  tasks: [{ id: 'a', tool: 'mock' }],
};

describe('Idempotency-Key (D36)', () => {
  const server = suiteServer();

  const submit = (key: string, body: unknown, headers: Record<string, string> = {}) =>
    server.request<AcceptedRun & ErrorBody>('POST', '/pipelines/run_async', body, {
      'idempotency-key': key,
      ...headers,
    });

  it('returns the existing run for the same key and body, with Idempotent-Replayed', async () => {
    const first = await submit('one', { pipeline: ONE_MOCK });
    expect(first.headers.get('idempotent-replayed')).to.equal(null);
    await server.request('GET', `/pipelines/runs/${first.body.run_id}?wait=10`);
    const again = await submit('one', { pipeline: ONE_MOCK });
    expect(again.status).to.equal(202);
    expect(again.body).to.deep.equal({ run_id: first.body.run_id, status: 'succeeded' });
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.headers.get('location')).to.equal(first.headers.get('location'));
  });

  it('refuses two keys in one request, which Node.js would join to one', async () => {
    const body = JSON.stringify({ pipeline: ONE_MOCK });
    const socket = new RawSocket(server.url).send(
      `POST /pipelines/run_async HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nConnection: close\r\n` +
        'Content-Type: application/json\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n' +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    await socket.closed;
    expect(socket.text).to.match(/^HTTP\/1\.1 400 .*more than one header \\"idempotency-key\\"/s);
  });

  it('refuses another body with 409, even an invalid one', async () => {
    const { body } = await submit('two', { pipeline: ONE_MOCK });
    for (const other of [{ pipeline: ONE_MOCK, collect_events: true }, { pipeline: {} }]) {
      const refused = await submit('two', other);
      expect(refused.status).to.equal(409);
      expect(refused.body.detail).to.deep.equal({
        code: 'idempotency_conflict',
        message: `the Idempotency-Key "two" was used with another request, for run ${body.run_id}: use a new key for a new request`,
      });
    }
  });

  it('compares YAML as text', async () => {
    const yaml = { 'content-type': 'application/yaml' };
    const text = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}]\n';
    const { body } = await submit('four', text, yaml);
    expect((await submit('four', text, yaml)).body.run_id).to.equal(body.run_id);
    expect((await submit('four', `${text}\n`, yaml)).status).to.equal(409);
  });

  it('accepts 1 to 255 characters', async () => {
    expect((await submit('', { pipeline: ONE_MOCK })).status).to.equal(400);
    expect((await submit('k'.repeat(256), { pipeline: ONE_MOCK })).status).to.equal(400);
    expect((await submit('k'.repeat(255), { pipeline: ONE_MOCK })).status).to.equal(202);
  });
});

const HELD = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] };
const HELD_PLAN = { id: 'p', sub_pipelines: [{ id: 'b', pipeline: { ...HELD, id: 'b' } }] };

describe('Idempotency-Key of a synchronous run (D36)', () => {
  const controlled = new ControlledTool();
  const server = suiteServer({ tools: [controlled.tool], env: { SERVICE_RUN_KEEP: '2' } });
  beforeEach(() => {
    controlled.calls.length = 0;
  });

  const send = (path: string, key: string, body: unknown) =>
    server.request<ErrorBody & Partial<AcceptedRun>>('POST', path, body, { 'idempotency-key': key });

  async function waitForCall(): Promise<void> {
    while (controlled.calls.length === 0) await settle();
  }

  for (const [kind, body] of [
    ['pipeline', { pipeline: HELD }],
    ['plan', { plan: HELD_PLAN }],
  ] as const) {
    it(`gives a repeated request the result of the ${kind} run that is at work or has ended`, async () => {
      const path = `/${kind}s/run`;
      const first = send(path, kind, body);
      await waitForCall();
      const second = send(path, kind, body);
      const accepted = await send(`${path}_async`, kind, body);
      controlled.last.resolve('paid');
      const [one, two, three] = [await first, await second, await send(path, kind, body)];
      const runId = one.headers.get('wavetrain-run-id');
      expect(one.headers.get('idempotent-replayed')).to.equal(null);
      expect(accepted.body).to.deep.equal({ run_id: runId, status: 'running' });
      for (const repeated of [two, three]) {
        expect([repeated.status, repeated.body]).to.deep.equal([200, one.body]);
        expect(repeated.headers.get('idempotent-replayed')).to.equal('true');
        expect(repeated.headers.get('wavetrain-run-id')).to.equal(runId);
      }
      expect(controlled.calls).to.have.length(1);
    });
  }

  it('gives a repeated request the error of the run', async () => {
    const first = send('/pipelines/run', 'failing', { pipeline: HELD });
    await waitForCall();
    controlled.last.reject(new Error('no luck'));
    const [one, two] = [await first, await send('/pipelines/run', 'failing', { pipeline: HELD })];
    expect([one.status, one.body.detail.code]).to.deep.equal([500, 'task_failed']);
    expect([two.status, two.body]).to.deep.equal([500, one.body]);
    expect(two.headers.get('idempotent-replayed')).to.equal('true');
    expect(controlled.calls).to.have.length(1);
  });

  it('refuses a repeated request with result_gone when the result is no longer kept', async () => {
    const first = send('/pipelines/run', 'gone', { pipeline: HELD });
    await waitForCall();
    controlled.last.resolve('paid');
    const runId = (await first).headers.get('wavetrain-run-id') ?? '';
    for (let count = 0; count < 3; count++) {
      const { body } = await server.request<AcceptedRun>('POST', '/pipelines/run_async', {
        pipeline: ONE_MOCK,
      });
      await server.request('GET', `/pipelines/runs/${body.run_id}?wait=10`);
    }
    const { status, body, headers } = await send('/pipelines/run', 'gone', { pipeline: HELD });
    expect(status).to.equal(410);
    expect(body.detail).to.deep.equal({
      code: 'result_gone',
      message: `run ${runId} of this Idempotency-Key is no longer kept; its last status was "succeeded". To run again, use another key`,
    });
    expect(headers.get('idempotent-replayed')).to.equal('true');
    const accepted = await send('/pipelines/run_async', 'gone', { pipeline: HELD });
    expect(accepted.body).to.deep.equal({ run_id: runId, status: 'succeeded' });
    expect(controlled.calls).to.have.length(1);
  });
});

describe('A synchronous run on a server that keeps no settled runs (D26, D36)', () => {
  const server = suiteServer({ env: { SERVICE_RUN_KEEP: '0' } });

  it('gets its result or its error, with and without a key, however quickly the run ends', async () => {
    const failing = {
      ...ONE_MOCK,
      inputs: { n: 1 },
      tasks: [{ id: 'a', tool: 'mock', inputs: { value: '{{pipeline.inputs.n.x}}' } }],
    };
    for (const headers of [{}, {}, { 'idempotency-key': 'quick' }]) {
      const result = await server.request('POST', '/pipelines/run', { pipeline: ONE_MOCK }, headers);
      expect(result.status).to.equal(200);
    }
    for (const headers of [{}, {}, { 'idempotency-key': 'failing' }]) {
      const error = await server.request('POST', '/pipelines/run', { pipeline: failing }, headers);
      expect(error.status).to.equal(500);
    }
    const again = await server.request<ErrorBody>(
      'POST',
      '/pipelines/run',
      { pipeline: ONE_MOCK },
      { 'idempotency-key': 'quick' },
    );
    expect(again.body.detail.code).to.equal('result_gone');
  });
});
