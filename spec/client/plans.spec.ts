import { expect } from 'chai';
import { type PlanResult, WavetrainClient } from '../../lib/client/index.js';
import { DOOMED, LETTER, LETTER_PIPELINES, LETTER_YAML } from '../http/support/plans.js';
import { catchRejection } from '../support/rejection.js';
import { type TestServer, startTestServer } from '../support/http/test-server.js';

const WHOLE = { plan: LETTER, pipelines: LETTER_PIPELINES };

describe('WavetrainClient and plans', () => {
  let server: TestServer;
  let client: WavetrainClient;

  before(async () => {
    server = await startTestServer();
    client = new WavetrainClient({ url: server.url });
  });

  after(() => server.close(0));

  it('validates plans: objects and text, with their pipelines (D33)', async () => {
    const report = await client.validatePlan(LETTER, { pipelines: LETTER_PIPELINES });
    expect(report).to.deep.include({ ok: true, problems: [] });
    expect(report.stats?.order).to.deep.equal(['greet', 'sign']);
    expect((await client.validatePlan(LETTER)).problems).to.have.length(2);
    const misspelt = await client.validatePlan(LETTER_YAML.replace('tool: store', 'tool: stor'));
    expect(misspelt.problems[0]).to.include({ code: 'unknown_tool', line: 12 });
    const reading = { id: 'p', sub_pipelines: [{ id: 'a', reads: ['k'] }] };
    expect((await client.validatePlan(reading)).ok).to.equal(false);
    expect((await client.validatePlan(reading, { session: { k: 1 } })).ok).to.equal(true);
  });

  it('runs a plan, as an object or as YAML, and waits for its result (D47)', async () => {
    const result: PlanResult = await client.runPlan({
      ...WHOLE,
      inputs: { name: 'Ada' },
      plan_concurrency: 2,
    });
    expect(result.blackboard).to.deep.equal({ greeting: 'Dear Ada', letter: 'Dear Ada, yours' });
    expect(result.sub_results['sign']?.outputs).to.deep.equal({ keep: 'Dear Ada, yours' });
    expect((await client.runPlan(LETTER_YAML)).total_tasks_executed).to.equal(1);
    const asText = { plan: LETTER_YAML, plan_concurrency: 2 };
    expect((await client.runPlan(asText)).total_tasks_executed).to.equal(1);
  });

  it('rejects with the failed sub-pipeline of a plan (D47)', async () => {
    const error = await catchRejection(client.runPlan({ plan: DOOMED }));
    expect(error).to.include({
      name: 'FailedRunError',
      code: 'task_failed',
      sub_pipeline: 'b',
      task_id: 't',
      error: 'boom 1',
    });
  });

  it('submits a plan, reads the events of its sub-pipelines, waits, lists and reruns (D35)', async () => {
    const { run_id } = await client.submitPlan({ ...WHOLE, tenant_id: 'acme' });
    const received: string[] = [];
    for await (const event of client.events(run_id)) {
      if (event.kind === 'sub_pipeline') received.push(`${event.sub_pipeline} ${event.status}`);
      if (event.kind === 'finish') received.push(`${event.sub_pipeline} ${event.task_id}`);
    }
    expect(received.filter((words) => !/ (queued|running)$/.test(words))).to.deep.equal([
      'greet keep',
      'greet succeeded',
      'sign keep',
      'sign succeeded',
    ]);
    const record = await client.settled(run_id);
    expect(record).to.include({ kind: 'plan', status: 'succeeded', tenant_id: 'acme' });
    expect(record.result?.blackboard?.['letter']).to.equal('Dear world, yours');
    expect((await client.list({ pipeline_id: 'letter' })).runs.map((run) => run.run_id)).to.deep.equal([
      run_id,
    ]);
    const again = await client.rerun(run_id, { from: 'sign' });
    expect((await client.settled(again.run_id)).progress).to.include({
      invocations: 1,
      sub_pipelines_settled: 2,
    });
    expect((await client.settled((await client.submitPlan(LETTER_YAML)).run_id)).status).to.equal(
      'succeeded',
    );
  });

  it('rejects with the reason of an aborted signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    for (const asked of [
      client.validatePlan(LETTER, { signal }),
      client.runPlan(WHOLE, { signal }),
      client.submitPlan(WHOLE, { signal, idempotencyKey: 'gone' }),
    ]) {
      expect(await catchRejection(asked)).to.have.property('message', 'enough');
    }
  });
});
