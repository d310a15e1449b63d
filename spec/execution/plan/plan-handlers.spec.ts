import { expect } from 'chai';
import type { Json } from '../../../lib/common/json/json.js';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { controlledTask, startPlan, type TestPlanRun } from '../../support/runs/start-plan.js';

const STORES = subPipelineText('a', '{id: t, tool: store, inputs: {key: k, value: 7}}', 'stores: [k]');
const BROKEN = subPipelineText('b', '{id: u, tool: fail, inputs: {message: boom}}');
const WAITS = subPipelineText('c', controlledTask('c'));

const finallyOf = (inputs: string): string =>
  `finally: [{id: clean, tool: controlled, inputs: {${inputs}}}], `;

/** A blackboard whose keys are read when the spec lets them be. */
class HeldBlackboard extends MemoryBlackboard {
  #reading: Promise<void> | undefined;

  hold(): Deferred<void> {
    const reading = deferred<void>();
    this.#reading = reading.promise;
    return reading;
  }

  override async readMany(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>> {
    await this.#reading;
    return super.readMany(tenantId, keys);
  }
}

describe('Handlers of a plan (D80)', () => {
  it('run when its sub-pipelines have ended, and see how it ended and what was stored', async () => {
    const plan = await startPlan([STORES, BROKEN], {
      inputs: { place: 'here' },
      head: `on_failure: [{id: alert, tool: controlled, inputs: {text: "{{run.status}} {{run.failed_task}} {{run.error}}",
        stored: "{{session.k}}", place: "{{pipeline.inputs.place}}"}}], on_success: [{id: cheer, tool: mock}],
        finally: [{id: clean, tool: mock, inputs: {of: "{{alert.output}}"}}], inputs: {place: null},`,
    });
    const error = 'sub-pipeline "b", task "u": boom';
    expect(plan.record()).to.deep.include({ status: 'failed', settled: false, error });
    expect(plan.controlled.last.inputs).to.deep.equal({
      text: `failed b/u ${error}`,
      stored: 7,
      place: 'here',
    });
    await plan.controlled.returns('sent');
    const record = plan.record();
    expect(record).to.deep.include({ status: 'failed', settled: true, error, handler_failures: [] });
    expect(record.handlers).to.have.keys('alert', 'clean');
    expect(record.failures.map(({ sub_pipeline }) => sub_pipeline)).to.deep.equal(['b']);
    expect(record.progress).to.deep.include({ tasks: 2, tasks_settled: 2, invocations: 2 });
  });

  it('leave no fields in the record of a plan without them', async () => {
    expect((await startPlan([STORES])).record()).not.to.have.any.keys('handlers', 'handler_failures');
  });

  it('settle the plan after them, with the values that its sub-pipelines had left', async () => {
    const plan = await startPlan([STORES], {
      head: 'finally: [{id: put, tool: store, inputs: {key: late, value: 1}}, {id: clean, tool: controlled, await: [put]}],',
    });
    let isResolved = false;
    const result = plan.executor.getPlanResult(plan.run.id).finally(() => (isResolved = true));
    expect(plan.record()).to.deep.include({ status: 'succeeded', settled: false });
    expect(isResolved).to.equal(false);
    await plan.controlled.returns('cleaned');
    expect(await result).to.deep.include({ blackboard: { k: 7 }, total_tasks_executed: 1 });
    expect((await result).handlers).to.deep.include({ clean: 'cleaned' });
  });

  it('write events that name their list and no sub-pipeline, after the status of the plan', async () => {
    const plan = await startPlan([STORES], { head: finallyOf('') });
    await plan.controlled.returns('cleaned');
    const after = plan.events.slice(
      plan.events.findIndex(
        ({ kind, ...event }) => kind === 'run' && 'status' in event && event.status === 'succeeded',
      ),
    );
    expect(after.map((event) => [event.kind, 'handler' in event ? event.handler : null])).to.deep.equal([
      ['run', null],
      ['wave', 'finally'],
      ['start', 'finally'],
      ['finish', 'finally'],
      ['wave', 'finally'],
    ]);
    expect(after.some((event) => 'sub_pipeline' in event)).to.equal(false);
  });

  it('keep the status when one fails, and say so', async () => {
    const plan = await startPlan([STORES], { head: finallyOf('') });
    await plan.controlled.rejects(new Error('no disk'));
    expect(plan.record()).to.deep.include({
      status: 'succeeded',
      settled: true,
      failures: [],
      handler_failures: [{ task_id: 'clean', error: 'no disk', attempts: 1 }],
    });
  });

  it('refuse a cancel, and end by force with the calls and the waits that they have', async () => {
    const plan = await startPlan([STORES], {
      head: `finally: [{id: poll, tool: mock, repeat: {until: {value: "{{this.output.call_count}}", minimum: 9}, every: 60}},
        {id: call, tool: run_pipeline, inputs: {pipeline: {id: inner, goal: g, tasks: [{id: t, tool: controlled}]}}}], `,
    });
    expect(plan.record()).to.deep.include({ status: 'succeeded', settled: false });
    expect(plan.run.waitingFor).to.deep.include({ reason: 'repeat' });
    expect(await rejectionOf(plan, false)).to.match(/has succeeded and its handlers run; use force/);
    await plan.cancel(true);
    const { settled, status, handler_failures: failures } = plan.record();
    expect({ settled, status }).to.deep.equal({ settled: true, status: 'succeeded' });
    expect(failures?.map(({ task_id }) => task_id)).to.have.members(['poll', 'call']);
    expect(plan.controlled.last.context.signal.aborted).to.equal(true);
    expect(plan.clock.pending).to.equal(0);
  });

  it('have not begun when force comes while their keys of the blackboard are read', async () => {
    const blackboard = new HeldBlackboard();
    const plan = await startPlan([WAITS], {
      executor: { blackboard },
      head: 'finally: [{id: clean, tool: controlled, inputs: {of: "{{session.c ?? null}}"}}],',
    });
    const reading = blackboard.hold();
    await plan.returns('c/t');
    expect(plan.record()).to.deep.include({ status: 'succeeded', settled: false });
    await plan.cancel(true);
    reading.resolve();
    await settle();
    expect(plan.run.subRuns.handlers).to.equal(undefined);
    expect(plan.record()).to.deep.include({ settled: true, handlers: {}, handler_failures: [] });
  });

  it('run after a cancel when all that was at work has ended', async () => {
    const plan = await startPlan([WAITS], { head: 'on_cancel: [{id: undo, tool: controlled}],' });
    await plan.cancel();
    expect(plan.order).to.deep.equal(['c/t']);
    await plan.returns('c/t');
    expect(plan.record()).to.deep.include({ status: 'cancelled', settled: false });
    await plan.controlled.returns('undone');
    expect(plan.record()).to.deep.include({
      status: 'cancelled',
      settled: true,
      handlers: { undo: 'undone' },
    });
  });

  it('have their own time, which ends their list alone', async () => {
    const plan = await startPlan([BROKEN], {
      head: `timeout: 5, handler_timeout: 20, on_failure: [{id: alert, tool: controlled}], ${finallyOf('')}`,
    });
    plan.clock.advance(19_000);
    expect(plan.record().handler_failures).to.deep.equal([]);
    plan.clock.advance(1000);
    await plan.controlled.returns('cleaned');
    const { handler_failures: failures = [], error } = plan.record();
    expect(failures.map((failure) => failure.error)).to.deep.equal([
      'on_failure took longer than its handler_timeout of 20 s',
    ]);
    expect(error).to.include('boom');
    expect(plan.record().settled).to.equal(true);
  });

  it('stop with the plan, and their time with them', async () => {
    const plan = await startPlan([STORES], { head: finallyOf('') });
    plan.run.stop();
    expect(plan.clock.pending).to.equal(0);
  });
});

async function rejectionOf(plan: TestPlanRun, force: boolean): Promise<string> {
  const error = await plan.executor.cancel(plan.run.id, { force }).catch((thrown: unknown) => thrown);
  return error instanceof Error ? error.message : 'it was accepted';
}
