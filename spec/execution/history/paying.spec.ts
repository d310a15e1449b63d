import { expect } from 'chai';
import { KeptTestRun } from './kept-runs.js';

const INNER =
  '{id: inner, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: script, inputs: {value: "\\\\{{pipeline.inputs.v}}"}}, {id: y, tool: script}]}';

/** Runs pipelines with a value of 1,000 characters, one after the other, and returns little. */
function nested(count: number): string {
  const value = `"${'x'.repeat(1000)}"`;
  const call = `{id: one, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: script, inputs: {value: ${value}}}, {id: end, tool: script, await: [x]}]}`;
  return `{id: a, tool: in_sequence, inputs: {pause: 0, pipelines: [${Array(count).fill(call).join(', ')}]}}`;
}

describe('What a durable run keeps on the disk (D68)', () => {
  it('takes memory of the run, also of pipelines inside tasks that have ended: the run fails when it has none left', async () => {
    const few = new KeptTestRun(nested(5), [], [], { runOutputLimitBytes: 154_000 });
    await few.runToEnd();
    expect(few.record.status).to.equal('succeeded');
    const many = new KeptTestRun(nested(200), [], [], { runOutputLimitBytes: 154_000 });
    await many.runToEnd();
    expect(many.record.error).to.match(/the run takes more memory than the limit/);
    expect(many.calls.length).to.be.lessThan(300);
  });

  it('takes as much after a restart: of calls, retries, fan-outs and pipelines inside tasks', async () => {
    const tasks = `{id: a, tool: script, inputs: {value: [1, 2, 0]}},
      {id: each, tool: script, retry: 2, retry_delay: 0.001, parallel_over: "{{a.output}}", inputs: {fails: "{{item}}", value: "{{item}}"}},
      {id: one, tool: run_pipeline, retry: 1, retry_delay: 0.001, inputs: {inputs: {v: "{{a.output}}"}, pipeline: ${INNER.replaceAll('\\\\', '')}}},
      {id: two, tool: in_sequence, retry: 1, retry_delay: 0.001, inputs: {fails: 1, pipelines: [${INNER}, ${INNER}]}}`;
    const run = new KeptTestRun(tasks);
    await run.runToEnd();
    expect(run.record.status, run.record.error ?? '').to.equal('succeeded');
    const rebuilt = new KeptTestRun(tasks, run.log.facts);
    await rebuilt.run.rebuild();
    expect(rebuilt.record.status).to.equal('succeeded');
    const { usedBytes } = run.run.budget;
    // But for the collected events of what is not run again.
    expect(rebuilt.run.budget.usedBytes).to.be.within(0.9 * usedBytes, usedBytes);
  });
});
