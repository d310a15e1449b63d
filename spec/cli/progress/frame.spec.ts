import { expect } from 'chai';
import { stripVTControlCharacters } from 'node:util';
import { Progress } from '../../../lib/cli/progress/progress.js';
import { drawFrame } from '../../../lib/cli/progress/run-view.js';
import { styleOf } from '../../../lib/cli/render/terminal.js';
import { widthOf } from '../../../lib/cli/render/text.js';
import { entry, type Told } from './events.js';

const PLAIN = styleOf({
  interactive: true,
  columns: 0,
  rows: 0,
  colours: false,
  unicode: true,
  redraws: true,
});
const COLOURED = styleOf({
  interactive: true,
  columns: 0,
  rows: 0,
  colours: true,
  unicode: true,
  redraws: true,
});

describe('the frame of a run', () => {
  function after(waves: string[][], told: readonly (readonly [at: number, event: Told])[]): Progress {
    const progress = new Progress(waves);
    for (const [at, event] of told) progress.take(entry(event), at);
    return progress;
  }

  function draw(progress: Progress, now: number, columns = 80, rows = 24): string[] {
    return drawFrame(progress, { columns, rows, style: PLAIN, now, frame: 0 });
  }

  const WAVES = [['list'], ['each', 'load', 'copy'], ['end']];
  const UNDER_WAY: (readonly [number, Told])[] = [
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

  it('is empty before anything has happened', () => {
    expect(draw(new Progress(WAVES), 0)).to.deep.equal([]);
  });

  it('shows the waves, their tasks with durations, a bar for a fan-out, and a retry that waits', () => {
    expect(draw(after(WAVES, UNDER_WAY), 400)).to.deep.equal([
      '✓ wave 1 of 3  1 task  0.2 s',
      '⠋ wave 2 of 3  1 of 3 tasks  0.2 s',
      '  ✓ copy  0.2 s',
      '  ⠋ each  [##########----------] 2/4  0.2 s',
      '  ⠋ load  attempt 2 in 0.5 s: connection refused',
      '  … 1 wave to come',
    ]);
  });

  it('shows the attempt that is under way once the delay is over', () => {
    expect(draw(after(WAVES, UNDER_WAY), 1000)).to.include('  ⠋ load  0.8 s  attempt 2');
  });

  it('leaves runs within a task out of its own waves and tasks, and says which task of theirs began last', () => {
    const within = ['load'];
    const progress = after(WAVES, [
      ...UNDER_WAY.slice(0, -1),
      [450, { kind: 'wave', wave: 0, phase: 'start', tasks: 9, within }],
      [450, { kind: 'start', task_id: 'list', tool: 'x', wave: 0, within }],
      [450, { kind: 'start', task_id: 'deep', tool: 'x', wave: 0, within: ['each[2]', 'list'] }],
      [450, { kind: 'fail', task_id: 'each', tool: 'x', wave: 0, error: 'no', within }],
      [450, { kind: 'wave', wave: 0, phase: 'finish', tasks: 9, within }],
    ]);
    expect(draw(progress, 600)).to.deep.equal([
      '✓ wave 1 of 3  1 task  0.2 s',
      '⠋ wave 2 of 3  1 of 3 tasks  0.4 s',
      '  ✓ copy  0.2 s',
      '  ⠋ each  [##########----------] 2/4  0.4 s  running list/deep',
      '  ⠋ load  0.4 s  running list',
      '  … 1 wave to come',
    ]);
  });

  it('says which tasks were taken over from an earlier run (D35)', () => {
    const told: [number, Told][] = [
      [0, { kind: 'wave', wave: 0, phase: 'start', tasks: 2 }],
      [0, { kind: 'start', task_id: 'list', tool: 'x', wave: 0, reused: true }],
      [0, { kind: 'finish', task_id: 'list', tool: 'x', wave: 0, duration_ms: 0, reused: true }],
    ];
    expect(draw(after(WAVES, told), 0)).to.include('  ✓ list  taken over');
    const over = after(WAVES, [...told, [300, { kind: 'wave', wave: 0, phase: 'finish', tasks: 2 }]]);
    expect(draw(over, 300)[0]).to.equal('✓ wave 1 of 3  2 tasks, 1 taken over  0.3 s');
  });

  it('shows which tasks failed and why, and how many items did', () => {
    const progress = after(WAVES, [
      ...UNDER_WAY,
      [500, { kind: 'item', task_id: 'each', item: 1, phase: 'fail', attempt: 1, error: 'no' }],
      [
        500,
        { kind: 'fail', task_id: 'load', tool: 'x', wave: 1, duration_ms: 300, error: 'refused\u001b[2J' },
      ],
    ]);
    const lines = draw(progress, 500);
    expect(lines).to.include('  ✗ load  refused');
    expect(lines).to.include('  ⠋ each  [###############-----] 3/4  1 failed  0.3 s');
  });

  it('keeps the waves that settled, at the end', () => {
    const progress = after(WAVES, [
      ...UNDER_WAY,
      [500, { kind: 'fail', task_id: 'each', tool: 'x', wave: 1, error: 'no' }],
      [500, { kind: 'fail', task_id: 'load', tool: 'x', wave: 1, error: 'no' }],
      [500, { kind: 'wave', wave: 1, phase: 'finish', tasks: 3 }],
    ]);
    expect(draw(progress, 900)).to.deep.equal([
      '✓ wave 1 of 3  1 task  0.2 s',
      '✗ wave 2 of 3  3 tasks, 2 failed  0.3 s',
    ]);
  });

  it('shows a fan-out over nothing as full', () => {
    const progress = after(
      [['a']],
      [
        [0, { kind: 'wave', wave: 0, phase: 'start', tasks: 1 }],
        [0, { kind: 'start', task_id: 'a', tool: 'x', wave: 0, items: 0 }],
      ],
    );
    expect(draw(progress, 0)[1]).to.contain('[####################] 0/0');
  });

  describe('of a large run', () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => `task_${i}`);
    const large = new Progress([ids, ['end']]);
    before(() => {
      large.take(entry({ kind: 'wave', wave: 0, phase: 'start', tasks: ids.length }), 0);
      for (const id of ids) large.take(entry({ kind: 'start', task_id: id, tool: 'x', wave: 0 }), 0);
      for (const id of ids.slice(0, 4000))
        large.take(entry({ kind: 'finish', task_id: id, tool: 'x', wave: 0 }), 5);
      large.take(entry({ kind: 'fail', task_id: 'task_4000', tool: 'x', wave: 0, error: 'no' }), 5);
    });

    it('fits on the screen, whatever its size, and never breaks a line', () => {
      for (const rows of [1, 2, 3, 4, 6, 8, 10, 24, 100]) {
        for (const columns of [1, 8, 20, 40, 80, 200]) {
          const lines = draw(large, 10, columns, rows);
          expect(lines.length).to.be.at.most(Math.min(rows - 1, 24));
          for (const line of lines) expect(widthOf(line)).to.be.below(Math.max(columns, 2));
        }
      }
    });

    it('shows the failures, some of the tasks at work, and counts the rest', () => {
      const lines = draw(large, 10, 80, 10);
      expect(lines).to.have.length(9);
      expect(lines[0]).to.contain('wave 1 of 2  4,001 of 10,000 tasks');
      expect(lines).to.include('  ✗ task_4000  no');
      expect(lines.at(-2)).to.match(/^ {2}… 9,99\d more, 5,99\d of them running$/);
      expect(lines.at(-1)).to.equal('  … 1 wave to come');
    });

    it('is drawn at a cost that depends on the screen, not on the run', () => {
      const started = process.cpuUsage();
      for (let frame = 0; frame < 100; frame += 1) draw(large, frame);
      expect(process.cpuUsage(started).user / 1000 / 100).to.be.below(10);
    });
  });

  it('shows the last waves of many, and counts those before', () => {
    const waves = Array.from({ length: 500 }, (_, i) => [`t${i}`]);
    const progress = new Progress(waves);
    for (let wave = 0; wave < 400; wave += 1) {
      progress.take(entry({ kind: 'wave', wave, phase: 'start', tasks: 1 }), wave);
      if (wave < 399) progress.take(entry({ kind: 'wave', wave, phase: 'finish', tasks: 1 }), wave);
    }
    const lines = draw(progress, 400);
    expect(lines[0]).to.equal('  … 395 waves before');
    expect(lines[1]).to.contain('wave 396 of 500');
    expect(lines).to.include('  … 100 waves to come');
  });

  it('takes the same room with colours as without', () => {
    const progress = after(WAVES, UNDER_WAY);
    const view = { columns: 30, rows: 24, now: 400, frame: 0 };
    const bare = drawFrame(progress, { ...view, style: COLOURED }).map(stripVTControlCharacters);
    expect(bare).to.deep.equal(drawFrame(progress, { ...view, style: PLAIN }));
  });
});
