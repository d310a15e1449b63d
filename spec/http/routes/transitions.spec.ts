import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { ControlledServer } from '../support/controlled-server.js';

type State = 'queued' | 'running' | 'draining' | 'succeeded' | 'failed' | 'cancelled';

/** Brings a run into each state; each function returns the id of its run. */
const REACH: Record<State, (fixture: ControlledServer) => Promise<string>> = {
  queued: async (fixture) => {
    await fixture.submit();
    return fixture.submit();
  },
  running: (fixture) => fixture.submit(),
  draining: async (fixture) => {
    const runId = await fixture.submit();
    await fixture.request('POST', `/pipelines/runs/${runId}/cancel`);
    return runId;
  },
  succeeded: async (fixture) => {
    const runId = await fixture.submit();
    await fixture.complete(runId);
    await fixture.complete(runId);
    return runId;
  },
  failed: async (fixture) => {
    const runId = await fixture.submit();
    await fixture.complete(runId);
    await fixture.fail(runId);
    return runId;
  },
  cancelled: async (fixture) => {
    const runId = await REACH.draining(fixture);
    await fixture.complete(runId);
    return runId;
  },
};

const LOOKS: Record<State, Partial<RunRecord>> = {
  queued: { status: 'queued', settled: false, error: null, failures: [], result: null },
  running: { status: 'running', settled: false, error: null, failures: [], result: null },
  draining: { status: 'cancelled', settled: false, error: null, failures: [], result: null },
  succeeded: {
    status: 'succeeded',
    settled: true,
    error: null,
    failures: [],
    result: { outputs: { a: 'done', b: 'done' }, waves_executed: 2, tasks_executed: 2 },
  },
  failed: {
    status: 'failed',
    settled: true,
    error: 'no luck',
    failures: [{ task_id: 'b', error: 'no luck', attempts: 1 }],
    result: null,
  },
  cancelled: { status: 'cancelled', settled: true, error: null, failures: [], result: null },
};

/** Each request about a run, with its response in each state and the state that follows. */
const TABLE: readonly {
  readonly call: string;
  readonly body?: object;
  readonly responses: Record<State, string>;
}[] = [
  {
    call: 'GET',
    responses: {
      queued: '200 -> queued',
      running: '200 -> running',
      draining: '200 -> draining',
      succeeded: '200 -> succeeded',
      failed: '200 -> failed',
      cancelled: '200 -> cancelled',
    },
  },
  {
    call: 'POST /cancel',
    responses: {
      queued: '200 -> cancelled',
      running: '200 -> draining',
      draining: '400 run_already_terminal -> draining',
      succeeded: '400 run_already_terminal -> succeeded',
      failed: '400 run_already_terminal -> failed',
      cancelled: '400 run_already_terminal -> cancelled',
    },
  },
  {
    call: 'POST /cancel',
    body: { force: true },
    responses: {
      queued: '200 -> cancelled',
      running: '200 -> cancelled',
      draining: '200 -> cancelled',
      succeeded: '400 run_already_terminal -> succeeded',
      failed: '400 run_already_terminal -> failed',
      cancelled: '400 run_already_terminal -> cancelled',
    },
  },
  {
    call: 'POST /rerun',
    responses: {
      queued: '409 run_not_settled -> queued',
      running: '409 run_not_settled -> running',
      draining: '409 run_not_settled -> draining',
      succeeded: '202 -> succeeded',
      failed: '202 -> failed',
      cancelled: '202 -> cancelled',
    },
  },
  {
    call: 'POST /rerun',
    body: { from: 'failed' },
    responses: {
      queued: '409 run_not_settled -> queued',
      running: '409 run_not_settled -> running',
      draining: '409 run_not_settled -> draining',
      succeeded: '400 nothing_to_rerun -> succeeded',
      failed: '202 -> failed',
      cancelled: '202 -> cancelled',
    },
  },
  {
    call: 'DELETE',
    responses: {
      queued: '409 run_not_settled -> queued',
      running: '409 run_not_settled -> running',
      draining: '409 run_not_settled -> draining',
      succeeded: '204 -> gone',
      failed: '204 -> gone',
      cancelled: '204 -> gone',
    },
  },
];

const STATES = Object.keys(REACH) as State[];

describe('Run transitions over HTTP (States and transitions)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  for (const state of STATES) {
    it(`shows the state ${state} in the record (D21, D28)`, async () => {
      const record = await fixture.poll(await REACH[state](fixture));
      expect(record).to.deep.include(LOOKS[state]);
      expect(record.started_at === null).to.equal(state === 'queued');
      expect(record.finished_at === null).to.equal(!record.settled);
    });
  }

  it('responds to run_async with queued, before the run takes a slot', async () => {
    const { status, body } = await fixture.request('POST', '/pipelines/run_async', {
      pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] },
    });
    expect(status).to.equal(202);
    expect(body['status']).to.equal('queued');
  });

  for (const { call, body, responses } of TABLE) {
    for (const state of STATES) {
      const title = `${call}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;
      it(`responds ${responses[state]} to ${title} for a run that is ${state}`, async () => {
        const runId = await REACH[state](fixture);
        const before = await fixture.poll(runId);
        const [method = '', action = ''] = call.split(' ');
        const path = `/pipelines/runs/${runId}`;
        const { status, body: responseBody } = await fixture.request<Partial<ErrorBody>>(
          method,
          path + action,
          body,
        );
        await fixture.waitUntilIdle();
        const after = await fixture.request<RunRecord>('GET', path);
        const code = responseBody?.detail === undefined ? '' : ` ${responseBody.detail.code}`;
        expect(`${status}${code} -> ${formatState(after)}`).to.equal(responses[state]);
        const stays = after.status === 200 && formatState(after) === state;
        if (stays) expect(after.body).to.deep.equal(before);
      });
    }
  }

  it('responds 404 to every request about a run that never existed', async () => {
    for (const { call, body } of TABLE) {
      const [method = '', action = ''] = call.split(' ');
      for (const runId of ['019a7c3e-5b1d-7c44-9e0f-3d2a1b4c5d6e', 'nobody']) {
        const response = await fixture.request<ErrorBody>(method, `/pipelines/runs/${runId}${action}`, body);
        expect(response.status, `${call} ${runId}`).to.equal(404);
        expect(response.body.detail).to.deep.equal({
          code: 'run_not_found',
          message: `there is no run ${runId}`,
        });
      }
    }
  });
});

function formatState({ status, body }: { readonly status: number; readonly body: RunRecord }): string {
  if (status === 404) return 'gone';
  return body.status === 'cancelled' && !body.settled ? 'draining' : body.status;
}
