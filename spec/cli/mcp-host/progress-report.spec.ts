import { expect } from 'chai';
import { RunProgressReport } from '../../../lib/cli/mcp-host/progress-report.js';
import type { LiveEvent } from '../../../lib/execution/events/event.js';

const STAMP = { seq: 1, time: '2026-01-01T00:00:00.000Z', run_id: 'r', tool: 'mock', wave: 0 } as const;

describe('The progress of a run that is reported to MCP hosts', () => {
  it('grows with each task and item, and ends at the number of tasks', () => {
    const reported: number[] = [];
    let nowMs = 0;
    const progress = new RunProgressReport(
      2,
      (done) => void reported.push(done),
      () => (nowMs += 100),
    );
    const send = (event: object): void => progress.onEvent({ ...STAMP, ...event } as LiveEvent);
    send({ kind: 'start', task_id: 'many', items: 3 });
    send({ kind: 'start', task_id: 'one' });
    for (const item of [2, 0, 1]) {
      send({ kind: 'item', task_id: 'many', item, phase: 'finish', attempt: 1 });
      send({ kind: 'finish', task_id: 'inner', within: ['one'] });
    }
    send({ kind: 'fail', task_id: 'one' });
    send({ kind: 'finish', task_id: 'many', items: 3 });
    expect(reported).to.deep.equal([0.25, 0.5, 0.75, 1.75, 2]);
  });

  it('is reported ten times in a second at most, but for tasks', () => {
    const messages: string[] = [];
    const progress = new RunProgressReport(
      2,
      (_done, _total, message) => void messages.push(message),
      () => 0,
    );
    const send = (event: object): void => progress.onEvent({ ...STAMP, ...event } as LiveEvent);
    send({ kind: 'start', task_id: 'many', items: 100 });
    for (let item = 0; item < 100; item++) send({ kind: 'item', task_id: 'many', item, phase: 'finish' });
    send({ kind: 'finish', task_id: 'many', items: 100 });
    expect(messages).to.deep.equal(['many: 1 of 100 items', 'many finished']);
  });
});
