import { expect } from 'chai';
import { stripVTControlCharacters } from 'node:util';
import { PipelineRunView } from '../../../lib/cli/progress/run-view.js';
import { createStyle } from '../../../lib/cli/render/terminal.js';
import { displayWidth } from '../../../lib/cli/render/text.js';
import { createTerminal } from '../render/terminal.js';
import { stamp, type UnstampedEvent } from './stamped-event.js';

const PLAIN = createStyle(createTerminal());
const COLOURED = createStyle(createTerminal({ colours: true }));

type TimedEvent = readonly [at: number, event: UnstampedEvent];

describe('PipelineRunView', () => {
  function viewAfter(waves: string[][], events: readonly TimedEvent[]): PipelineRunView {
    const view = new PipelineRunView(waves);
    for (const [at, event] of events) view.onEvent(stamp(event), at);
    return view;
  }

  function render(view: PipelineRunView, now: number, columns = 80, rows = 24): string[] {
    return view.render({ columns, rows, style: PLAIN, now, frame: 0 });
  }

  const WAVES = [['list'], ['each', 'load', 'copy'], ['end']];
  const RUNNING: TimedEvent[] = [
    [0, { kind: 'wave', wave: 0, phase: 'start', tasks: 1 }],
    [0, { kind: 'start', task_id: 'list', tool: 'x', wave: 0 }],
    [200, { kind: 'finish', task_id: 'list', tool: 'x', wave: 0, duration_ms: 200 }],
    [200, { kind: 'wave', wave: 0, phase: 'finish', tasks: 1 }],
    [200, { kind: 'wave', wave: 1, phase: 'start', tasks: 3 }],
    [200, { kind: 'start', task_id: 'each', tool: 'x', wave: 1, items: 4 }],
    [200, { kind: 'start', task_id: 'load', tool: 'x', wave: 1 }],
    [200, { kind: 'start', task_id: 'copy', tool: 'x', wave: 1 }],
    [300, { kind: 'item', task_id: 'each', item: 0, phase: 'finish', attempt: 1 }],
    [300, { kind: 'item', task_id: 'each', item: 2, phase: 'finish', attempt: 1 }],
    [400, { kind: 'finish', task_id: 'copy', tool: 'x', wave: 1, duration_ms: 200 }],
    [400, { kind: 'retry', task_id: 'load', attempt: 1, delay_ms: 500, error: 'connection\nrefused' }],
  ];

  it('renders nothing before the first event', () => {
    expect(render(new PipelineRunView(WAVES), 0)).to.deep.equal([]);
  });

  it('shows waves, tasks with durations, the progress bar of a fan-out and a waiting retry', () => {
    expect(render(viewAfter(WAVES, RUNNING), 400)).to.deep.equal([
      '✓ wave 1 of 3  1 task  0.2 s',
      '⠋ wave 2 of 3  1 of 3 tasks  0.2 s',
      '  ✓ copy  0.2 s',
      '  ⠋ each  [##########----------] 2/4  0.2 s',
      '  ⠋ load  attempt 2 in 0.5 s: connection refused',
      '  … 1 wave to come',
    ]);
  });

  it('shows the number of the attempt after the retry delay', () => {
    expect(render(viewAfter(WAVES, RUNNING), 1000)).to.include('  ⠋ load  0.8 s  attempt 2');
  });

  it('does not count the tasks of nested runs, but shows which one started last', () => {
    const within = ['load'];
    const view = viewAfter(WAVES, [
      ...RUNNING.slice(0, -1),
      [450, { kind: 'wave', wave: 0, phase: 'start', tasks: 9, within }],
      [450, { kind: 'start', task_id: 'list', tool: 'x', wave: 0, within }],
      [450, { kind: 'start', task_id: 'deep', tool: 'x', wave: 0, within: ['each[2]', 'list'] }],
      [450, { kind: 'fail', task_id: 'each', tool: 'x', wave: 0, error: 'no', within }],
      [450, { kind: 'wave', wave: 0, phase: 'finish', tasks: 9, within }],
    ]);
    expect(render(view, 600)).to.deep.equal([
      '✓ wave 1 of 3  1 task  0.2 s',
      '⠋ wave 2 of 3  1 of 3 tasks  0.4 s',
      '  ✓ copy  0.2 s',
      '  ⠋ each  [##########----------] 2/4  0.4 s  running list/deep',
      '  ⠋ load  0.4 s  running list',
      '  … 1 wave to come',
    ]);
  });

  it('shows which tasks reuse the output of an earlier run (D35)', () => {
    const events: TimedEvent[] = [
      [0, { kind: 'wave', wave: 0, phase: 'start', tasks: 2 }],
      [0, { kind: 'start', task_id: 'list', tool: 'x', wave: 0, reused: true }],
      [0, { kind: 'finish', task_id: 'list', tool: 'x', wave: 0, duration_ms: 0, reused: true }],
    ];
    expect(render(viewAfter(WAVES, events), 0)).to.include('  ✓ list  reused');
    const settled = viewAfter(WAVES, [
      ...events,
      [300, { kind: 'wave', wave: 0, phase: 'finish', tasks: 2 }],
    ]);
    expect(render(settled, 300)[0]).to.equal('✓ wave 1 of 3  2 tasks, 1 reused  0.3 s');
  });

  it('counts the items of a settled fan-out that failed and were collected (D67)', () => {
    const view = viewAfter(WAVES, [
      ...RUNNING,
      [
        500,
        {
          kind: 'finish',
          task_id: 'each',
          tool: 'x',
          wave: 1,
          duration_ms: 300,
          items: 4,
          failed_items: 1,
        },
      ],
    ]);
    expect(render(view, 500)).to.include('  ✓ each  4 items, 1 failed  0.3 s');
    expect(render(view, 500, 40)).to.include('  ✓ each  4 items, 1 ✗  0.3 s');
  });

  it('shows failed tasks with their errors, and the number of failed items', () => {
    const view = viewAfter(WAVES, [
      ...RUNNING,
      [500, { kind: 'item', task_id: 'each', item: 1, phase: 'fail', attempt: 1, error: 'no' }],
      [
        500,
        { kind: 'fail', task_id: 'load', tool: 'x', wave: 1, duration_ms: 300, error: 'refused\u001b[2J' },
      ],
    ]);
    const lines = render(view, 500);
    expect(lines).to.include('  ✗ load  refused');
    expect(lines).to.include('  ⠋ each  [###############-----] 3/4  1 failed  0.3 s');
  });

  it('shows the settled waves at the end of the run', () => {
    const view = viewAfter(WAVES, [
      ...RUNNING,
      [500, { kind: 'fail', task_id: 'each', tool: 'x', wave: 1, error: 'no' }],
      [500, { kind: 'fail', task_id: 'load', tool: 'x', wave: 1, error: 'no' }],
      [500, { kind: 'wave', wave: 1, phase: 'finish', tasks: 3 }],
    ]);
    expect(render(view, 900)).to.deep.equal([
      '✓ wave 1 of 3  1 task  0.2 s',
      '✗ wave 2 of 3  3 tasks, 2 failed  0.3 s',
    ]);
  });

  it('names the list of handlers at work, and counts no wave of them (D80)', () => {
    const view = new PipelineRunView([['a'], ['b']]);
    const handlers = { kind: 'wave', wave: 2, handler: 'finally', tasks: 1 } as const;
    view.onEvent(stamp({ ...handlers, phase: 'start' }), 0);
    expect(render(view, 500)[0]).to.equal('⠋ finally  0 of 1 task  0.5 s');
    view.onEvent(stamp({ ...handlers, phase: 'finish' }), 700);
    expect(render(view, 700)).to.deep.equal(['✓ finally  1 task  0.7 s']);
  });

  it('shows a full progress bar for a fan-out over an empty list', () => {
    const view = viewAfter(
      [['a']],
      [
        [0, { kind: 'wave', wave: 0, phase: 'start', tasks: 1 }],
        [0, { kind: 'start', task_id: 'a', tool: 'x', wave: 0, items: 0 }],
      ],
    );
    expect(render(view, 0)[1]).to.contain('[####################] 0/0');
  });

  describe('with 10,000 tasks', () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => `task_${i}`);
    const large = new PipelineRunView([ids, ['end']]);
    before(() => {
      large.onEvent(stamp({ kind: 'wave', wave: 0, phase: 'start', tasks: ids.length }), 0);
      for (const id of ids) large.onEvent(stamp({ kind: 'start', task_id: id, tool: 'x', wave: 0 }), 0);
      for (const id of ids.slice(0, 4000))
        large.onEvent(stamp({ kind: 'finish', task_id: id, tool: 'x', wave: 0 }), 5);
      large.onEvent(stamp({ kind: 'fail', task_id: 'task_4000', tool: 'x', wave: 0, error: 'no' }), 5);
    });

    it('fits on screens of all sizes without breaking a line', () => {
      for (const rows of [1, 2, 3, 4, 6, 8, 10, 24, 100]) {
        for (const columns of [1, 8, 20, 40, 80, 200]) {
          const lines = render(large, 10, columns, rows);
          expect(lines.length).to.be.at.most(Math.min(rows - 1, 24));
          for (const line of lines) expect(displayWidth(line)).to.be.below(Math.max(columns, 2));
        }
      }
    });

    it('shows failures and some running tasks, and counts the others', () => {
      const lines = render(large, 10, 80, 10);
      expect(lines).to.have.length(9);
      expect(lines[0]).to.contain('wave 1 of 2  4,001 of 10,000 tasks');
      expect(lines).to.include('  ✗ task_4000  no');
      expect(lines.at(-2)).to.match(/^ {2}… 9,99\d more, 5,99\d of them running$/);
      expect(lines.at(-1)).to.equal('  … 1 wave to come');
    });

    it('renders in a time that depends on the screen, not on the run', () => {
      const started = process.cpuUsage();
      for (let frame = 0; frame < 100; frame += 1) render(large, frame);
      expect(process.cpuUsage(started).user / 1000 / 100).to.be.below(10);
    });
  });

  it('shows the last of many waves and counts the earlier ones', () => {
    const waves = Array.from({ length: 500 }, (_, i) => [`t${i}`]);
    const view = new PipelineRunView(waves);
    for (let wave = 0; wave < 400; wave += 1) {
      view.onEvent(stamp({ kind: 'wave', wave, phase: 'start', tasks: 1 }), wave);
      if (wave < 399) view.onEvent(stamp({ kind: 'wave', wave, phase: 'finish', tasks: 1 }), wave);
    }
    const lines = render(view, 400);
    expect(lines[0]).to.equal('  … 395 earlier waves');
    expect(lines[1]).to.contain('wave 396 of 500');
    expect(lines).to.include('  … 100 waves to come');
  });

  it('renders the same text with and without colours', () => {
    const view = viewAfter(WAVES, RUNNING);
    const viewport = { columns: 30, rows: 24, now: 400, frame: 0 };
    const bare = view.render({ ...viewport, style: COLOURED }).map(stripVTControlCharacters);
    expect(bare).to.deep.equal(view.render({ ...viewport, style: PLAIN }));
  });
});
