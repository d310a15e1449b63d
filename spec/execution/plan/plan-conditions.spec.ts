import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { settleUntil } from '../../support/deferred.js';
import { countTurns, shortenSlices } from '../../support/slices.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import {
  controlledTask,
  startPlan,
  storeTask,
  type TestPlanRun,
  type TestPlanRunOptions,
} from '../../support/runs/start-plan.js';

/** Runs `a`, which stores `ka`, and `b` with the condition. */
function decide(when: string, value: string, options: TestPlanRunOptions = {}): Promise<TestPlanRun> {
  const a = subPipelineText('a', storeTask('ka', value), 'stores: [ka]');
  const b = subPipelineText('b', '{id: t, tool: mock}', `when: ${when}`);
  return startPlan([b, a], { head: 'inputs: {x: 1},', ...options });
}

function readReader(template: string): string {
  const tasks = `{id: t, tool: mock, inputs: {x: "${template}"}}`;
  return subPipelineText('c', tasks, 'reads: [kb]');
}

const SKIPPING = [
  subPipelineText('a', storeTask('ka', '0'), 'stores: [ka]'),
  subPipelineText('b', storeTask('kb', '1'), 'when: "{{session.ka}}", stores: [kb]'),
];

describe('A sub-pipeline with a condition (D77, D78)', () => {
  it('runs after the sub-pipeline that stores what the condition reads, when it holds', async () => {
    const run = await decide('"{{session.ka}}"', '7');
    expect(run.record().sub_pipelines).to.deep.equal({ b: 'succeeded', a: 'succeeded' });
    expect(run.record().skipped).to.equal(undefined);
    expect(run.statuses.filter((each) => each.endsWith(' queued'))).to.deep.equal(['a queued', 'b queued']);
  });

  it('is decided in slices of the event loop, also when there is nothing to wait for (D25)', async () => {
    shortenSlices();
    const parts = Array.from({ length: 60 }, (_, index) =>
      subPipelineText(`p${index}`, '{id: t, tool: mock}', 'when: "{{pipeline.inputs.none}}"'),
    );
    const turns = countTurns();
    const run = await startPlan(parts, { head: 'inputs: {none: false},' });
    await settleUntil(() => run.record().settled);
    turns.stop();
    expect(turns.count).to.be.above(10);
    expect(run.record().skipped).to.have.length(60);
  });

  it('is skipped with its reason, calls nothing, and the plan succeeds', async () => {
    const run = await decide('{value: "{{session.ka}}", minimum: 3}', '2');
    const { status, sub_pipelines, skipped, progress, result } = run.record();
    expect(status).to.equal('succeeded');
    expect(sub_pipelines).to.deep.equal({ b: 'skipped', a: 'succeeded' });
    const reason = '{{session.ka}} must be at least 3, not 2';
    expect(skipped).to.deep.equal([{ sub_pipeline: 'b', reason }]);
    expect(progress).to.deep.include({
      tasks: 2,
      tasks_settled: 2,
      invocations: 1,
      sub_pipelines_settled: 2,
    });
    expect(result).to.have.property('sub_results').that.has.all.keys('a');
    const event = run.events.find((each) => each.kind === 'sub_pipeline' && each.sub_pipeline === 'b');
    expect(event).to.deep.include({ status: 'skipped', reason });
  });

  it('reads inputs of the plan, also those that it is not passed', async () => {
    const skipped = await decide('"{{pipeline.inputs.x}}"', '1', { inputs: { x: 0 } });
    expect(skipped.record().skipped?.[0]?.reason).to.equal('{{pipeline.inputs.x}} is 0');
    expect((await decide('"{{pipeline.inputs.x}}"', '1')).record().skipped).to.equal(undefined);
  });

  it('is skipped when a value has another type than its keyword is about', async () => {
    const run = await decide('{value: "{{session.ka}}", not: {maximum: 3}}', '"7"');
    const reason = '{{session.ka}} is the text "7", and maximum needs a number';
    expect(run.record().skipped).to.deep.equal([{ sub_pipeline: 'b', reason }]);
  });

  it('reads values of the session that were submitted', async () => {
    const run = await decide('"{{session.given}}"', '1', { session: { given: false } });
    expect(run.record().skipped?.[0]?.reason).to.equal('{{session.given}} is false');
  });

  it('is skipped when it needs a key that only a skipped one would have stored', async () => {
    const run = await startPlan([...SKIPPING, readReader('{{session.kb}}')]);
    expect(run.record().sub_pipelines).to.deep.equal({ a: 'succeeded', b: 'skipped', c: 'skipped' });
    expect(run.record().skipped?.[1]).to.deep.equal({
      sub_pipeline: 'c',
      reason: 'it reads "kb", which only "b" stores, and that was skipped',
    });
  });

  it('goes on when each template that reads the key gives a default, or only time is between them', async () => {
    const later = subPipelineText('d', controlledTask('d'));
    const run = await startPlan([...SKIPPING, readReader('{{session.kb ?? null}}'), later]);
    await run.returns('d/t');
    expect(run.record().sub_pipelines).to.include({ b: 'skipped', c: 'succeeded', d: 'succeeded' });
  });

  it('goes on when the key is on the blackboard all the same', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'kb', 5);
    const run = await startPlan([...SKIPPING, readReader('{{session.kb}}')], { executor: { blackboard } });
    expect(run.record().sub_pipelines).to.include({ b: 'skipped', c: 'succeeded' });
  });

  it('fails when its condition cannot be looked at, and calls nothing', async () => {
    const run = await decide('"{{session.ka.x.y}}"', '1');
    expect(run.record().status).to.equal('failed');
    expect(run.record().error).to.match(
      /^sub-pipeline "b", task "t": the condition of the sub-pipeline cannot be looked at: .*session\.ka/,
    );
    expect(run.record().progress.invocations).to.equal(1);
  });

  it('fails when the blackboard cannot be read', async () => {
    const blackboard = new MemoryBlackboard();
    blackboard.readMany = () => Promise.reject(new Error('gone'));
    const only = subPipelineText('b', '{id: t, tool: mock}', 'when: "{{session.k}}"');
    const run = await startPlan([only], { executor: { blackboard }, session: { k: 1 } });
    expect(run.record().error).to.include('the condition of the sub-pipeline cannot be looked at: gone');
  });

  it('masks secrets in its reason', async () => {
    const keep = '{id: s, tool: store, inputs: {key: ka, value: "{{secrets.TOKEN}}"}}';
    const a = subPipelineText('a', keep, 'stores: [ka]');
    const b = subPipelineText('b', '{id: t, tool: mock}', 'when: {value: "{{session.ka}}", const: 1}');
    const secrets = { find: () => 'very-secret-value' };
    const run = await startPlan([a, b], { executor: { secrets } });
    expect(JSON.stringify(run.record())).to.not.include('very-secret-value');
    expect(run.record().sub_pipelines).to.include({ b: 'skipped' });
  });

  it('ends at once when the plan is cancelled while its blackboard is read', async () => {
    const blackboard = new MemoryBlackboard();
    blackboard.readMany = () => new Promise(() => {});
    const only = subPipelineText('b', controlledTask('b'), 'when: "{{session.k}}"');
    const run = await startPlan([only], { executor: { blackboard }, session: { k: 1 } });
    await run.cancel();
    expect(run.record()).to.deep.include({ status: 'cancelled', settled: true });
    expect(run.record().sub_pipelines).to.deep.equal({ b: null });
  });
});
