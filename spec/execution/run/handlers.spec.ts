import { expect } from 'chai';
import type { PipelineRun } from '../../../lib/execution/run/pipeline-run.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { settleUntil } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { startRun, type TestRun, type TestRunOptions } from '../../support/runs/start-run.js';

const BROKEN = '{id: a, tool: mock}, {id: b, tool: fail, inputs: {message: boom}, await: [a]}';

/** Runs a pipeline of which some handlers are controlled. */
async function start(
  tasks: string,
  handlers: string,
  options: TestRunOptions = {},
): Promise<{ readonly run: TestRun; readonly tool: ControlledTool }> {
  const tool = new ControlledTool();
  const run = await startRun(tasks, { ...options, head: `${handlers},`, tools: [tool.tool] });
  return { run, tool };
}

describe('Handlers (D80)', () => {
  it('run after the last wave, see how it ended, and are not counted among the tasks', async () => {
    const { run, tool } = await start(
      BROKEN,
      `on_failure: [{id: alert, tool: controlled, inputs: {text: "{{run.status}}: {{run.failed_task}}: {{run.error}}"}}],
       on_success: [{id: cheer, tool: mock}], finally: [{id: clean, tool: mock, inputs: {of: "{{alert.output}}"}}]`,
    );
    expect(run.record()).to.include({ status: 'failed', settled: false, error: 'boom', finished_at: null });
    expect(tool.last.inputs).to.deep.equal({ text: 'failed: b: boom' });
    await tool.returns('sent');
    const record = run.record();
    expect(record).to.include({ status: 'failed', settled: true });
    expect(record.handlers).to.have.keys('alert', 'clean');
    expect(record.handlers?.['clean']).to.deep.include({ inputs: { of: 'sent' } });
    expect(record.handler_failures).to.deep.equal([]);
    expect(record.progress).to.deep.equal({
      waves: 2,
      waves_executed: 2,
      tasks: 2,
      tasks_settled: 2,
      invocations: 2,
    });
    expect(record.failures.map(({ task_id }) => task_id)).to.deep.equal(['b']);
  });

  it('leave no fields in the record of a pipeline without them', async () => {
    const run = await startRun('{id: a, tool: mock}');
    expect(run.record()).not.to.have.any.keys('handlers', 'handler_failures');
  });

  it('settle the run after them, with the outputs of tasks and of handlers apart', async () => {
    const { run, tool } = await start('{id: a, tool: mock}', 'finally: [{id: clean, tool: controlled}]');
    expect(run.record()).to.include({ status: 'succeeded', settled: false });
    let isResolved = false;
    const result = run.executor.getResult(run.runId).finally(() => (isResolved = true));
    await tool.returns('cleaned');
    expect(isResolved).to.equal(true);
    expect(Object.keys((await result).outputs)).to.deep.equal(['a']);
    expect(await result).to.deep.include({
      waves_executed: 1,
      tasks_executed: 1,
      handlers: { clean: 'cleaned' },
      handler_failures: [],
    });
  });

  it('are tasks: they retry, fan out, are skipped and write events, which name their list', async () => {
    const { run } = await start(
      BROKEN,
      `on_failure: [{id: each, tool: mock, parallel_over: "{{a.output.inputs.list ?? [1, 2]}}", inputs: {n: "{{item}}"}},
         {id: never, tool: mock, when: "{{each.output[5] ?? null}}"}]`,
    );
    const events = run.events.flatMap((event) =>
      'handler' in event && event.handler !== undefined
        ? [`${event.kind} ${event.wave} ${event.handler}`]
        : [],
    );
    expect(events).to.deep.equal([
      'wave 2 on_failure',
      'start 2 on_failure',
      'finish 2 on_failure',
      'wave 2 on_failure',
      'wave 3 on_failure',
      'skip 3 on_failure',
      'wave 3 on_failure',
    ]);
    expect(run.record().skipped?.map(({ task_id }) => task_id)).to.deep.equal(['never']);
  });

  it('that fail are listed apart, end their list, and change nothing else', async () => {
    const { run } = await start(
      '{id: a, tool: mock}',
      `on_success: [{id: x, tool: fail, retry: 1, inputs: {message: no}}, {id: y, tool: mock, await: [x]}],
       finally: [{id: z, tool: mock}]`,
    );
    await run.advance(500);
    const record = run.record();
    expect(record).to.include({ status: 'succeeded', settled: true, error: null });
    expect(record.failures).to.deep.equal([]);
    expect(record.handler_failures).to.deep.equal([{ task_id: 'x', error: 'no', attempts: 2 }]);
    expect(record.handlers).to.have.keys('z');
  });

  it('are skipped where they read the output of a task that did not run, and see the state of one that never began', async () => {
    const { run } = await start(
      `${BROKEN}, {id: late, tool: mock, await: [b]}, {id: unsure, tool: mock, when: "{{late.output}}"}`,
      `finally: [{id: x, tool: mock, inputs: {v: "{{b.output}}"}}, {id: y, tool: mock, inputs: {v: "{{late.output}}"}},
         {id: after, tool: mock, inputs: {v: "{{y.output}}"}}, {id: z, tool: mock, inputs: {v: "{{late.output ?? 0}}", s: "{{unsure.status}}", e: "{{unsure.error}}"}}]`,
    );
    expect(run.record().skipped).to.deep.equal([
      { task_id: 'x', reason: 'it reads the output of "b", which has failed' },
      { task_id: 'y', reason: 'it reads the output of "late", which did not run' },
      { task_id: 'after', reason: 'it reads the output of "y", which was skipped' },
    ]);
    expect(run.record().handlers?.['z']).to.deep.include({ inputs: { v: 0, s: 'skipped', e: null } });
  });

  it('run after a cancel, which is refused once they do, unless it uses force', async () => {
    const { run, tool } = await start(
      '{id: a, tool: controlled}, {id: b, tool: mock, await: [a]}',
      'on_cancel: [{id: undo, tool: controlled, inputs: {v: "{{a.output ?? 0}}"}}], finally: [{id: clean, tool: controlled}]',
    );
    await run.executor.cancel(run.runId);
    await tool.returns(7);
    expect(run.record()).to.include({ status: 'cancelled', settled: false });
    expect(tool.last.inputs).to.deep.equal({ v: 7 });
    const refusal = await catchRejection(run.executor.cancel(run.runId));
    expect((refusal as Error).message).to.match(/was cancelled and its handlers run; use force/);
    await run.executor.cancel(run.runId, { force: true });
    expect(run.record()).to.deep.include({ status: 'cancelled', settled: true, handlers: {} });
    expect(run.record().handler_failures).to.deep.equal([
      { task_id: 'undo', error: 'stopped by force', attempts: 1 },
    ]);
  });

  it('run with their tools, pools and nested pipelines after a cancel by force', async () => {
    const { run, tool } = await start(
      '{id: a, tool: controlled}',
      `on_cancel: [{id: undo, tool: run_pipeline, inputs: {pipeline: {id: inner, goal: g, tasks: [{id: t, tool: controlled}]}}},
         {id: wait, tool: controlled, pool: erp}]`,
      { executor: { pools: new Map([['erp', 1]]) } },
    );
    await run.executor.cancel(run.runId, { force: true });
    await settleUntil(() => tool.calls.length === 3);
    expect(tool.order.slice(1).sort()).to.deep.equal(['t', 'wait']);
    for (const call of tool.calls.slice(1)) await tool.returns('done', call);
    expect(run.record()).to.deep.include({ status: 'cancelled', settled: true, handler_failures: [] });
  });

  it('have a time for each list, after which the next list runs', async () => {
    const { run, tool } = await start(
      BROKEN,
      'handler_timeout: 10s, on_failure: [{id: slow, tool: controlled}, {id: next, tool: mock, await: [slow]}], finally: [{id: clean, tool: controlled}]',
    );
    await run.advance(9999);
    expect(tool.order).to.deep.equal(['slow']);
    await run.advance(1);
    expect(tool.order).to.deep.equal(['slow', 'clean']);
    await run.advance(9999);
    await tool.returns('cleaned');
    expect(run.record()).to.deep.include({ status: 'failed', settled: true, handlers: { clean: 'cleaned' } });
    expect(run.record().handler_failures).to.deep.equal([
      { task_id: 'slow', error: 'on_failure took longer than its handler_timeout of 10s', attempts: 1 },
    ]);
    expect(run.clock.pending).to.equal(0);
  });

  it('have five minutes by default, beside which the timeout of the run does not count any more', async () => {
    const { run, tool } = await start(
      '{id: a, tool: controlled}',
      'timeout: 1m, on_failure: [{id: slow, tool: controlled, inputs: {why: "{{run.error}}", code: "{{run.error_code}}", task: "{{run.failed_task ?? null}}"}}]',
    );
    await run.advance(60_000);
    expect(tool.last.inputs).to.deep.equal({
      why: 'the run took longer than its timeout of 1m',
      code: 'run_timeout',
      task: null,
    });
    await run.advance(299_999);
    expect(run.record()).to.include({ status: 'failed', error_code: 'run_timeout', settled: false });
    await run.advance(1);
    expect(run.record().settled).to.equal(true);
  });

  it('write the status before they begin, and nothing after the last of them', async () => {
    const { run } = await start('{id: a, tool: mock}', 'finally: [{id: z, tool: mock}]');
    const kinds = run.events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'run')).to.have.length(3);
    expect(kinds.slice(-6)).to.deep.equal(['wave', 'run', 'wave', 'start', 'finish', 'wave']);
  });

  it('of a pipeline inside a task call nothing when its attempt is over', async () => {
    const { run, tool } = await start(
      `{id: call, tool: run_pipeline, inputs: {pipeline: {id: inner, goal: g, tasks: [{id: t, tool: controlled}],
         finally: [{id: clean, tool: controlled}]}}}`,
      'labels: {}',
    );
    await run.executor.cancel(run.runId, { force: true });
    expect(run.record()).to.include({ status: 'cancelled', settled: true });
    expect(tool.order).to.deep.equal(['t']);
  });

  it('read who has started the run, and null where there is nothing', async () => {
    const { run } = await start(
      '{id: a, tool: mock, inputs: {id: "{{run.id}}", url: "{{run.url}}", by: "{{run.started_by.kind}}", trigger: "{{run.trigger}}", at: "{{run.scheduled_for}}", answer: "{{run.answer_url}}"}}',
      'labels: {}',
      { executor: { urlOfRun: (id) => `https://jobs.example.com/runs/${id}` } },
    );
    const { outputs } = await run.executor.getResult(run.runId);
    expect(outputs['a']).to.deep.include({
      inputs: {
        id: run.runId,
        url: `https://jobs.example.com/runs/${run.runId}`,
        by: 'library',
        trigger: null,
        at: null,
        answer: null,
      },
    });
  });

  it('read the same namespace at each occurrence: it is made once for each list', async () => {
    const run = await startRun('{id: a, tool: fail, inputs: {message: boom}}', {
      head: 'on_failure: [{id: h, tool: mock, inputs: {a: "{{run.status}}", b: "{{run.id}} {{run.error}}"}}],',
      silent: true,
    });
    const { work } = run.executor.getRun(run.runId) as PipelineRun;
    expect(work.runNamespace).to.equal(work.runNamespace);
    expect(work.runNamespace).to.be.frozen;
  });

  it('leave a task that is called "run" as it was', async () => {
    const { run } = await start(
      '{id: run, tool: sleep, inputs: {seconds: 0, value: {id: 5}}}, {id: b, tool: mock, inputs: {v: "{{run.output.id}}", w: "{{run.id}}"}}',
      'labels: {}',
    );
    await run.advance(0);
    const { outputs } = await run.executor.getResult(run.runId);
    expect(outputs['b']).to.deep.include({ inputs: { v: 5, w: 5 } });
  });
});
