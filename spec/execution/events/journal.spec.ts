import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { Puppet } from '../../support/puppet.js';
import { running } from '../../support/runs/running.js';

const LIST = '{id: l, tool: transform, inputs: {input: null, expression: "[1, 2]"}}';

describe('the events of a run (Events, D29)', () => {
  it('are a start and a finish or fail for every task, when collected', async () => {
    const puppet = new Puppet();
    const run = await running('{id: a, tool: mock}, {id: b, tool: puppet, await: [a]}', {
      tools: [puppet.tool],
      collect_events: true,
    });
    run.clock.advance(1500);
    await puppet.rejects(new Error('no'));
    const about = { run_id: run.runId };
    const start = '2026-01-01T00:00:00.000Z';
    const end = '2026-01-01T00:00:01.500Z';
    expect(run.record().events?.map(({ seq: _, ...event }) => event)).to.deep.equal([
      { kind: 'start', time: start, ...about, task_id: 'a', tool: 'mock', wave: 0 },
      {
        kind: 'finish',
        time: start,
        ...about,
        task_id: 'a',
        tool: 'mock',
        wave: 0,
        attempt: 1,
        duration_ms: 0,
      },
      { kind: 'start', time: start, ...about, task_id: 'b', tool: 'puppet', wave: 1 },
      {
        kind: 'fail',
        time: end,
        ...about,
        task_id: 'b',
        tool: 'puppet',
        wave: 1,
        attempt: 1,
        duration_ms: 1500,
        error: 'no',
      },
    ]);
  });

  it('are null when not collected', async () => {
    const run = await running('{id: a, tool: mock}');
    expect(run.record().events).to.equal(null);
  });

  it('are kept for a run that was cancelled (D28)', async () => {
    const puppet = new Puppet();
    const run = await running('{id: a, tool: puppet}', { tools: [puppet.tool], collect_events: true });
    await run.executor.cancel(run.runId);
    await puppet.returns(1);
    expect(run.record().events).to.have.length(2);
  });

  it('stream run, wave, item and retry as well, numbered without a gap', async () => {
    const puppet = new Puppet();
    const run = await running(
      `${LIST}, {id: f, tool: puppet, retry: 1, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}`,
      {
        tools: [puppet.tool],
      },
    );
    await run.advance(0);
    await puppet.rejects(new Error('once'), puppet.calls[0]);
    await puppet.returns('two', puppet.calls[1]);
    await run.advance(500);
    await puppet.returns('one');
    expect(run.events.map(({ seq }) => seq)).to.deep.equal(run.events.map((_, index) => index + 1));
    expect(run.events.map(line)).to.deep.equal([
      'run queued',
      'run running',
      'wave 0 start',
      'start l',
      'finish l',
      'wave 0 finish',
      'wave 1 start',
      'start f',
      'retry f[0] in 500 ms',
      'item f[1] finish',
      'item f[0] finish',
      'finish f',
      'wave 1 finish',
      'run succeeded',
    ]);
  });

  for (const kind of ['run', 'wave', 'start', 'finish', 'item', 'retry', 'log']) {
    it(`do not depend on a listener that throws at "${kind}": it is let go with a warning`, async () => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error): number => warnings.push(warning);
      process.on('warning', onWarning);
      const puppet = new Puppet();
      const run = await running(
        `${LIST}, {id: f, tool: puppet, retry: 1, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}`,
        {
          tools: [puppet.tool],
          onEvent: (event) => {
            if (event.kind === kind) throw new Error('broken listener');
          },
        },
      );
      await run.advance(0);
      puppet.calls[0]?.context.log('hello');
      await puppet.rejects(new Error('once'), puppet.calls[0]);
      await puppet.returns('two', puppet.calls[1]);
      await run.advance(500);
      await puppet.returns('one');
      process.off('warning', onWarning);
      expect(run.record()).to.deep.include({ status: 'succeeded', settled: true });
      expect(warnings.map(({ message }) => message)).to.have.length(1);
      expect(warnings[0]?.message).to.include('broken listener');
    });
  }

  it('tell how long a task took to a listener that came late', async () => {
    const puppet = new Puppet();
    const run = await running('{id: a, tool: puppet}', { tools: [puppet.tool], silent: true });
    const heard: LiveEvent[] = [];
    run.executor.run(run.runId).journal.listen((event) => heard.push(event));
    run.clock.advance(1500);
    await puppet.returns(1);
    expect(heard[0]).to.deep.include({ kind: 'finish', duration_ms: 1500 });
  });

  it('carry what a tool logs', async () => {
    const puppet = new Puppet();
    const run = await running('{id: a, tool: puppet}', { tools: [puppet.tool] });
    puppet.last.context.log('half way');
    expect(run.events.at(-1)).to.deep.include({ kind: 'log', task_id: 'a', message: 'half way' });
  });

  it('say why a run failed, and that it was cancelled', async () => {
    const failed = await running('{id: a, tool: fail, inputs: {message: no luck}}');
    expect(failed.events.at(-1)).to.deep.include({ kind: 'run', status: 'failed', error: 'no luck' });
    const puppet = new Puppet();
    const cancelled = await running('{id: a, tool: puppet}', { tools: [puppet.tool] });
    await cancelled.executor.cancel(cancelled.runId);
    expect(cancelled.events.at(-1)).to.deep.include({ kind: 'run', status: 'cancelled' });
  });
});

function line(event: LiveEvent): string {
  switch (event.kind) {
    case 'run':
      return `run ${event.status}`;
    case 'wave':
      return `wave ${event.wave} ${event.phase}`;
    case 'item':
      return `item ${event.task_id}[${event.item}] ${event.phase}`;
    case 'retry':
      return `retry ${event.task_id}[${event.item}] in ${event.delay_ms} ms`;
    case 'sub_pipeline':
      return `sub_pipeline ${event.sub_pipeline} ${event.status}`;
    case 'log':
      return `log ${event.task_id}`;
    default:
      return `${event.kind} ${event.task_id}`;
  }
}
