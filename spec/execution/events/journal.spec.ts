import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { startRun } from '../../support/runs/start-run.js';
import { takeWarnings } from '../../support/warnings.js';

const LIST = '{id: l, tool: transform, inputs: {input: null, expression: "[1, 2]"}}';

describe('Journal (Events, D29)', () => {
  it('collects a start and a finish or fail event for every task', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: mock}, {id: b, tool: controlled, await: [a]}', {
      tools: [controlled.tool],
      collect_events: true,
    });
    run.clock.advance(1500);
    await controlled.rejects(new Error('no'));
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
      { kind: 'start', time: start, ...about, task_id: 'b', tool: 'controlled', wave: 1 },
      {
        kind: 'fail',
        time: end,
        ...about,
        task_id: 'b',
        tool: 'controlled',
        wave: 1,
        attempt: 1,
        duration_ms: 1500,
        error: 'no',
      },
    ]);
  });

  it('has no events when they are not collected', async () => {
    const run = await startRun('{id: a, tool: mock}');
    expect(run.record().events).to.equal(null);
  });

  it('keeps the events of a cancelled run (D28)', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled}', {
      tools: [controlled.tool],
      collect_events: true,
    });
    await run.executor.cancel(run.runId);
    await controlled.returns(1);
    expect(run.record().events).to.have.length(2);
  });

  it('streams run, wave, item and retry events too, numbered without a gap', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(
      `${LIST}, {id: f, tool: controlled, retry: 1, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}`,
      { tools: [controlled.tool] },
    );
    await run.advance(0);
    await controlled.rejects(new Error('once'), controlled.calls[0]);
    await controlled.returns('two', controlled.calls[1]);
    await run.advance(500);
    await controlled.returns('one');
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
    it(`removes a listener that throws at "${kind}", with a warning`, async () => {
      const controlled = new ControlledTool();
      const run = await startRun(
        `${LIST}, {id: f, tool: controlled, retry: 1, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}`,
        {
          tools: [controlled.tool],
          onEvent: (event) => {
            if (event.kind === kind) throw new Error('broken listener');
          },
        },
      );
      await run.advance(0);
      controlled.calls[0]?.context.log('hello');
      await controlled.rejects(new Error('once'), controlled.calls[0]);
      await controlled.returns('two', controlled.calls[1]);
      await run.advance(500);
      await controlled.returns('one');
      expect(run.record()).to.deep.include({ status: 'succeeded', settled: true });
      const warnings = await takeWarnings();
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include('broken listener');
    });
  }

  it('reports the duration of a task to a listener that subscribed after its start', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool], silent: true });
    const received: LiveEvent[] = [];
    run.executor.getRun(run.runId).journal.subscribe((event) => received.push(event));
    run.clock.advance(1500);
    await controlled.returns(1);
    expect(received[0]).to.deep.include({ kind: 'finish', duration_ms: 1500 });
  });

  it('writes a log event for every message of a tool', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
    controlled.last.context.log('half way');
    expect(run.events.at(-1)).to.deep.include({ kind: 'log', task_id: 'a', message: 'half way' });
  });

  it('reports why a run failed, and that a run was cancelled', async () => {
    const failed = await startRun('{id: a, tool: fail, inputs: {message: no luck}}');
    expect(failed.events.at(-1)).to.deep.include({ kind: 'run', status: 'failed', error: 'no luck' });
    const controlled = new ControlledTool();
    const cancelled = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
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
