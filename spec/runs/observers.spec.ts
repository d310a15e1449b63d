import { expect } from 'chai';
import type { AttemptObserver } from '../../lib/execution/invocation/attempt-observer.js';
import { HeldRuns } from './held-runs.js';

const FAILING = `{id: p, goal: g, inputs: {list: [1, 2]}, tasks: [
  {id: a, tool: puppet, retry: 1}, {id: each, tool: puppet, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}]}`;

describe('what the registry tells those who observe it', () => {
  it('tells every event of every run, in order, with whose it is', async () => {
    const told: string[] = [];
    const held = new HeldRuns({
      eventBuffer: 100,
      onEvent: ({ seq, kind }, { run_id, tenant_id, pipeline_id }) =>
        told.push(`${run_id} ${tenant_id} ${pipeline_id} ${seq} ${kind}`),
    });
    const [first = '', second = ''] = await held.submitAll(['a', 'b']);
    await held.end(second);
    await held.end(first);
    for (const [runId, tenant] of [
      [first, 'a'],
      [second, 'b'],
    ]) {
      const { events, gap } = held.registry.events(runId ?? '').after(0, 100);
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
      const own = told.filter((line) => line.startsWith(`${runId}`));
      expect(own).to.deep.equal(events.map(({ seq, kind }) => `${runId} ${tenant} held ${seq} ${kind}`));
    }
  });

  it('runs on when a listener throws, and keeps its events for others', async () => {
    let heard = 0;
    const held = new HeldRuns({
      eventBuffer: 100,
      onEvent: () => {
        heard++;
        throw new Error('no metrics');
      },
    });
    const warned = new Promise<Error>((resolve) => {
      process.once('warning', resolve);
    });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    expect((await warned).message).to.match(/a listener of run .* threw and hears no more: no metrics/);
    await held.end(first);
    await held.end(second);
    expect(heard).to.equal(2);
    expect(held.registry.record(first)).to.include({ status: 'succeeded' });
    expect(held.registry.events(first).last).to.equal(7);
  });

  it('tells of every attempt, and once of its end, however it ends', async () => {
    const told: string[] = [];
    const held = new HeldRuns(
      {
        onAttempt: ({ task_id, tool, item, attempt, run_id }) => {
          const name = `${task_id} ${tool} ${item ?? '-'} ${attempt}`;
          told.push(`${name} ${run_id === runId ? 'begins' : 'is of another run'}`);
          return (error) => told.push(`${name} ${error ?? 'succeeds'}`);
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
    expect(told).to.deep.equal([
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

  it('runs on when the one that measures throws, at the beginning or at the end', async () => {
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
      const warned = new Promise<Error>((resolve) => {
        process.once('warning', resolve);
      });
      const first = await held.submit();
      await held.end(first);
      const message = 'the observer of attempts threw and hears no more: no gauge';
      expect(await warned).to.have.property('message', message);
      await held.end(await held.submit());
      expect(held.statusOf(first)).to.equal('succeeded');
      expect(calls).to.equal(1);
    }
  });
});
