import { expect } from 'chai';
import { suiteServer } from '../support/suite-server.js';

const boom = (id: string): object => ({ id, tool: 'fail', inputs: { message: `boom ${id}` } });
const part = (id: string, tasks: object[], reads: string[] = []): object => ({
  id,
  reads,
  pipeline: { id, goal: 'g', tasks },
});

describe('logFailedRun', () => {
  const server = suiteServer();

  async function findLogLine(path: string, body: object): Promise<unknown> {
    const { run_id } = (await server.request<{ run_id: string }>('POST', path, body)).body;
    await server.registry.settled(run_id);
    const lines = server.log.filter(
      ({ facts, message }) => message === 'run failed' && facts['run_id'] === run_id,
    );
    expect(lines).to.have.length(1);
    const { run_id: _, ...facts } = lines[0]?.facts ?? {};
    return facts;
  }

  it('logs the first error with its task, and the number of failures', async () => {
    const pipeline = { id: 'p', goal: 'g', tasks: [boom('a'), boom('b'), { id: 'c', tool: 'mock' }] };
    expect(await findLogLine('/pipelines/run_async', { pipeline })).to.deep.equal({
      pipeline_id: 'p',
      tenant_id: 'default',
      task_id: 'a',
      error: 'boom a',
      failures: 2,
    });
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
    expect(await findLogLine('/plans/run_async', { plan })).to.deep.equal({
      pipeline_id: 'q',
      tenant_id: 'default',
      sub_pipeline: 'one',
      task_id: 'a',
      error: 'sub-pipeline "one", task "a": boom a',
      failures: 3,
      sub_pipelines_failed: ['one', 'two'],
    });
  });
});
