import { expect } from 'chai';
import { type Serving, serving } from '../../support/http/serving.js';

const boom = (id: string): object => ({ id, tool: 'fail', inputs: { message: `boom ${id}` } });
const part = (id: string, tasks: object[], reads: string[] = []): object => ({
  id,
  reads,
  pipeline: { id, goal: 'g', tasks },
});

describe('the log line of a run that failed', () => {
  let server: Serving;
  before(async () => {
    server = await serving();
  });
  after(() => server.close(0));

  async function lineOf(path: string, body: object): Promise<unknown> {
    const { run_id } = (await server.ask<{ run_id: string }>('POST', path, body)).body;
    await server.registry.settled(run_id);
    const told = server.log.filter(
      ({ facts, message }) => message === 'a run failed' && facts['run_id'] === run_id,
    );
    expect(told).to.have.length(1);
    const { run_id: _, ...facts } = told[0]?.facts ?? {};
    return facts;
  }

  it('names the first failure, and says how many there are', async () => {
    const pipeline = { id: 'p', goal: 'g', tasks: [boom('a'), boom('b'), { id: 'c', tool: 'mock' }] };
    expect(await lineOf('/pipelines/run_async', { pipeline })).to.deep.equal({
      pipeline_id: 'p',
      tenant_id: 'default',
      error: 'boom a',
      failures: 2,
    });
  });

  it('says of a plan which sub-pipelines failed', async () => {
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
    expect(await lineOf('/plans/run_async', { plan })).to.deep.equal({
      pipeline_id: 'q',
      tenant_id: 'default',
      error: 'sub-pipeline "one", task "a": boom a',
      failures: 3,
      sub_pipelines_failed: ['one', 'two'],
    });
  });
});
