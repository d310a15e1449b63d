import { expect } from 'chai';
import type { EditableDefinition, BlackboardView } from '../../../../lib/runs/views/submission-view.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { AcceptedRerun } from '../../../../lib/runs/rerun/rerun-report.js';
import { environmentSecrets } from '../../../../lib/definition/secrets/sources.js';
import { createDisk, MemoryStore } from '../../../runs/store/memory/memory-store.js';
import { settle } from '../../../support/deferred.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { ControlledServer, TWO_WAVES } from '../../support/controlled-server.js';
import { LETTER, LETTER_PIPELINES } from '../../support/plans.js';
import { createApiKey } from '../../../support/http/api-key.js';
import { suiteServer } from '../../support/suite-server.js';

const HELD_GRAPH = {
  id: 'held',
  goal: 'be held',
  waves: [
    [{ id: 'a', tool: 'controlled', fan_out: false }],
    [{ id: 'b', tool: 'controlled', fan_out: false }],
  ],
  edges: [{ from: 'a', to: 'b', kind: 'template' }],
};

const NOTES = {
  id: 'notes',
  goal: 'keep notes',
  tasks: [
    { id: 'one', tool: 'store', inputs: { key: 'notes', value: 'first', append: true } },
    { id: 'two', tool: 'store', inputs: { key: 'notes', value: 'second', append: true }, await: ['one'] },
    { id: 'city', tool: 'store', inputs: { key: 'city', value: 'Oslo' } },
  ],
};

