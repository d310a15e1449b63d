import { expect } from 'chai';
import type { AttemptObserver } from '../../lib/execution/invocation/attempt-observer.js';
import { HeldRuns } from './held-runs.js';
import { takeWarnings } from '../support/warnings.js';

const FAILING = `{id: p, goal: g, inputs: {list: [1, 2]}, tasks: [
  {id: a, tool: puppet, retry: 1}, {id: each, tool: puppet, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}]}`;

describe('RunRegistry: event listeners and attempt observers', () => {
  it('passes every event of every run to onEvent, in order, with run, tenant and pipeline', async () => {
    const reported: string[] = [];
    const held = new HeldRuns({
      eventBuffer: 100,
      onEvent: ({ seq, kind }, { run_id, tenant_id, pipeline_id }) =>
        reported.push(`${run_id} ${tenant_id} ${pipeline_id} ${seq} ${kind}`),
    });
    const [first = '', second = ''] = await held.submitAll(['a', 'b']);
    await held.end(second);
    await held.end(first);
    for (const [runId, tenant] of [
      [first, 'a'],
      [second, 'b'],
    ]) {
      const { events, gap } = held.registry.events(runId ?? '').readAfter(0, 100);
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
    const held = new HeldRuns({
      eventBuffer: 100,
      onEvent: () => {
        calls++;
        throw new Error('no metrics');
      },
    });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    await held.end(first);
    await held.end(second);
    const warnings = await takeWarnings();
    expect(warnings).to.have.length(2);
    expect(warnings[0]).to.match(/a listener of run .* threw and was removed: no metrics/);
    expect(calls).to.equal(2);
    expect(held.registry.record(first)).to.include({ status: 'succeeded' });
    expect(held.registry.events(first).lastSeq).to.equal(7);
  });

  it('reports every attempt to onAttempt, and its end exactly once however it ends', async () => {
    const reported: string[] = [];
    const held = new HeldRuns(
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
    await held.submit('default', { onEvent });
    await held.filled();
    const [a, first, second] = held.puppet.calls;
    expect(held.puppet.order).to.deep.equal(['a', 'each[0]', 'each[1]']);
    held.clock.advance(1000);
    await held.puppet.returns('too late', a);
    await held.puppet.returns('x', first);
    held.clock.advance(500);
    await held.filled();
    await held.puppet.rejects(new Error('no luck'));
    await held.registry.cancel(runId, { force: true });
    await held.puppet.returns('too late', second);
    expect(reported).to.deep.equal([
      'a puppet - 1 begins',
      'each puppet 0 1 begins',
      'each puppet 1 1 begins',
      'a puppet - 1 timed out after 1 s',
      'each puppet 0 1 succeeds',
      'a puppet - 2 begins',
      'a puppet - 2 no luck',
      'each puppet 1 1 stopped by force',
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
      const held = new HeldRuns({
        onAttempt: (facts) => {
          calls++;
          return onAttempt(facts);
        },
      });
      const first = await held.submit();
      await held.end(first);
      const message = 'the observer of attempts threw and was removed: no gauge';
      expect(await takeWarnings()).to.deep.equal([message]);
      await held.end(await held.submit());
      expect(held.statusOf(first)).to.equal('succeeded');
      expect(calls).to.equal(1);
    }
  });
});
