import { expect } from 'chai';
import { TaskFailedError } from '../../../lib/common/errors.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { startRun, type TestRun } from '../../support/runs/start-run.js';

const ERROR = 'the run took longer than its timeout of 5s';

describe('The timeout of a whole run (D81)', () => {
  const start = (
    tasks: string,
    tool: ControlledTool,
    timeout = '5s',
    options: Parameters<typeof startRun>[1] = {},
  ): Promise<TestRun> => startRun(tasks, { tools: [tool.tool], head: `timeout: ${timeout},`, ...options });

  it('aborts what is at work, starts no further wave and fails as run_timeout', async () => {
    const tool = new ControlledTool();
    const run = await start('{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}', tool);
    await run.advance(4999);
    expect(run.record()).to.include({ status: 'running', error_code: null });
    await run.advance(1);
    expect(tool.last.context.signal.aborted).to.equal(true);
    expect(tool.order).to.deep.equal(['a']);
    expect(run.record()).to.deep.include({
      status: 'failed',
      settled: true,
      error: ERROR,
      error_code: 'run_timeout',
      failed_task: null,
      failures: [{ task_id: 'a', error: 'stopped by force', attempts: 1 }],
    });
    expect(run.events.at(-1)).to.deep.include({ kind: 'run', error: ERROR, error_code: 'run_timeout' });
    expect(run.clock.pending).to.equal(0);
  });

  it('rejects the result with the code run_timeout and the failures of the tasks that were stopped', async () => {
    const run = await start('{id: a, tool: controlled}', new ControlledTool(), '5');
    await run.advance(5000);
    const error = await catchRejection(run.executor.getResult(run.runId));
    expect(error).to.be.instanceOf(TaskFailedError);
    expect(error).to.include({ code: 'run_timeout', task_id: '', message: ERROR.replace('5s', '5 s') });
  });

  it('does nothing to a run that ends in time, and leaves no timer', async () => {
    const tool = new ControlledTool();
    const run = await start('{id: a, tool: controlled}', tool);
    await tool.returns('done');
    expect(run.clock.pending).to.equal(0);
    await run.advance(10_000);
    expect(run.record()).to.include({ status: 'succeeded', error_code: null });
  });

  it('needs no timer where the definition has no timeout', async () => {
    const run = await startRun('{id: a, tool: controlled}', { tools: [new ControlledTool().tool] });
    expect(run.clock.pending).to.equal(0);
  });

  it('stands still while the run waits at a breakpoint', async () => {
    const tool = new ControlledTool();
    const tasks = '{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}';
    const run = await start(tasks, tool, '5s', { breakpoints: { before: ['b'] } });
    await run.advance(3000);
    await tool.returns('done');
    expect(run.record().paused).to.equal(true);
    await run.advance(100_000);
    expect(run.record().status).to.equal('running');
    run.executor.resume(run.runId, 'continue');
    await settle();
    await run.advance(1999);
    expect(run.record().status).to.equal('running');
    await run.advance(1);
    expect(run.record()).to.include({ status: 'failed', error_code: 'run_timeout' });
  });

  it('aborts the wave of a run that was cancelled before, which stays cancelled', async () => {
    const tool = new ControlledTool();
    const run = await start('{id: a, tool: controlled}', tool);
    await run.executor.cancel(run.runId);
    await run.advance(5000);
    expect(tool.last.context.signal.aborted).to.equal(true);
    expect(run.record()).to.include({ status: 'cancelled', settled: true, error: null, error_code: null });
  });

  it('fails the attempt of a task whose pipeline has one, which may try again', async () => {
    const tool = new ControlledTool();
    const inner = '{id: x, goal: g, timeout: 1s, tasks: [{id: t, tool: controlled}]}';
    const run = await startRun(
      `{id: call, tool: run_pipeline, retry: 1, retry_delay: 1, inputs: {pipeline: ${inner}}}`,
      { tools: [tool.tool] },
    );
    await run.advance(1000);
    await run.advance(1000);
    expect(tool.calls.map(({ context }) => context.signal.aborted)).to.deep.equal([true, false]);
    await run.advance(1000);
    expect(run.record()).to.deep.include({
      status: 'failed',
      error: 'pipeline "x": the run took longer than its timeout of 1s',
      error_code: 'run_timeout',
      failed_task: { task_id: 'call' },
    });
  });

  it('says the code of any other failure in error_code, also that of a cause', async () => {
    for (const [thrown, code] of [
      [new Error('broke'), null],
      [Object.assign(new Error('no file'), { code: 'ENOENT' }), 'ENOENT'],
      [
        new Error('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
        'ECONNREFUSED',
      ],
    ] as const) {
      const tool = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled}', { tools: [tool.tool] });
      await tool.rejects(thrown);
      expect(run.record().error_code).to.equal(code);
    }
  });
});
