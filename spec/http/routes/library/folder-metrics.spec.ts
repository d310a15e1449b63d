import { expect } from 'chai';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { parseSamples, type Samples, under } from '../../../telemetry/exposition.js';

const TASKS = 'tasks: [{id: a, tool: mock}]';

describe('The metrics of a server with a folder of pipelines', () => {
  let folder: TemporaryFolder;
  let server: TestServer;

  before(async () => {
    folder = new TemporaryFolder();
    const write = (file: string, fields: string): string =>
      folder.write(`pipelines/${file}`, `pipeline: {id: nightly, goal: g, ${fields}${TASKS}}`);
    write('nightly.yaml', 'schedule: "0 6 1 1 *", webhook: {secret: HOOK}, ');
    write('tenants/acme/nightly.yaml', '');
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines'), SERVICE_RUN_KEEP: '1' },
    });
    await server.restored;
    await server.request('GET', '/pipelines');
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  const read = async (): Promise<Samples> =>
    parseSamples((await server.request<string>('GET', '/metrics')).body);

  it('name its pipelines, with the tenant of those that are in the folder of one', async () => {
    await server.request('POST', '/pipelines/nightly/run');
    await server.request('POST', '/pipelines/nightly/run', { tenant_id: 'acme' });
    const pipeline = { id: 'nightly', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
    await server.request('POST', '/pipelines/run', { pipeline });
    const samples = await read();
    const succeeded = (label: string, trigger: string): number | undefined =>
      samples.get(`wavetrain_runs_total{pipeline="${label}",status="succeeded",trigger="${trigger}"}`);
    expect(succeeded('nightly', 'none')).to.equal(1);
    expect(succeeded('nightly', 'schedule')).to.equal(0);
    expect(succeeded('nightly', 'webhook')).to.equal(0);
    expect(succeeded('acme/nightly', 'none')).to.equal(1);
    expect(succeeded('other', 'none')).to.equal(1);
    expect(
      samples.get('wavetrain_run_duration_seconds_count{pipeline="nightly",status="succeeded"}'),
    ).to.equal(1);
  });

  it('say how late its schedules are, and when their pipelines have last succeeded', async () => {
    const samples = under(await read(), 'wavetrain_schedule_');
    expect(samples['lateness_seconds{pipeline="nightly"}']).to.equal(0);
    expect(samples['last_success_timestamp_seconds{pipeline="nightly"}']).to.be.closeTo(
      Date.now() / 1000,
      600,
    );
    expect(Object.keys(samples)).to.have.length(2);
  });

  it('count the settled runs that had to leave the memory', async () => {
    for (let run = 0; run < 3; run++) {
      const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/nightly/run_async');
      await server.registry.settled(body.run_id).catch(() => undefined);
    }
    await server.request('GET', '/pipelines/runs');
    expect((await read()).get('wavetrain_runs_evicted_total{reason="number"}')).to.equal(2);
  });
});
