import { expect } from 'chai';
import { MemoryPool } from '../../lib/common/memory/memory-pool.js';
import type { LiveEvent } from '../../lib/execution/events/event.js';
import { subPipelineText } from '../support/definitions/parse-plan.js';
import { catchRejection } from '../support/rejection.js';
import { controlledTask, storeTask } from '../support/runs/start-plan.js';
import { createRunRecord } from '../support/runs/run-record.js';
import { ControlledPlans } from './controlled-plans.js';

const TWO = [
  subPipelineText('a', `${controlledTask('a')}, ${storeTask('k', '1')}`, 'stores: [k]'),
  subPipelineText('b', controlledTask('b'), 'reads: [k]'),
];
describe('RunRegistry: runs of plans (law L2, D35)', () => {
  it('returns the current record of a plan run (D28)', async () => {
    const plans = new ControlledPlans(TWO);
    const runId = await plans.submitPlan({ tenant_id: 'acme' });
    const time = new Date(plans.clock.now()).toISOString();
    const running = createRunRecord({
      run_id: runId,
      kind: 'plan',
      pipeline_id: 'plan',
      tenant_id: 'acme',
      goal: 'work together',
      created_at: time,
      started_at: time,
      progress: {
        waves: 2,
        waves_executed: 0,
        tasks: 3,
        tasks_settled: 1,
        invocations: 2,
        sub_pipelines: 2,
        sub_pipelines_settled: 0,
      },
      sub_pipelines: { a: 'running', b: null },
    });
    expect(plans.registry.record(runId)).to.deep.equal(running);
    plans.clock.advance(2000);
    const record = await plans.runToEnd(runId);
    expect(record).to.deep.include({ status: 'succeeded', settled: true });
    expect(record.finished_at).to.equal(new Date(plans.clock.now()).toISOString());
    expect(record.result?.sub_results?.['b']?.outputs).to.deep.equal({ t: 'b/t' });
    expect(record.sub_pipelines).to.deep.equal({ a: 'succeeded', b: 'succeeded' });
  });

  it('lists runs of pipelines and plans, filtered by the id of either', async () => {
    const plans = new ControlledPlans(TWO);
    const pipelineRun = await plans.submit();
    const planRun = await plans.submitPlan();
    const found = (pipeline_id?: string): string[] =>
      plans.registry.list({ limit: 10, pipeline_id }).runs.map(({ run_id, kind }) => `${kind} ${run_id}`);
    expect(found()).to.deep.equal([`plan ${planRun}`, `pipeline ${pipelineRun}`]);
    expect(found('plan')).to.deep.equal([`plan ${planRun}`]);
    expect(found('a-pipeline')).to.deep.equal([]);
    expect((await plans.registry.queries.countByStatus()).get('running')).to.equal(2);
  });

  it('queues a plan run, which then holds one slot until its last sub-pipeline ends (D25)', async () => {
    const plans = new ControlledPlans(TWO, { admission: { maxRunning: 1, maxQueued: 1 } });
    const first = await plans.submitPlan();
    const second = await plans.submitPlan();
    expect(await catchRejection(plans.submitPlan())).to.include({ code: 'queue_full' });
    await plans.completeTask('a/t');
    expect(plans.getStatus(second)).to.equal('queued');
    await plans.completeTask('b/t');
    expect([plans.getStatus(first), plans.getStatus(second)]).to.deep.equal(['succeeded', 'running']);
    expect(plans.registry.queries.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('logs the events of a plan run and closes the log when it settles (D30)', async () => {
    const plans = new ControlledPlans(TWO, { eventBuffer: 100 });
    const received: LiveEvent[] = [];
    const runId = await plans.submitPlan({}, { onEvent: (event) => void received.push(event) });
    const log = plans.registry.queries.events(runId);
    await plans.completeTask('a/t');
    expect(log.isClosed).to.equal(false);
    await plans.completeTask('b/t');
    expect(log.isClosed).to.equal(true);
    const { events, gap } = log.readAfter(0, 1000);
    expect(gap).to.equal(false);
    expect(events).to.deep.equal(received);
    expect(
      events.flatMap((event) =>
        event.kind === 'sub_pipeline' ? [`${event.sub_pipeline} ${event.status}`] : [],
      ),
    ).to.deep.equal(['a queued', 'a running', 'a succeeded', 'b queued', 'b running', 'b succeeded']);
    expect(events.at(-1)).to.include({ kind: 'run', status: 'succeeded' });
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
  });

  it('closes the log of a cancelled plan run after the end of its last wave was logged', async () => {
    const plans = new ControlledPlans(TWO, { eventBuffer: 100 });
    const runId = await plans.submitPlan();
    await plans.registry.cancel(runId);
    const log = plans.registry.queries.events(runId);
    expect(log.isClosed).to.equal(false);
    await plans.completeTask('a/t');
    expect(log.isClosed).to.equal(true);
    expect(log.readAfter(0, 1000).events.at(-1)).to.include({
      kind: 'wave',
      phase: 'finish',
      sub_pipeline: 'a',
    });
  });

  it('counts the outputs of all sub-pipelines towards the memory limit on settled runs', async () => {
    const plans = new ControlledPlans(TWO, { memory: new MemoryPool({ total: 200_000 }) });
    const first = await plans.submitPlan();
    await plans.completeTask('a/t', 'x'.repeat(30_000));
    await plans.completeTask('b/t', 'y'.repeat(30_000));
    const second = await plans.submitPlan();
    await plans.completeTask('a/t', 'x'.repeat(30_000));
    expect(plans.registry.record(first).settled).to.equal(true);
    await plans.completeTask('b/t', 'y'.repeat(30_000));
    expect(() => plans.registry.record(first)).to.throw('there is no run');
    expect(plans.registry.record(second).settled).to.equal(true);
  });

  it('counts the overhead of each sub-pipeline towards the memory limit, also with tiny outputs', async () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      subPipelineText(`s${index}`, '{id: t, tool: mock}'),
    );
    const plans = new ControlledPlans(many, { memory: new MemoryPool({ total: 1_500_000 }) });
    for (let count = 0; count < 20; count++) {
      await plans.registry.settled(await plans.registry.submitPlan({ plan: plans.plan }));
    }
    expect(plans.registry.list({ limit: 100 }).runs).to.have.length.within(2, 7);
  });

  it('rejects a plan that exceeds the memory limit with queue_full', async () => {
    const plans = new ControlledPlans(TWO, { memory: new MemoryPool({ total: 200_000 }) });
    await plans.submitPlan();
    const inputs = { large: 'x'.repeat(200_000) };
    expect(await catchRejection(plans.submitPlan({ inputs }))).to.include({ code: 'queue_full' });
  });

  it('returns the actor tree of a plan run as JSON', async () => {
    const plans = new ControlledPlans(TWO);
    const runId = await plans.submitPlan();
    const text = JSON.stringify(await plans.registry.queries.actors.snapshot(runId));
    expect(text).to.include('"sub-runs"').and.to.include('"a":{"snapshot"');
  });
});
