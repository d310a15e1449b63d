import { expect } from 'chai';
import type { AttemptObserver } from '../../../lib/execution/invocation/attempt/attempt-observer.js';
import { ControlledRuns } from '../controlled-runs.js';
import { takeWarnings } from '../../support/warnings.js';

const FAILING = `{id: p, goal: g, inputs: {list: [1, 2]}, tasks: [
  {id: a, tool: controlled, retry: 1}, {id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}]}`;

describe('RunRegistry: event listeners and attempt observers', () => {
  it('passes every event of every run to onEvent, in order, with run, tenant and pipeline', async () => {
    const reported: string[] = [];
    const fixture = new ControlledRuns({
      eventBuffer: 100,
      onEvent: ({ seq, kind }, { run_id, tenant_id, pipeline_id }) =>
        reported.push(`${run_id} ${tenant_id} ${pipeline_id} ${seq} ${kind}`),
    });
    const [first = '', second = ''] = await fixture.submitAll(['a', 'b']);
    await fixture.complete(second);
    await fixture.complete(first);
    for (const [runId, tenant] of [
      [first, 'a'],
      [second, 'b'],
    ]) {
      const { events, gap } = fixture.registry.queries.events(runId ?? '').readAfter(0, 100);
      expect(events.map(({ kind }) => kind)).to.deep.equal([
        'run',
        'run',
        'wave',
        'start',
        'finish',
        'wave',
        'run',
      ]);
      expect(gap).to.equal(false);
      const own = reported.filter((line) => line.startsWith(`${runId}`));
      expect(own).to.deep.equal(events.map(({ seq, kind }) => `${runId} ${tenant} held ${seq} ${kind}`));
    }
  });

  it('continues the run and its event log when onEvent throws', async () => {
    let calls = 0;
    const fixture = new ControlledRuns({
      eventBuffer: 100,
      onEvent: () => {
        calls++;
        throw new Error('no metrics');
      },
    });
    const [first = '', second = ''] = await fixture.submitAll(['a', 'a']);
    await fixture.complete(first);
    await fixture.complete(second);
    const warnings = await takeWarnings();
    expect(warnings).to.have.length(2);
    expect(warnings[0]).to.match(/a listener of run .* threw and was removed: no metrics/);
    expect(calls).to.equal(2);
    expect(fixture.registry.record(first)).to.include({ status: 'succeeded' });
    expect(fixture.registry.queries.events(first).lastSeq).to.equal(7);
  });

  it('reports every attempt to onAttempt, and its end exactly once however it ends', async () => {
    const reported: string[] = [];
    const fixture = new ControlledRuns(
      {
        onAttempt: ({ taskId, tool, item, attempt, runId }) => {
          const name = `${taskId} ${tool} ${item ?? '-'} ${attempt}`;
          reported.push(`${name} ${runId === runId ? 'begins' : 'is of another run'}`);
          return (error) => reported.push(`${name} ${error ?? 'succeeds'}`);
        },
      },
      FAILING.replace('retry: 1', 'retry: 1, timeout: 1'),
    );
    let runId = '';
    const onEvent = ({ run_id }: { run_id: string }): void => void (runId = run_id);
    await fixture.submit('default', { onEvent });
    await fixture.waitUntilIdle();
    const [a, first, second] = fixture.controlled.calls;
    expect(fixture.controlled.order).to.deep.equal(['a', 'each[0]', 'each[1]']);
    fixture.clock.advance(1000);
    await fixture.controlled.returns('too late', a);
    await fixture.controlled.returns('x', first);
    fixture.clock.advance(500);
    await fixture.waitUntilIdle();
    await fixture.controlled.rejects(new Error('no luck'));
    await fixture.registry.cancel(runId, { force: true });
    await fixture.controlled.returns('too late', second);
    expect(reported).to.deep.equal([
      'a controlled - 1 begins',
      'each controlled 0 1 begins',
      'each controlled 1 1 begins',
      'a controlled - 1 timed out after 1 s',
      'each controlled 0 1 succeeds',
      'a controlled - 2 begins',
      'a controlled - 2 no luck',
      'each controlled 1 1 stopped by force',
    ]);
  });

  it('continues the run when the attempt observer throws, at the start or at the end', async () => {
    const observers: AttemptObserver[] = [
      () => {
        throw new Error('no gauge');
      },
      () => () => {
        throw new Error('no gauge');
      },
    ];
    for (const onAttempt of observers) {
      let calls = 0;
      const fixture = new ControlledRuns({
        onAttempt: (facts) => {
          calls++;
          return onAttempt(facts);
        },
      });
      const first = await fixture.submitAndComplete();
      const message = 'the observer of attempts threw and was removed: no gauge';
      expect(await takeWarnings()).to.deep.equal([message]);
      await fixture.complete(await fixture.submit());
      expect(fixture.getStatus(first)).to.equal('succeeded');
      expect(calls).to.equal(1);
    }
  });
});
