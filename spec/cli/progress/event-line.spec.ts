import { expect } from 'chai';
import { formatEvent } from '../../../lib/cli/progress/event-line.js';
import { createStyle } from '../../../lib/cli/render/terminal.js';
import { createTerminal } from '../render/terminal.js';
import { stamp, type UnstampedEvent } from './stamped-event.js';

describe('formatEvent', () => {
  const style = createStyle(createTerminal());

  const LINES: [event: UnstampedEvent, text: string][] = [
    [{ kind: 'run', status: 'running' }, 'run running'],
    [{ kind: 'run', status: 'failed', error: 'no\nluck' }, 'run failed: no luck'],
    [{ kind: 'wave', wave: 0, phase: 'start', tasks: 2 }, 'wave 1 started (2 tasks)'],
    [{ kind: 'wave', wave: 1, phase: 'finish', tasks: 1 }, 'wave 2 settled (1 task)'],
    [{ kind: 'start', task_id: 'a', tool: 'mock', wave: 0 }, 'a started (mock)'],
    [{ kind: 'start', task_id: 'a', tool: 'mock', wave: 0, items: 1000 }, 'a started (mock, 1,000 items)'],
    [{ kind: 'finish', task_id: 'a', tool: 'mock', wave: 0, duration_ms: 1500 }, 'a finished in 1.5 s'],
    [
      { kind: 'start', task_id: 'a', tool: 'mock', wave: 0, sub_pipeline: 'ingest', reused: true },
      'ingest/a reuses its output of the earlier run (mock)',
    ],
    [{ kind: 'finish', task_id: 'a', tool: 'mock', wave: 0, duration_ms: 0, reused: true }, 'a reused'],
    [
      { kind: 'finish', task_id: 'a', tool: 'mock', wave: 0, duration_ms: 5, cached: true },
      'a finished in 5 ms, from the cache',
    ],
    [
      { kind: 'finish', task_id: 'a', tool: 'mock', wave: 0, duration_ms: 5, items: 3, cached_items: 2 },
      'a finished in 5 ms, 2 items from the cache',
    ],
    [
      { kind: 'item', task_id: 'a', item: 3, phase: 'finish', attempt: 0, cached: true },
      'a[3] finished, from the cache',
    ],
    [{ kind: 'fail', task_id: 'a', tool: 'mock', wave: 0, error: 'x' }, 'a failed: x'],
    [{ kind: 'item', task_id: 'a', item: 7, phase: 'finish', attempt: 1 }, 'a[7] finished'],
    [
      { kind: 'item', task_id: 'a', item: 7, phase: 'fail', attempt: 3, error: 'x' },
      'a[7] failed after 3 attempts: x',
    ],
    [
      { kind: 'retry', task_id: 'a', attempt: 1, delay_ms: 500, error: 'x' },
      'a attempt 1 failed: x; attempt 2 in 0.5 s',
    ],
    [
      { kind: 'sub_pipeline', sub_pipeline: 'ingest', status: 'failed', error: 'x' },
      'sub-pipeline ingest failed: x',
    ],
    [
      { kind: 'wave', wave: 0, phase: 'start', tasks: 2, sub_pipeline: 'ingest' },
      'ingest wave 1 started (2 tasks)',
    ],
    [
      { kind: 'fail', task_id: 'a', tool: 'x', wave: 0, error: 'x', sub_pipeline: 'ingest' },
      'ingest/a failed: x',
    ],
    [
      { kind: 'item', task_id: 'a', item: 7, phase: 'finish', attempt: 1, within: ['each[3]', 'b'] },
      'each[3]/b/a[7] finished',
    ],
    [
      { kind: 'start', task_id: 'a', tool: 'mock', wave: 0, sub_pipeline: 'ingest', within: ['each[3]'] },
      'ingest/each[3]/a started (mock)',
    ],
    [{ kind: 'log', task_id: 'a', item: 0, message: '\u001b[31mred\nline' }, 'a[0] logged: red line'],
  ];
  for (const [event, text] of LINES) {
    it(`formats the event "${event.kind}" as "${text}" after the time`, () => {
      expect(formatEvent(stamp(event), style)).to.equal(`12:34:56.789 ${text}`);
    });
  }
});