describe('What a run was submitted with (D59, D60)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  const get = async <T>(runId: string, view: string): Promise<T> => {
    const { status, body } = await fixture.request<T>('GET', `/pipelines/runs/${runId}/${view}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const definitionOf = (runId: string) => get<EditableDefinition>(runId, 'definition');

  it('has the graph of a run that is queued, of one that is running and of one that has settled', async () => {
    const running = await fixture.submit();
    const queued = await fixture.submit();
    for (const runId of [running, queued]) {
      expect(await get(runId, 'graph')).to.deep.equal({ kind: 'pipeline', graph: HELD_GRAPH });
    }
    await fixture.request('POST', `/pipelines/runs/${queued}/cancel`);
    expect(await get(queued, 'graph')).to.deep.equal({ kind: 'pipeline', graph: HELD_GRAPH });
  });

  it('has the graph of a plan with those of its pipelines', async () => {
    const runId = await fixture.submitPlan(LETTER, { pipelines: LETTER_PIPELINES });
    const { kind, plan, pipelines } = await get<Record<string, Record<string, unknown>>>(runId, 'graph');
    expect(kind).to.equal('plan');
    expect(plan).to.deep.include({
      waves: [[{ id: 'greet', tasks: 1 }], [{ id: 'sign', tasks: 1 }]],
      edges: [{ from: 'greet', to: 'sign', keys: ['greeting'] }],
    });
    expect(Object.keys(pipelines ?? {})).to.have.members(['greet', 'sign']);
    expect(pipelines?.['sign']).to.deep.include({
      waves: [[{ id: 'keep', tool: 'store', fan_out: false }]],
    });
  });

  it('has the definition and the values that were sent, and as YAML what makes the same run again', async () => {
    const pipeline = {
      ...TWO_WAVES,
      params: { city: { type: 'string', default: 'Oslo' }, days: { type: 'integer', default: 3 } },
      inputs: { unit: 'C', lang: 'no' },
    };
    const values = { params: { days: 5 }, inputs: { lang: 'en' }, session: { seen: [1] } };
    const runId = await fixture.submit(pipeline, { ...values, options: { retry_base_delay: 1 } });
    const { yaml, ...shown } = await definitionOf(runId);
    expect(shown).to.deep.equal({
      kind: 'pipeline',
      definition: pipeline,
      yaml_source: 'generated',
      ...values,
      options: { retry_base_delay: 1 },
    });
    expect(yaml).to.match(/^id: held\ngoal: be held\ntasks:\n {2}- id: a\n/);
    await fixture.complete(runId);
    await fixture.complete(runId);
    const preview = (body: object) =>
      fixture.request<ErrorBody>('POST', `/pipelines/runs/${runId}/rerun/preview`, body);
    for (const unchanged of [{ yaml }, { pipeline: shown.definition }]) {
      expect((await preview(unchanged)).body.detail?.code).to.equal('nothing_to_rerun');
    }
    const fixed = yaml?.replace('given: "{{a.output}}"', 'given: "{{a.output}} more"');
    expect((await preview({ yaml: fixed })).body).to.deep.include({ reused: [{ task_id: 'a' }] });
  });

  it('has no YAML of a definition of which it would be longer than 1 MiB, and writes what is deep in one line', async () => {
    const numbers = Array.from({ length: 200_000 }, () => 7);
    for (const [inputs, length] of [
      [{ x: numbers }, undefined],
      [{ x: { y: [[[[[[[[numbers]]]]]]]] } }, 400_000],
    ] as const) {
      const pipeline = { ...TWO_WAVES, tasks: [{ ...TWO_WAVES.tasks[0], inputs }] };
      const runId = await fixture.submit(pipeline);
      const { yaml, definition } = await definitionOf(runId);
      expect(definition).to.deep.equal(pipeline);
      if (length === undefined) expect(yaml).to.equal(null);
      else expect(yaml?.length).to.be.within(length, length + 500);
    }
  });

  it('has the definition of a plan with its pipelines in it, which makes the same run again', async () => {
    const plan = {
      ...LETTER,
      sub_pipelines: LETTER.sub_pipelines.map((sub) => ({ ...sub, file: 'x.yaml' })),
    };
    const runId = await fixture.submitPlan(plan, {
      pipelines: LETTER_PIPELINES,
      inputs: { name: 'Ada' },
      plan_concurrency: 2,
    });
    const { yaml, definition, ...values } = await definitionOf(runId);
    expect(values).to.deep.equal({
      kind: 'plan',
      yaml_source: 'generated',
      params: {},
      inputs: { name: 'Ada' },
      session: {},
      options: {},
      plan_concurrency: 2,
    });
    const [sign, greet] = LETTER.sub_pipelines;
    expect(definition).to.deep.equal({
      ...LETTER,
      sub_pipelines: [
        { ...sign, pipeline: LETTER_PIPELINES.sign },
        { ...greet, pipeline: LETTER_PIPELINES.greet },
      ],
    });
    for (const body of [{ plan: definition }, { yaml }]) {
      const path = `/pipelines/runs/${runId}/rerun/preview`;
      const response = await fixture.request<ErrorBody>('POST', path, body);
      expect(response.body.detail?.code, JSON.stringify(response.body)).to.equal('nothing_to_rerun');
    }
  });

  it('has the session before and after: what tasks have stored replaces and extends what was sent', async () => {
    const runId = await fixture.submit(NOTES, { session: { notes: 'zero', kept: 1 } });
    expect(await get<BlackboardView>(runId, 'blackboard')).to.deep.equal({
      before: { notes: 'zero', kept: 1 },
      after: { notes: ['zero', 'first', 'second'], kept: 1, city: 'Oslo' },
      cut: [],
    });
  });

  it('has the session of a plan: what its sub-pipelines have stored so far', async () => {
    const runId = await fixture.submitPlan(LETTER, {
      pipelines: LETTER_PIPELINES,
      inputs: { name: 'Ada' },
      session: { tone: 'kind' },
    });
    expect(await get<BlackboardView>(runId, 'blackboard')).to.deep.equal({
      before: { tone: 'kind' },
      after: { tone: 'kind', greeting: 'Dear Ada', letter: 'Dear Ada, yours' },
      cut: [],
    });
  });

  it('cuts large session values, unless they are asked for whole', async () => {
    const long = 'x'.repeat(100_000);
    const runId = await fixture.submit(TWO_WAVES, { session: { long } });
    const { before: values, cut } = await get<BlackboardView>(runId, 'blackboard');
    expect(cut).to.deep.equal(['/before/long', '/after/long']);
    expect(JSON.stringify(values).length).to.be.below(70_000);
    const whole = await get<BlackboardView>(runId, 'blackboard?whole=true');
    expect(whole).to.deep.equal({ before: { long }, after: { long }, cut: [] });
  });

  it('refuses unknown runs and query parameters', async () => {
    const runId = await fixture.submit();
    for (const [path, answer] of [
      ['unknown/graph', '404 run_not_found'],
      ['unknown/definition', '404 run_not_found'],
      ['unknown/blackboard', '404 run_not_found'],
      [`${runId}/blackboard?whole=maybe`, '400 invalid_request'],
      [`${runId}/graph?whole=true`, '400 invalid_request'],
    ]) {
      const { status, body } = await fixture.request<ErrorBody>('GET', `/pipelines/runs/${path}`);
      expect(`${status} ${body.detail.code}`, path).to.equal(answer);
    }
  });
});

describe('What a run with secrets was submitted with (D61)', () => {
  const server = suiteServer({ secrets: environmentSecrets({ TOKEN: 'hunter22' }) });

  it('has references to secrets, and never a value, wherever it was sent', async () => {
    const pipeline = {
      id: 'p',
      goal: 'g',
      params: { word: { type: 'string' } },
      tasks: [{ id: 'a', tool: 'mock', inputs: { x: '{{secrets.TOKEN}}', y: 'is hunter22' } }],
    };
    const given = { params: { word: 'hunter22' }, inputs: { z: 'hunter22' }, session: { s: ['hunter22'] } };
    const { status, body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', {
      pipeline,
      ...given,
    });
    expect(status, JSON.stringify(body)).to.equal(202);
    const read = (view: string) => server.request('GET', `/pipelines/runs/${body.run_id}/${view}`);
    const shown = JSON.stringify([
      (await read('definition')).body,
      (await read('blackboard')).body,
      (await read('graph')).body,
    ]);
    expect(shown).to.include('{{secrets.TOKEN}}').and.not.include('hunter22');
    expect(shown.match(/"z":"[^"]+"/)?.[0]).to.equal('"z":"***"');
  });
});

describe('What a run was submitted with, after a restart (D68)', () => {
  it('is the same, also when its tool is gone', async () => {
    const disk = createDisk();
    const first = new ControlledServer();
    await first.open({ store: new MemoryStore(disk) });
    await first.server.restored;
    const runId = await first.submit(TWO_WAVES, { params: {}, session: { s: 1 } });
    await first.complete(runId);
    await first.fail(runId);
    const read = async (server: TestServer) => {
      const bodies: unknown[] = [];
      for (const view of ['graph', 'definition', 'blackboard']) {
        bodies.push((await server.request('GET', `/pipelines/runs/${runId}/${view}`)).body);
      }
      return bodies;
    };
    const before = await read(first.server);
    const closed = first.server.close(0);
    await settle();
    first.clock.advance(0);
    await closed;
    const second = await startTestServer({ store: new MemoryStore(disk), clock: first.clock });
    try {
      await second.restored;
      expect(await read(second)).to.deep.equal(before);
    } finally {
      await second.close(0);
    }
  });
});

describe('POST /pipelines/runs/{run_id}/rerun/preview (D60)', () => {
  const fixture = new ControlledServer();
  const keys = [
    createApiKey('runner'),
    createApiKey('reader', ['default'], ['read']),
    createApiKey('other', ['other']),
  ];
  before(() => fixture.open({ keys }));
  after(() => fixture.close());

  const post = <T>(path: string, body?: unknown, key = 'runner') =>
    fixture.server.request<T>('POST', path, body, { 'x-api-key': key });

  async function failedRun(): Promise<string> {
    const { body } = await post<{ run_id: string }>('/pipelines/run_async', { pipeline: TWO_WAVES });
    await fixture.waitUntilIdle();
    await fixture.complete(body.run_id);
    await fixture.fail(body.run_id);
    return body.run_id;
  }

  it('says what the rerun says, and runs nothing', async () => {
    const runId = await failedRun();
    const changed = {
      ...TWO_WAVES,
      tasks: [{ ...TWO_WAVES.tasks[0], inputs: { x: 1 } }, TWO_WAVES.tasks[1]],
    };
    for (const body of [undefined, { from: 'failed' }, { from: 'a' }, { pipeline: changed }]) {
      const calls = fixture.controlled.calls.length;
      const preview = await post<AcceptedRerun['rerun']>(`/pipelines/runs/${runId}/rerun/preview`, body);
      expect(preview.status).to.equal(200);
      await fixture.waitUntilIdle();
      expect(fixture.controlled.calls).to.have.length(calls);
      const rerun = await post<AcceptedRerun>(`/pipelines/runs/${runId}/rerun`, body);
      expect(preview.body).to.deep.equal(rerun.body.rerun);
      fixture.server.registry.forget(rerun.body.run_id);
      await fixture.waitUntilIdle();
    }
    expect(fixture.server.registry.list({ limit: 9 }).runs).to.have.length(1);
  });

  it('rejects what the rerun rejects, with the same errors', async () => {
    const failed = await failedRun();
    const { body } = await post<{ run_id: string }>('/pipelines/run_async', { pipeline: TWO_WAVES });
    await fixture.waitUntilIdle();
    for (const [path, request] of [
      ['unknown', {}],
      [body.run_id, {}],
      [failed, { from: 'nobody' }],
      [failed, { plan: {} }],
      [failed, { params: { none: 1 } }],
      [failed, { options: { fan_out_concurrency: -1 } }],
      [failed, { yaml: 'id: [' }],
      [failed, { pipeline: { ...TWO_WAVES, tasks: [{ id: 'a', tool: 'nothing' }] } }],
    ] as const) {
      const preview = await post<ErrorBody>(`/pipelines/runs/${path}/rerun/preview`, request);
      const rerun = await post<ErrorBody>(`/pipelines/runs/${path}/rerun`, request);
      expect(preview.status, JSON.stringify(request)).to.be.within(400, 499);
      expect([preview.status, preview.body]).to.deep.equal([rerun.status, rerun.body]);
    }
    fixture.server.registry.forget(body.run_id);
  });

  it('needs the scope run, and a key of the tenant', async () => {
    const runId = await failedRun();
    const preview = `/pipelines/runs/${runId}/rerun/preview`;
    expect((await post(preview, {}, 'reader')).status).to.equal(403);
    expect((await post(preview, {}, 'other')).status).to.equal(404);
    for (const view of ['graph', 'definition', 'blackboard']) {
      const statuses = ['reader', 'other'].map(async (key) => {
        const path = `/pipelines/runs/${runId}/${view}`;
        return (await fixture.server.request('GET', path, undefined, { 'x-api-key': key })).status;
      });
      expect(await Promise.all(statuses), view).to.deep.equal([200, 404]);
    }
  });
});
