import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { EventList } from '../../../lib/http/schemas/event.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { ControlledServer } from '../support/controlled-server.js';
import { CONTROLLED_PLAN } from '../support/plans.js';

describe('Runs of plans over HTTP (D35)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open({ env: { SERVICE_MAX_RUNNING: '2' } }));
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  const expectRunningIn = (runId: string, subPipeline: string): void => {
    const { events } = fixture.server.registry.queries.events(runId).readAfter(0, 1000);
    const starts = events.filter(({ kind }) => kind === 'start');
    expect(starts.at(-1)).to.include({ sub_pipeline: subPipeline, task_id: 'hold' });
  };

  const act = <T = RunRecord>(method: string, runId: string, action = '', body?: object) =>
    fixture.request<T>(method, `/pipelines/runs/${runId}${action}`, body);

  async function rerun(runId: string, body?: object): Promise<string> {
    const response = await act<{ run_id: string }>('POST', runId, '/rerun', body);
    expect(response.status, JSON.stringify(response.body)).to.equal(202);
    expect(response.headers.get('location')).to.equal(`/pipelines/runs/${response.body.run_id}`);
    await fixture.waitUntilIdle();
    return response.body.run_id;
  }

  it('have a record that follows them: queued, each sub-pipeline in order, settled', async () => {
    const runIds = [];
    for (let count = 0; count < 3; count++) runIds.push(await fixture.submitPlan(CONTROLLED_PLAN));
    const [runId = '', , last = ''] = runIds;
    expect(await fixture.poll(last)).to.include({ status: 'queued', kind: 'plan' });
    expect((await fixture.poll(runId)).progress).to.deep.include({
      sub_pipelines: 2,
      sub_pipelines_settled: 0,
    });
    expectRunningIn(runId, 'first');
    await fixture.complete(runId);
    expect((await fixture.poll(runId)).progress).to.deep.include({ tasks: 3, sub_pipelines_settled: 1 });
    expectRunningIn(runId, 'second');
    await fixture.complete(runId);
    expect(await fixture.poll(runId)).to.include({ status: 'succeeded', settled: true });
    expect(await fixture.poll(last)).to.include({ status: 'running' });
  });

  it('are listed among the runs of pipelines, under the id of the plan', async () => {
    const planned = await fixture.submitPlan(CONTROLLED_PLAN);
    const piped = await fixture.submit();
    const ids = async (query: string): Promise<string[]> =>
      (await fixture.request<RunPage>('GET', `/pipelines/runs${query}`)).body.runs.map(
        ({ run_id }) => run_id,
      );
    expect(await ids('')).to.deep.equal([piped, planned]);
    expect(await ids('?pipeline_id=held-plan')).to.deep.equal([planned]);
    expect(await ids('?pipeline_id=first')).to.deep.equal([]);
    const { runs } = (await fixture.request<RunPage>('GET', '/pipelines/runs?pipeline_id=held-plan')).body;
    expect(runs[0]).to.include({ kind: 'plan', goal: 'be held', pipeline_id: 'held-plan' });
  });

  it('list their events with the sub-pipeline of each, and the statuses of sub-pipelines (D29, D30)', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    await fixture.complete(runId);
    await fixture.fail(runId);
    const { body } = await fixture.server.request<EventList>(
      'GET',
      `/pipelines/runs/${runId}/events`,
      undefined,
      {
        accept: 'application/json',
      },
    );
    expect(body).to.include({ closed: true, gap: false, last_seq: body.events.length });
    expect(body.events.map(formatEvent)).to.deep.equal([
      'run queued',
      'run running',
      'first: sub_pipeline queued',
      'first: sub_pipeline running',
      'first: wave 0 start',
      'first: start hold',
      'first: finish hold',
      'first: wave 0 finish',
      'first: wave 1 start',
      'first: start keep',
      'first: finish keep',
      'first: wave 1 finish',
      'first: sub_pipeline succeeded',
      'second: sub_pipeline queued',
      'second: sub_pipeline running',
      'second: wave 0 start',
      'second: start hold',
      'second: fail hold',
      'second: wave 0 finish',
      'second: sub_pipeline failed',
      'run failed',
    ]);
    expect(body.events.every((event) => event.run_id === runId)).to.equal(true);
  });

  it('stream their events until they end, starting from any event (D30)', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    await fixture.complete(runId);
    await fixture.complete(runId);
    const response = await fetch(`${fixture.server.url}/pipelines/runs/${runId}/events`, {
      headers: { 'last-event-id': '2' },
    });
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    const frames = (await response.text()).split('\n\n').filter((frame) => frame.includes('data: '));
    expect(frames[0]).to.match(/^id: 3\ndata: \{.*"kind":"sub_pipeline".*"sub_pipeline":"first"/);
    expect(frames.at(-1)).to.equal(`event: end\ndata: {"run_id":"${runId}","status":"succeeded"}`);
  });

  it('are cancelled cooperatively: the current wave finishes, no further sub-pipeline starts (rule 12)', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    const { status, body } = await act('POST', runId, '/cancel');
    expect(status).to.equal(200);
    expect(body).to.include({ status: 'cancelled', settled: false });
    await fixture.complete(runId);
    expect(await fixture.poll(runId)).to.deep.include({ status: 'cancelled', settled: true, result: null });
    expect(fixture.controlled.calls).to.have.length(1);
    const again = await act<ErrorBody>('POST', runId, '/cancel');
    expect(`${again.status} ${again.body.detail.code}`).to.equal('400 run_already_terminal');
  });

  it('are cancelled by force: tools in flight are aborted, even after an earlier cancel (D21)', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    await act('POST', runId, '/cancel');
    expect(fixture.findCall(runId).context.signal.aborted).to.equal(false);
    const { status, body } = await act('POST', runId, '/cancel', { force: true });
    await fixture.waitUntilIdle();
    expect(status).to.equal(200);
    expect(body.status).to.equal('cancelled');
    expect(fixture.findCall(runId).context.signal.aborted).to.equal(true);
    expect(await fixture.poll(runId)).to.include({ status: 'cancelled', settled: true });
  });

  it('are found under /pipelines/runs, which the 404 of /plans/runs mentions', async () => {
    const { status, body } = await fixture.request<ErrorBody>('POST', '/plans/runs/1/cancel');
    expect(status).to.equal(404);
    expect(JSON.stringify(body)).to.contain('runs of plans are under /pipelines/runs');
  });

  it('are rerun completely, from the failure, or from a sub-pipeline and its readers', async () => {
    const earlier = await fixture.submitPlan(CONTROLLED_PLAN, { tenant_id: 'acme', collect_events: true });
    fixture.findCall(earlier).resolve('kept');
    await fixture.waitUntilIdle();
    await fixture.fail(earlier);

    const all = await rerun(earlier);
    expectRunningIn(all, 'first');
    expect(await fixture.poll(all)).to.deep.include({ rerun_of: earlier, tenant_id: 'acme', kind: 'plan' });
    await fixture.complete(all);
    await fixture.complete(all);

    for (const from of ['failed', 'second']) {
      const again = await rerun(earlier, { from });
      expectRunningIn(again, 'second');
      await fixture.complete(again);
      const { result, events } = await fixture.poll(again);
      expect(result?.blackboard).to.deep.equal({ k: 'kept' });
      expect(result?.sub_results?.['first']?.outputs).to.deep.equal({ hold: 'kept', keep: 'kept' });
      expect(events?.filter(({ reused }) => reused).map(({ task_id }) => task_id)).to.include('hold');
    }

    const first = await rerun(all, { from: 'first' });
    expectRunningIn(first, 'first');
    const unknown = await act<ErrorBody>('POST', all, '/rerun', { from: 'frist' });
    expect(`${unknown.status} ${unknown.body.detail.message}`).to.equal(
      '400 the plan has no sub-pipeline "frist"; its sub-pipelines are first, second',
    );
    const nothing = await act<ErrorBody>('POST', all, '/rerun', { from: 'failed' });
    expect(nothing.body.detail.code).to.equal('nothing_to_rerun');
  });

  it('can be deleted only after they have settled', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    expect((await act<ErrorBody>('DELETE', runId)).body.detail.code).to.equal('run_not_settled');
    expect((await act<ErrorBody>('POST', runId, '/rerun')).body.detail.code).to.equal('run_not_settled');
    await fixture.complete(runId);
    await fixture.complete(runId);
    expect((await act('DELETE', runId)).status).to.equal(204);
    expect((await act('GET', runId)).status).to.equal(404);
  });

  it('have an actor tree that contains the run of each sub-pipeline', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    const { status, body } = await act<Record<string, unknown>>('GET', runId, '/snapshot');
    expect(status).to.equal(200);
    expect(JSON.stringify(body['children'])).to.include('first').and.to.include('hold');
  });

  it('have an ETag that changes with every change in a sub-pipeline', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    const etags: string[] = [];
    for (const act of [
      () => fixture.waitUntilIdle(),
      () => fixture.complete(runId),
      () => fixture.complete(runId),
    ]) {
      await act();
      const { headers } = await fixture.request('GET', `/pipelines/runs/${runId}`);
      etags.push(headers.get('etag') ?? '');
    }
    expect(new Set(etags).size).to.equal(3);
    const ifNoneMatch = { 'if-none-match': etags[2] ?? '' };
    expect(
      (await fixture.server.request('GET', `/pipelines/runs/${runId}`, undefined, ifNoneMatch)).status,
    ).to.equal(304);
  });

  it('end a long poll when they settle', async () => {
    const runId = await fixture.submitPlan(CONTROLLED_PLAN);
    const waiting = act('GET', runId, '?wait=60');
    await fixture.complete(runId);
    await fixture.complete(runId);
    expect((await waiting).body).to.include({ status: 'succeeded', settled: true });
  });

  it('respond 409 to the synchronous request when they are cancelled', async () => {
    const response = fixture.request<ErrorBody>('POST', '/plans/run', { plan: CONTROLLED_PLAN });
    while (fixture.controlled.calls.length === 0) await fixture.waitUntilIdle();
    const runId = fixture.controlled.last.context.run_id;
    await act('POST', runId, '/cancel', { force: true });
    const { status, body, headers } = await response;
    expect(`${status} ${body.detail.code}`).to.equal('409 run_cancelled');
    expect(headers.get('wavetrain-run-id')).to.equal(runId);
    expect(await fixture.poll(runId)).to.include({ status: 'cancelled' });
  });

  it('reach exactly one terminal state when a cancel races the end of a sub-pipeline', async () => {
    const seen = new Set<string>();
    for (let turns = 0; turns < 60; turns++) {
      const runId = await fixture.submitPlan(CONTROLLED_PLAN);
      await fixture.complete(runId);
      const pending = act('POST', runId, '/cancel');
      for (let turn = 0; turn < turns; turn++) await new Promise((next) => void setImmediate(next));
      fixture.findCall(runId).resolve('done');
      const { status } = await pending;
      await fixture.waitUntilIdle();
      const record = await fixture.poll(runId);
      expect(record).to.include({ settled: true, status: status === 200 ? 'cancelled' : 'succeeded' });
      const recorded = fixture.server.registry.queries.events(runId).readAfter(0, 100).events;
      const ends = recorded.filter((event) => event.kind === 'run' && event.status === record.status);
      expect(ends).to.have.length(1);
      seen.add(record.status);
      if (seen.size === 2 && turns > 20) break;
    }
    expect([...seen].toSorted()).to.deep.equal(['cancelled', 'succeeded']);
  });
});

function formatEvent(event: LiveEvent): string {
  const where = 'sub_pipeline' in event ? `${event.sub_pipeline}: ` : '';
  switch (event.kind) {
    case 'run':
    case 'sub_pipeline':
      return `${where}${event.kind} ${event.status}`;
    case 'wave':
      return `${where}wave ${event.wave} ${event.phase}`;
    default:
      return `${where}${event.kind} ${event.task_id}`;
  }
}
