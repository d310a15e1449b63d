import { expect } from 'chai';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { HeldServer } from '../support/held-server.js';

type State = 'queued' | 'running' | 'draining' | 'succeeded' | 'failed' | 'cancelled';

/** Brings a run into each state; each responses its id. */
const REACH: Record<State, (held: HeldServer) => Promise<string>> = {
  queued: async (held) => {
    await held.submit();
    return held.submit();
  },
  running: (held) => held.submit(),
  draining: async (held) => {
    const runId = await held.submit();
    await held.request('POST', `/pipelines/runs/${runId}/cancel`);
    return runId;
  },
  succeeded: async (held) => {
    const runId = await held.submit();
    await held.complete(runId);
    await held.complete(runId);
    return runId;
  },
  failed: async (held) => {
    const runId = await held.submit();
    await held.complete(runId);
    await held.raise(runId);
    return runId;
  },
  cancelled: async (held) => {
    const runId = await REACH.draining(held);
    await held.complete(runId);
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

/** What is asked of a run, what is answered in each state, and the state it is in then. */
const TABLE: readonly {
  readonly ask: string;
  readonly body?: object;
  readonly responses: Record<State, string>;
}[] = [
  {
    ask: 'GET',
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
    ask: 'POST /cancel',
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
    ask: 'POST /cancel',
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
    ask: 'POST /rerun',
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
    ask: 'POST /rerun',
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
    ask: 'DELETE',
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
  const held = new HeldServer();
  before(() => held.open());
  afterEach(() => held.clear());
  after(() => held.close());

  for (const state of STATES) {
    it(`shows the state ${state} in the record (D21, D28)`, async () => {
      const record = await held.poll(await REACH[state](held));
      expect(record).to.deep.include(LOOKS[state]);
      expect(record.started_at === null).to.equal(state === 'queued');
      expect(record.finished_at === null).to.equal(!record.settled);
    });
  }

  it('responds to run_async with queued, before the run takes a slot', async () => {
    const { status, body } = await held.request('POST', '/pipelines/run_async', {
      pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'puppet' }] },
    });
    expect(status).to.equal(202);
    expect(body['status']).to.equal('queued');
  });

  for (const { ask, body, responses } of TABLE) {
    for (const state of STATES) {
      const asked = `${ask}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`;
      it(`responds ${responses[state]} to ${asked} for a run that is ${state}`, async () => {
        const runId = await REACH[state](held);
        const before = await held.poll(runId);
        const [method = '', action = ''] = ask.split(' ');
        const path = `/pipelines/runs/${runId}`;
        const { status, body: told } = await held.request<Partial<ErrorBody>>(method, path + action, body);
        await held.quiet();
        const after = await held.request<RunRecord>('GET', path);
        const code = told?.detail === undefined ? '' : ` ${told.detail.code}`;
        expect(`${status}${code} -> ${nameOf(after)}`).to.equal(responses[state]);
        const stays = after.status === 200 && nameOf(after) === state;
        if (stays) expect(after.body).to.deep.equal(before);
      });
    }
  }

  it('responds 404 to every request about a run that never existed', async () => {
    for (const { ask, body } of TABLE) {
      const [method = '', action = ''] = ask.split(' ');
      for (const runId of ['019a7c3e-5b1d-7c44-9e0f-3d2a1b4c5d6e', 'nobody']) {
        const response = await held.request<ErrorBody>(method, `/pipelines/runs/${runId}${action}`, body);
        expect(response.status, `${ask} ${runId}`).to.equal(404);
        expect(response.body.detail).to.deep.equal({
          code: 'run_not_found',
          message: `there is no run ${runId}`,
        });
      }
    }
  });

  it('starts the next run when the current one has settled, not while it drains (D21, D25)', async () => {
    const first = await REACH.draining(held);
    const second = await held.submit();
    expect(await held.poll(second)).to.include({ status: 'queued' });
    await held.complete(first);
    expect(await held.poll(second)).to.include({ status: 'running' });
  });

  it('never calls the tools of a run that was cancelled while queued', async () => {
    const runId = await REACH.queued(held);
    await held.request('POST', `/pipelines/runs/${runId}/cancel`);
    const [first] = held.puppet.calls;
    await held.complete(first?.context.run_id ?? '');
    await held.complete(first?.context.run_id ?? '');
    expect(held.puppet.calls.filter(({ context }) => context.run_id === runId)).to.deep.equal([]);
    expect(await held.poll(runId)).to.include({ status: 'cancelled', settled: true, started_at: null });
  });
});

function nameOf({ status, body }: { readonly status: number; readonly body: RunRecord }): string {
  if (status === 404) return 'gone';
  return body.status === 'cancelled' && !body.settled ? 'draining' : body.status;
}
