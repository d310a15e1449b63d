import { expect } from 'chai';
import type { LogLine } from '../../support/http/test-server.js';
import { suiteServer } from '../support/suite-server.js';

const boom = (id: string): object => ({ id, tool: 'fail', inputs: { message: `boom ${id}` } });
const part = (id: string, tasks: object[], reads: string[] = []): object => ({
  id,
  reads,
  pipeline: { id, goal: 'g', tasks },
});

describe('The log line of a settled run', () => {
  const server = suiteServer();

  async function submit(path: string, body: object): Promise<string> {
    return (await server.request<{ run_id: string }>('POST', path, body)).body.run_id;
  }

  /** The one line of a run, without its id. */
  async function findLine(runId: string): Promise<LogLine> {
    const { finished_at: end, started_at: start } = await server.registry.settled(runId);
    const lines = server.log.filter(
      ({ facts, message }) => message.startsWith('run ') && facts['run_id'] === runId,
    );
    expect(lines).to.have.length(1);
    const { level = 'error', message = '', facts = {} } = lines[0] ?? {};
    const { run_id: _, duration_ms: durationMs, ...others } = facts;
    expect(durationMs).to.equal(start === null ? 0 : Date.parse(end ?? '') - Date.parse(start));
    return { level, message, facts: others };
  }

  it('has its id, pipeline, tenant, status, trigger and duration', async () => {
    const pipeline = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
    expect(await findLine(await submit('/pipelines/run_async', { pipeline }))).to.deep.equal({
      level: 'info',
      message: 'run succeeded',
      facts: { pipeline_id: 'p', tenant_id: 'default', status: 'succeeded', trigger: 'none' },
    });
    const runId = await submit('/pipelines/run_async', {
      pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'sleep', inputs: { seconds: 3600 } }] },
    });
    await server.request('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
    expect(await findLine(runId)).to.deep.equal({
      level: 'info',
      message: 'run cancelled',
      facts: { pipeline_id: 'p', tenant_id: 'default', status: 'cancelled', trigger: 'none' },
    });
  });

  it('warns of the first error of a failed one with its task, and has the number of failures', async () => {
    const pipeline = { id: 'p', goal: 'g', tasks: [boom('a'), boom('b'), { id: 'c', tool: 'mock' }] };
    expect(await findLine(await submit('/pipelines/run_async', { pipeline }))).to.deep.equal({
      level: 'warn',
      message: 'run failed',
      facts: {
        pipeline_id: 'p',
        tenant_id: 'default',
        status: 'failed',
        trigger: 'none',
        task_id: 'a',
        error: 'boom a',
        failures: 2,
      },
    });
  });

  it('has the code of an error, and the beginning of its first line', async () => {
    const late = {
      id: 'p',
      goal: 'g',
      timeout: 0.001,
      tasks: [{ id: 'a', tool: 'sleep', inputs: { seconds: 9 } }],
    };
    const { facts } = await findLine(await submit('/pipelines/run_async', { pipeline: late }));
    expect(facts).to.include({ status: 'failed', error_code: 'run_timeout' });
    const message = `first line\n${'second line '.repeat(1000)}`;
    const long = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'fail', inputs: { message } }] };
    const line = await findLine(await submit('/pipelines/run_async', { pipeline: long }));
    expect(line.facts['error']).to.equal('first line …');
  });

  it('lists the failed sub-pipelines of a plan', async () => {
    const keep = { id: 'k', tool: 'store', inputs: { key: 'k', value: 1 } };
    const plan = {
      id: 'q',
      plan_concurrency: 3,
      sub_pipelines: [
        { ...part('fine', [keep]), stores: ['k'] },
        part('one', [boom('a'), boom('b')]),
        part('two', [boom('c')]),
        part('late', [{ id: 't', tool: 'mock', inputs: { k: '{{session.k}}' } }], ['k']),
      ],
    };
    expect((await findLine(await submit('/plans/run_async', { plan }))).facts).to.deep.equal({
      pipeline_id: 'q',
      tenant_id: 'default',
      status: 'failed',
      trigger: 'none',
      sub_pipeline: 'one',
      task_id: 'a',
      error: 'sub-pipeline "one", task "a": boom a',
      failures: 3,
      sub_pipelines_failed: ['one', 'two'],
    });
  });

  it('is not drowned by those of probes: only a request that fails has one', async () => {
    const before = server.log.length;
    for (const path of ['/health', '/ready', '/metrics']) await server.request('GET', path);
    await server.request('GET', '/metrics', undefined, { accept: 'image/png' });
    const lines = server.log.slice(before).map(({ facts: { path, status } }) => [path, status]);
    expect(lines).to.deep.equal([['/metrics', 406]]);
  });
});
