import { expect } from 'chai';
import type { PlanResult } from '../../../lib/execution/results.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { PlanReport } from '../../../lib/plans/report.js';
import type { TestResponse } from '../../support/http/test-server.js';
import { shortenSlices } from '../../support/slices.js';
import { LETTER, LETTER_PIPELINES, createPipeline, createStoreTask } from '../support/plans.js';
import { suiteServer } from '../support/suite-server.js';

/** Each sub-pipeline reads what the previous one stores. */
function createChain(length: number): object {
  const subPipelines = Array.from({ length }, (_, n) => ({
    id: `s${n}`,
    ...(n > 0 && { reads: [`k${n - 1}`] }),
    stores: [`k${n}`],
    pipeline: createPipeline(`p${n}`, createStoreTask(`k${n}`, n === 0 ? 0 : `{{session.k${n - 1}}}`)),
  }));
  return { id: 'chain', sub_pipelines: subPipelines };
}

describe('Unusual plans over HTTP', () => {
  const server = suiteServer({ env: { SERVICE_BODY_LIMIT: '2000000' } });
  afterEach(() => {
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  const post = <T = ErrorBody>(path: string, body: unknown): Promise<TestResponse<T>> =>
    server.request<T>('POST', `/plans/${path}`, body);

  it('may have 500 sub-pipelines, one after another', async () => {
    const { status, body } = await post<PlanResult>('run', { plan: createChain(500) });
    expect(status).to.equal(200);
    expect(body).to.include({ total_tasks_executed: 500, total_waves: 500 });
    expect(body.blackboard['k499']).to.equal(0);
  });

  it('may be as large as the limit on bodies', async () => {
    const plan = { ...LETTER, inputs: { name: 'x'.repeat(1_900_000) } };
    const { status, body } = await post<PlanResult>('run', { plan, pipelines: LETTER_PIPELINES });
    expect(status).to.equal(200);
    expect(body.blackboard['letter']).to.have.length(1_900_000 + 'Dear , yours'.length);
    expect((await post('run', { plan: { ...plan, goal: 'x'.repeat(200_000) } })).status).to.equal(413);
  });

  it('leave the event loop to other requests while a large one is checked', async () => {
    shortenSlices();
    const plan = createChain(2000);
    const checked = post<PlanReport>('validate', { plan });
    const health = await server.request('GET', '/health');
    expect(health.status).to.equal(200);
    expect((await checked).body.stats).to.include({ sub_pipelines: 2000 });
  });

  it('may use property names of Object.prototype as ids', async () => {
    const ids = ['constructor', 'toString', 'hasOwnProperty', '__proto__x', 'valueOf'];
    const plan = { id: 'p', sub_pipelines: ids.map((id) => ({ id, stores: [id] })) };
    const pipelines = Object.fromEntries(ids.map((id) => [id, createPipeline('p', createStoreTask(id, id))]));
    const { status, body } = await post<PlanResult>('run', { plan, pipelines });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(Object.keys(body.sub_results)).to.deep.equal(ids);
    expect(body.blackboard).to.deep.equal(Object.fromEntries(ids.map((id) => [id, id])));
  });

  it('do not take __proto__ or inherited properties for pipelines', async () => {
    const proto = `{"plan": {"id": "p", "sub_pipelines": [{"id": "toString"}]}, "pipelines": {"__proto__": {}}}`;
    const json = { 'content-type': 'application/json' };
    const refused = await server.request<ErrorBody>('POST', '/plans/run', proto, json);
    expect(`${refused.status} ${refused.body.detail.code}`).to.equal('400 invalid_request');
    const plan = { id: 'p', sub_pipelines: [{ id: 'toString' }, { id: '__proto__' }] };
    const { body } = await post('run', { plan, pipelines: {} });
    expect(body.detail.problems?.filter(({ code }) => code === 'missing_pipeline')).to.have.length(2);
  });

  it('cannot pollute prototypes by storing a value under __proto__', async () => {
    const plan = {
      id: 'p',
      sub_pipelines: [
        {
          id: 'a',
          stores: ['__proto__'],
          pipeline: createPipeline('a', createStoreTask('__proto__', { evil: 1 })),
        },
      ],
    };
    const { status, body } = await post<PlanResult>('run', { plan });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(JSON.stringify(body.blackboard)).to.equal('{"__proto__":{"evil":1}}');
    expect({}).to.not.have.property('evil');
  });
});
