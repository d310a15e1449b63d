import { expect } from 'chai';
import { TaskPools } from '../../../../lib/common/scheduling/task-pools.js';
import { ControlledTool } from '../../../support/controlled-tool.js';
import { settle } from '../../../support/deferred.js';
import { startRun, type TestRun, type TestRunOptions } from '../../../support/runs/start-run.js';

const UNTIL = 'until: {value: "{{this.output.state}}", const: done}';
const PENDING = { state: 'pending' };
const DONE = { state: 'done' };

describe('A task with repeat (D83)', () => {
  let controlled: ControlledTool;

  beforeEach(() => {
    controlled = new ControlledTool();
  });

  function start(fields: string, options: TestRunOptions = {}): Promise<TestRun> {
    return startRun(`{id: a, tool: controlled, ${fields}}`, { tools: [controlled.tool], ...options });
  }

  function roundsOf({ events }: TestRun): object[] {
    return events.flatMap((event) => {
      if (event.kind !== 'round') return [];
      const { round, at_most, attempt, reason = null, delay_ms = null } = event;
      return [{ round, at_most, attempt, reason, delay_ms }];
    });
  }

  it('calls its tool again after each wait until the condition holds, and has the output of the last round', async () => {
    const run = await start(`repeat: {${UNTIL}, every: 30s}, inputs: {order: 4711}`);
    await controlled.returns(PENDING);
    await run.advance(29_999);
    expect(controlled.order).to.deep.equal(['a']);
    await run.advance(1);
    expect(controlled.order).to.deep.equal(['a', 'a']);
    await controlled.returns(DONE);
    expect(run.record().result).to.deep.include({ outputs: { a: DONE }, tasks_executed: 2 });
    const reason = '{{this.output.state}} must be "done", not "pending"';
    expect(roundsOf(run)).to.deep.equal([
      { round: 1, at_most: 20, attempt: 1, reason, delay_ms: 30_000 },
      { round: 2, at_most: 20, attempt: 2, reason: null, delay_ms: null },
    ]);
  });

  it('waits 30 seconds where it does not say how long', async () => {
    const run = await start(`repeat: {${UNTIL}}`);
    await controlled.returns(PENDING);
    await run.advance(30_000);
    expect(controlled.order).to.have.length(2);
  });

  it('fails after its last round, and says which condition does not hold of which value', async () => {
    const run = await start(`repeat: {${UNTIL}, every: 1, at_most: 2}`);
    await controlled.returns(PENDING);
    await run.advance(1000);
    await controlled.returns(PENDING);
    const { status, error, failures } = run.record();
    expect({ status, error }).to.deep.equal({
      status: 'failed',
      error:
        'its condition does not hold after 2 rounds: {{this.output.state}} must be "done", not "pending"',
    });
    expect(failures).to.have.length(1);
    expect(failures[0]?.attempts).to.equal(2);
  });

  it('retries each round by itself: a round whose attempts all fail fails the task', async () => {
    const run = await start(`retry: 1, retry_delay: 1, repeat: {${UNTIL}, every: 5}`);
    for (const round of [1, 2]) {
      await controlled.rejects(new Error(`busy in round ${round}`));
      await run.advance(1000);
      await controlled.returns(PENDING);
      await run.advance(5000);
    }
    await controlled.rejects(new Error('down'));
    await run.advance(1000);
    await controlled.rejects(new Error('down for good'));
    expect(run.record()).to.include({ status: 'failed', error: 'down for good' });
    expect(controlled.order).to.have.length(6);
  });

  it('limits the time of each attempt, and not that of the waits', async () => {
    const run = await start(`timeout: 2, repeat: {${UNTIL}, every: 60}`);
    await run.advance(1999);
    await controlled.returns(PENDING);
    await run.advance(60_000);
    expect(run.record().status).to.equal('running');
    await run.advance(2000);
    expect(run.record()).to.include({ status: 'failed', error: 'timed out after 2 s' });
  });

  it('gives its place in a pool back between two rounds (D81)', async () => {
    const pools = new TaskPools(new Map([['erp', 1]]));
    const run = await start(`pool: erp, repeat: {${UNTIL}, every: 1}`, { executor: { pools } });
    expect(pools.get('erp')?.inUse).to.equal(1);
    await controlled.returns(PENDING);
    expect(pools.get('erp')?.inUse).to.equal(0);
    await run.advance(1000);
    expect(pools.get('erp')?.inUse).to.equal(1);
    await controlled.returns(DONE);
    expect(run.record().progress.invocations).to.equal(2);
  });

  for (const force of [false, true]) {
    it(`ends its wait at once when the run is cancelled ${force ? 'by' : 'without'} force (D21)`, async () => {
      const run = await start(`repeat: {${UNTIL}}`);
      await controlled.returns(PENDING);
      await run.executor.cancel(run.runId, { force });
      await settle();
      const { status, settled, failures } = run.record();
      expect({ status, settled }).to.deep.equal({ status: 'cancelled', settled: true });
      const error = force ? 'stopped by force' : 'cancelled before round 2';
      expect(failures.map((failure) => failure.error)).to.deep.equal([error]);
      await run.advance(60_000);
      expect(controlled.order).to.have.length(1);
    });
  }

  it('begins no round after the one that is at work when the run is cancelled', async () => {
    const run = await start(`repeat: {${UNTIL}}`);
    await run.executor.cancel(run.runId);
    await controlled.returns(PENDING);
    expect(run.record().failures.map(({ error }) => error)).to.deep.equal(['cancelled before round 2']);
  });

  it('fails when a value that its condition reads is missing, unless there is a default', async () => {
    const strict = await start('repeat: {until: "{{this.output.result.id}}"}');
    await controlled.returns(PENDING);
    expect(strict.record().error).to.contain('{{this.output.result');
    const lax = await start('repeat: {until: "{{this.output.result.id ?? null}}", every: 1}');
    await controlled.returns(PENDING);
    await lax.advance(1000);
    await controlled.returns({ result: { id: 7 } });
    expect(lax.record().status).to.equal('succeeded');
  });

  it('holds of no value whose type its keyword is not about (D77)', async () => {
    const run = await start('repeat: {until: {value: "{{this.output.state}}", minimum: 1}, at_most: 1}');
    await controlled.returns({ state: '5' });
    expect(run.record().error).to.contain(
      '{{this.output.state}} is the text "5", and minimum needs a number',
    );
  });

  it('reads other tasks and params in its conditions, of which all must hold', async () => {
    const run = await startRun(
      `{id: w, tool: mock, inputs: {}}, {id: a, tool: controlled, repeat: {every: 1,
        until: ["{{this.output.n}}", "{{pipeline.inputs.go}}", {value: "{{w.output.status}}", const: success}]}}`,
      { tools: [controlled.tool], inputs: { go: true } },
    );
    await controlled.returns({ n: 0 });
    await run.advance(1000);
    await controlled.returns({ n: 1 });
    expect(run.record().status).to.equal('succeeded');
  });

  it('means its own output by "this", also where a task is called so', async () => {
    const run = await startRun(
      `{id: this, tool: controlled}, {id: a, tool: controlled, await: [this], repeat: {${UNTIL}}, inputs: {x: "{{this.output.y}}"}}`,
      { tools: [controlled.tool] },
    );
    await controlled.returns({ y: 1, state: 'other' });
    await controlled.returns(DONE);
    expect(run.record().result?.outputs?.['a']).to.deep.equal(DONE);
  });
});
