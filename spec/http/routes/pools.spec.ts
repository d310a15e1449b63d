import { expect } from 'chai';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { parseSamples, under } from '../../telemetry/exposition.js';

const pipelineOf = (pool: string) => ({
  pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled', pool }] },
});

describe('The pools of a server (D81)', () => {
  let server: TestServer;
  let controlled: ControlledTool;
  beforeEach(async () => {
    controlled = new ControlledTool();
    server = await startTestServer({ env: { SERVICE_POOLS: 'erp=1' }, tools: [controlled.tool] });
  });
  afterEach(() => server.close(0));

  it('are those that the definitions of requests may name', async () => {
    const { body } = await server.request('POST', '/pipelines/validate', pipelineOf('gpu'));
    expect(body).to.include({ ok: false });
    expect(JSON.stringify(body)).to.include(String.raw`there is no pool \"gpu\": SERVICE_POOLS sets \"erp\"`);
    const known = await server.request('POST', '/pipelines/validate', pipelineOf('erp'));
    expect(known.body).to.include({ ok: true });
  });

  it('are shared by all of its runs, and reported by its metrics', async () => {
    for (let run = 0; run < 2; run++) {
      expect((await server.request('POST', '/pipelines/run_async', pipelineOf('erp'))).status).to.equal(202);
    }
    await controlled.started(1);
    const samples = parseSamples((await server.request<string>('GET', '/metrics')).body);
    expect(under(samples, 'wavetrain_pool_')).to.deep.equal({
      'places{pool="erp"}': 1,
      'in_use{pool="erp"}': 1,
      'waiting{pool="erp"}': 1,
    });
    await controlled.returns(1);
    await controlled.started(2);
    await controlled.returns(2);
    expect(controlled.calls).to.have.length(2);
  });
});
