import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { describeRun, expectNoGap, KeptTestRun } from './kept-runs.js';

const TASKS = `{id: f, tool: script, pool: erp, retry: 1, on_item_error: collect, parallel_over: "{{pipeline.inputs.items3}}",
  inputs: {ms: 3, value: "{{item}}"}}`;

/** Cancels a run of which one call is at work and two wait, and returns it when it has settled. */
async function cancelled(force: boolean): Promise<KeptTestRun> {
  const run = new KeptTestRun(TASKS);
  await run.runToEnd((turn) => turn === 1 && run.run.cancel(force));
  return run;
}

describe('Calls that wait for places, in a run that goes on after a crash (D68, D81)', () => {
  for (const force of [false, true]) {
    it(`end as before where the run was cancelled ${force ? 'by' : 'without'} force, wherever the crash was after that`, async () => {
      const whole = await cancelled(force);
      const { facts } = whole.log;
      expect(whole.record).to.deep.include({ status: 'cancelled', settled: true });
      expect(whole.record.progress.invocations).to.equal(1);
      const after = facts.findIndex(({ kind }) => kind === 'cancel');
      for (let count = after + 1; count <= facts.length; count++) {
        const rebuilt = new KeptTestRun(TASKS, facts.slice(0, count));
        await rebuilt.runToEnd();
        const { status, settled, failures } = rebuilt.record;
        expect({ status, settled }).to.deep.equal({ status: 'cancelled', settled: true });
        expect(failures.length, `${count} facts`).to.equal(whole.record.failures.length);
        expectNoGap(rebuilt);
        if (count === facts.length) expect(describeRun(rebuilt)).to.deep.equal(describeRun(whole));
      }
    });
  }

  it('keep nothing of the wait: they wait again, as the same attempt', async () => {
    const first = new KeptTestRun(TASKS);
    const crash = new Error('crash');
    const ended = first.runToEnd(() => {
      if (first.calls.length > 0) throw crash;
    });
    expect(await ended.catch((error: unknown) => error)).to.equal(crash);
    const kinds = new Set<Fact['kind']>(first.log.facts.map(({ kind }) => kind));
    expect([...kinds]).to.not.include.members(['retry', 'due', 'called']);
    const rebuilt = new KeptTestRun(TASKS, first.log.facts);
    await rebuilt.runToEnd();
    expect(rebuilt.record.result?.outputs).to.deep.equal({ f: [0, 1, 2] });
    expect(rebuilt.calls.map(({ attempt }) => attempt)).to.deep.equal([1, 1, 1]);
  });
});
