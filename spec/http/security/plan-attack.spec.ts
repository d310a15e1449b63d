import { expect } from 'chai';
import type { PlanResult } from '../../../lib/execution/results.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { PlanReport } from '../../../lib/plans/load.js';
import { Puppet } from '../../support/puppet.js';
import { type Answered, serving, type Serving } from '../../support/http/serving.js';
import { LETTER, LETTER_PIPELINES, pipelineOf, storing } from '../support/plans.js';

/** Each reads what the one before has stored. */
function chainOf(length: number): object {
  const subPipelines = Array.from({ length }, (_, n) => ({
    id: `s${n}`,
    ...(n > 0 && { reads: [`k${n - 1}`] }),
    stores: [`k${n}`],
    pipeline: pipelineOf(`p${n}`, storing(`k${n}`, n === 0 ? 0 : `{{session.k${n - 1}}}`)),
  }));
  return { id: 'chain', sub_pipelines: subPipelines };
}

describe('Plans that nobody expects', () => {
  let server: Serving;
  before(async () => {
    server = await serving({ env: { SERVICE_BODY_LIMIT: '2000000' } });
  });
  after(() => server.close(0));
  afterEach(() => {
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  const post = <T = ErrorBody>(path: string, body: unknown): Promise<Answered<T>> =>
    server.ask<T>('POST', `/plans/${path}`, body);

  it('may have 500 sub-pipelines, one after another', async () => {
    const { status, body } = await post<PlanResult>('run', { plan: chainOf(500) });
    expect(status).to.equal(200);
    expect(body).to.include({ total_tasks_executed: 500, total_waves: 500 });
    expect(body.blackboard['k499']).to.equal(0);
  });

  it('may have as much as a body may', async () => {
    const plan = { ...LETTER, inputs: { name: 'x'.repeat(1_900_000) } };
    const { status, body } = await post<PlanResult>('run', { plan, pipelines: LETTER_PIPELINES });
    expect(status).to.equal(200);
    expect(body.blackboard['letter']).to.have.length(1_900_000 + 'Dear , yours'.length);
    expect((await post('run', { plan: { ...plan, goal: 'x'.repeat(200_000) } })).status).to.equal(413);
  });

  it('leave others their turn while a large one is checked', async () => {
    const plan = chainOf(2000);
    const checked = post<PlanReport>('validate', { plan });
    const health = await server.ask('GET', '/health');
    expect(health.status).to.equal(200);
    expect((await checked).body.stats).to.include({ sub_pipelines: 2000 });
  });

  it('tell an id of a name that JavaScript knows for what it is', async () => {
    const ids = ['constructor', 'toString', 'hasOwnProperty', '__proto__x', 'valueOf'];
    const plan = { id: 'p', sub_pipelines: ids.map((id) => ({ id, stores: [id] })) };
    const pipelines = Object.fromEntries(ids.map((id) => [id, pipelineOf('p', storing(id, id))]));
    const { status, body } = await post<PlanResult>('run', { plan, pipelines });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(Object.keys(body.sub_results)).to.deep.equal(ids);
    expect(body.blackboard).to.deep.equal(Object.fromEntries(ids.map((id) => [id, id])));
  });

  it('take no __proto__ for a pipeline, nor one that only objects inherit', async () => {
    const proto = `{"plan": {"id": "p", "sub_pipelines": [{"id": "toString"}]}, "pipelines": {"__proto__": {}}}`;
    const json = { 'content-type': 'application/json' };
    const refused = await server.ask<ErrorBody>('POST', '/plans/run', proto, json);
    expect(`${refused.status} ${refused.body.detail.code}`).to.equal('400 invalid_request');
    const plan = { id: 'p', sub_pipelines: [{ id: 'toString' }, { id: '__proto__' }] };
    const { body } = await post('run', { plan, pipelines: {} });
    expect(body.detail.problems?.filter(({ code }) => code === 'missing_pipeline')).to.have.length(2);
  });

  it('keep a value stored under __proto__ on the blackboard, or refuse it, and harm nobody', async () => {
    const plan = {
      id: 'p',
      sub_pipelines: [
        { id: 'a', stores: ['__proto__'], pipeline: pipelineOf('a', storing('__proto__', { evil: 1 })) },
      ],
    };
    const { status, body } = await post<PlanResult>('run', { plan });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(JSON.stringify(body.blackboard)).to.equal('{"__proto__":{"evil":1}}');
    expect({}).to.not.have.property('evil');
  });

  it('are no plans within plans', async () => {
    const inner = { id: 'a', sub_pipelines: [{ id: 'b' }] };
    for (const pipelines of [{ a: inner }, { a: { plan: inner } }, { a: JSON.stringify(inner) }]) {
      const { body } = await post('run', { plan: { id: 'p', sub_pipelines: [{ id: 'a' }] }, pipelines });
      expect(body.detail.problems?.map(({ code }) => code)).to.deep.equal(['nested_plan']);
    }
  });

  it('are refused when a pipeline beside them is no YAML, or asks to grow without end', async () => {
    const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefghij'
      .split('')
      .map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[n]}`).join(', ')}]`)
      .join('\n')}`;
    for (const text of [
      '{',
      '',
      ':',
      '- a',
      'id: p\n---\nid: q',
      '%YAML 1.1\n---\nid: p',
      '[[['.repeat(500),
      bomb,
    ]) {
      const { status, body } = await post('run', {
        plan: LETTER,
        pipelines: { ...LETTER_PIPELINES, sign: text },
      });
      expect(`${status} ${body.detail.code}`, text.slice(0, 20)).to.equal('400 invalid_definition');
      expect(body.detail.problems?.[0]?.path).to.match(/^\/pipelines\/sign/);
    }
  });
});

describe('The memory that plans take', () => {
  const NARROW = { env: { SERVICE_MEMORY: '16', SERVICE_BODY_LIMIT: '20000000' } };

  it('is counted against SERVICE_MEMORY, with all that their pipelines take (D25)', async () => {
    const server = await serving({ ...NARROW, tools: [new Puppet().tool] });
    const submit = (size: number) => {
      const task = { id: 'hold', tool: 'puppet', inputs: { text: 'x'.repeat(size) } };
      const plan = { id: 'p', sub_pipelines: [{ id: 'a' }] };
      const request = { plan, pipelines: { a: pipelineOf('a', task) } };
      return server.ask<Partial<ErrorBody>>('POST', '/plans/run_async', request);
    };
    expect((await submit(3_000_000)).status).to.equal(202);
    const { status, body } = await submit(3_000_000);
    expect(`${status} ${body.detail?.code}`).to.equal('503 queue_full');
    expect((await submit(3)).status).to.equal(202);
    await server.close(0);
  });

  it('limits all outputs of one run together', async () => {
    const server = await serving(NARROW);
    const blown = { input: 9_000_000, expression: '$pad("", $, "x")' };
    const subPipelines = ['a', 'b', 'c'].map((id) => ({
      id,
      pipeline: pipelineOf(id, { id: 't', tool: 'transform', inputs: blown }),
    }));
    const { status, body } = await server.ask<ErrorBody>('POST', '/plans/run', {
      plan: { id: 'p', sub_pipelines: subPipelines },
    });
    expect(`${status} ${body.detail.code} ${body.detail.sub_pipeline}`).to.equal('500 task_failed b');
    await server.close(0);
  });
});
