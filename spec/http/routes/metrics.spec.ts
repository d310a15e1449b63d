import { expect } from 'chai';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { parseSamples, under } from '../../telemetry/exposition.js';
import { createApiKey } from '../../support/http/api-key.js';

const ONE_TASK = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The formats that Prometheus accepts. */
const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.1';

describe('GET /metrics (D35)', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer();
  });
  afterEach(() => server.close(0));

  it('responds in the text format of Prometheus for any Accept header', async () => {
    for (const accept of [PROMETHEUS, 'text/plain', 'text/plain;version=0.0.4', '*/*']) {
      const { status, headers, body } = await server.request<string>('GET', '/metrics', undefined, {
        accept,
      });
      expect(status, accept).to.equal(200);
      expect(headers.get('content-type')).to.equal(TYPE);
      expect(parseSamples(body).get('wavetrain_runs_queued')).to.equal(0);
    }
    const other = await server.request('GET', '/metrics', undefined, { accept: 'application/json' });
    expect(other.status).to.equal(406);
  });

  it('counts runs and requests, the latter by the path of their route', async () => {
    expect((await server.request('POST', '/pipelines/run', { pipeline: ONE_TASK })).status).to.equal(200);
    const { body } = await server.request('POST', '/pipelines/run_async', { pipeline: ONE_TASK });
    const runId = String(body['run_id']);
    await server.registry.settled(runId);
    await server.request('GET', `/pipelines/runs/${runId}`);
    await server.request('GET', '/pipelines/runs/no-such-run');
    await server.request('GET', '/no/such/path');
    await server.request('PUT', '/health');
    const samples = parseSamples((await server.request<string>('GET', '/metrics')).body);
    expect(under(samples, 'wavetrain_http_requests_total')).to.deep.equal({
      '{route="/pipelines/run",method="POST",status="200"}': 1,
      '{route="/pipelines/run_async",method="POST",status="202"}': 1,
      '{route="/pipelines/runs/{run_id}",method="GET",status="200"}': 1,
      '{route="/pipelines/runs/{run_id}",method="GET",status="404"}': 1,
      '{route="none",method="GET",status="404"}': 1,
      '{route="none",method="PUT",status="405"}': 1,
    });
    expect(samples.get('wavetrain_runs_total{pipeline="p",status="succeeded",trigger="none"}')).to.equal(2);
    expect(samples.get('wavetrain_runs_kept{status="succeeded"}')).to.equal(1);
    expect(samples.get('wavetrain_attempts_total{tool="mock",outcome="succeeded"}')).to.equal(2);
    const count = 'wavetrain_task_duration_seconds_count{tool="mock",outcome="succeeded"}';
    expect(samples.get(count)).to.equal(2);
  });

  it('counts errors by code, those of failed runs too, and their log lines have the code', async () => {
    const failing = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'fail', inputs: { message: 'no' } }] };
    await server.request('POST', '/pipelines/run', { pipeline: failing });
    await server.request('POST', '/pipelines/run', {});
    await server.request('GET', '/no/such/path');
    const samples = parseSamples((await server.request<string>('GET', '/metrics')).body);
    expect(under(samples, 'wavetrain_http_errors_total')).to.deep.equal({
      '{code="task_failed"}': 1,
      '{code="invalid_request"}': 1,
      '{code="not_found"}': 1,
    });
    const codes = server.log.filter(({ message }) => message === 'request').map(({ facts }) => facts['code']);
    expect(codes).to.deep.equal(['task_failed', 'invalid_request', 'not_found']);
  });

  it('reports the memory that SERVICE_MEMORY limits (D25)', async () => {
    await server.request('POST', '/pipelines/run_async', { pipeline: ONE_TASK });
    const samples = parseSamples((await server.request<string>('GET', '/metrics')).body);
    expect(samples.get('wavetrain_memory_limit_bytes')).to.equal(256 * 2 ** 20);
    expect(samples.get('wavetrain_memory_used_bytes')).to.be.above(0);
    expect(samples.get('wavetrain_memory_largest_tenant_bytes')).to.equal(
      samples.get('wavetrain_memory_used_bytes'),
    );
  });

  it('needs a key with the scope "metrics" on a server with keys (D37)', async () => {
    const guarded = await startTestServer({
      keys: [createApiKey('scraper', ['*'], ['metrics']), createApiKey('runner', ['*'])],
    });
    const getStatus = async (headers: Record<string, string>): Promise<number> =>
      (await guarded.request('GET', '/metrics', undefined, headers)).status;
    expect(await getStatus({ authorization: 'Bearer scraper' })).to.equal(200);
    expect(await getStatus({ authorization: 'Bearer runner' })).to.equal(403);
    expect(await getStatus({})).to.equal(401);
    await guarded.close(0);
  });

  it('is documented with its media type, and an example with the real help text', async () => {
    const { body } = await server.request('GET', '/openapi.json');
    const paths = body['paths'] as Record<string, Record<string, { responses: Record<string, unknown> }>>;
    const response = paths['/metrics']?.['get']?.responses['200'] as {
      content: Record<string, { example: string }>;
    };
    expect(Object.keys(response.content)).to.deep.equal([TYPE]);
    const [help = 'no example'] = response.content[TYPE]?.example.split('\n') ?? [];
    expect((await server.request<string>('GET', '/metrics')).body).to.include(`${help}\n`);
  });
});
