import { expect } from 'chai';
import type { TaskEvent } from '../../../lib/execution/events/event.js';
import type { PlanResult, RunResult } from '../../../lib/execution/results.js';
import type { EventList } from '../../../lib/execution/events/event.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { createPipeline } from '../support/plans.js';

/** A task that runs a pipeline of one task. */
function running(id: string, task: object, session: object = {}): object {
  return { id, tool: 'run_pipeline', inputs: { pipeline: createPipeline('inner', task), session } };
}

const MOCK = { id: 'inner', tool: 'mock' };

/** Two items, each of which runs a pipeline that runs another. */
const NESTED = {
  id: 'outer',
  goal: 'g',
  inputs: { two: [1, 2] },
  tasks: [
    {
      ...running('all', running('again', MOCK), { number: '{{item}}' }),
      parallel_over: '{{pipeline.inputs.two}}',
    },
  ],
};

describe('Events of nested runs (D29, D49)', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close(0));

  const starts = (events: readonly TaskEvent[] | null): string[] =>
    (events ?? [])
      .filter(({ kind }) => kind === 'start')
      .map(({ sub_pipeline: subPipeline, within = [], task_id }) =>
        [...(subPipeline === undefined ? [] : [subPipeline]), ...within, task_id].join(' > '),
      )
      .toSorted();

  it('name the tasks that they happened in, outermost first', async () => {
    const { body } = await server.request<RunResult>('POST', '/pipelines/run', {
      pipeline: NESTED,
      collect_events: true,
    });
    expect(starts(body.events)).to.deep.equal([
      'all',
      'all[0] > again',
      'all[0] > again > inner',
      'all[1] > again',
      'all[1] > again > inner',
    ]);
  });

  it('name the sub-pipeline too, in a run of a plan', async () => {
    const { body } = await server.request<PlanResult>('POST', '/plans/run', {
      plan: { id: 'p', sub_pipelines: [{ id: 'a' }] },
      pipelines: { a: createPipeline('a', running('t', MOCK)) },
      collect_events: true,
    });
    expect(starts(body.events)).to.deep.equal(['a > t', 'a > t > inner']);
  });

  it('appear in the list and the stream of the outer run, which ends once', async () => {
    const { body: accepted } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', {
      pipeline: NESTED,
    });
    const path = `/pipelines/runs/${accepted.run_id}`;
    await server.request('GET', `${path}?wait=10`);
    const json = { accept: 'application/json' };
    const { status, body } = await server.request<EventList>('GET', `${path}/events`, undefined, json);
    expect(status).to.equal(200);
    const statuses = body.events.flatMap((event) => (event.kind === 'run' ? [event.status] : []));
    expect(statuses).to.deep.equal(['queued', 'running', 'succeeded']);
    expect(body.events.some((event) => event.kind === 'wave' && event.within?.[0] === 'all[1]')).to.equal(
      true,
    );
    const { body: stream } = await server.request<string>('GET', `${path}/events`);
    expect(stream)
      .to.include('"within":["all[0]","again"]')
      .and.to.match(/event: end\n/);
  });
});
