import { expect } from 'chai';
import { drawPlanFrame } from '../../../lib/cli/progress/plan-view.js';
import { PlanProgress } from '../../../lib/cli/progress/plan-progress.js';
import { styleOf } from '../../../lib/cli/render/terminal.js';
import { widthOf } from '../../../lib/cli/render/text.js';
import { entry, type Told } from './events.js';

const terminal = { interactive: true, columns: 0, rows: 0, colours: false, unicode: true, redraws: true };
const PLAIN = styleOf(terminal);

const WAVES = new Map([
  ['ingest', [['list']]],
  ['extract', [['load', 'copy'], ['end']]],
  ['tables', [['load']]],
  ['report', [['write']]],
]);

type Moment = readonly [at: number, event: Told];

describe('the frame of a plan', () => {
  function after(told: readonly Moment[], known?: typeof WAVES): PlanProgress {
    const progress = new PlanProgress(4, known);
    for (const [at, event] of told) progress.take(entry(event), at);
    return progress;
  }

  function draw(progress: PlanProgress, now: number, columns = 80, rows = 24): string[] {
    return drawPlanFrame(progress, { columns, rows, style: PLAIN, now, frame: 0 });
  }

  const status = (at: number, id: string, to: 'running' | 'succeeded' | 'cancelled'): Moment => [
    at,
    { kind: 'sub_pipeline', sub_pipeline: id, status: to },
  ];
  const wave = (at: number, id: string, phase: 'start' | 'finish', tasks: number): Moment => [
    at,
    { kind: 'wave', wave: 0, phase, tasks, sub_pipeline: id },
  ];
  const start = (at: number, id: string, task_id: string): Moment => [
    at,
    { kind: 'start', task_id, tool: 'x', wave: 0, sub_pipeline: id },
  ];

  const INGESTED = [
    status(0, 'ingest', 'running'),
    wave(0, 'ingest', 'start', 1),
    wave(1200, 'ingest', 'finish', 1),
    status(1200, 'ingest', 'succeeded'),
  ];
  const EXTRACTING = [
    ...INGESTED,
    status(1200, 'extract', 'running'),
    wave(1200, 'extract', 'start', 2),
    start(1200, 'extract', 'load'),
    start(1200, 'extract', 'copy'),
  ];

  it('is empty before anything has happened', () => {
    expect(draw(after([], WAVES), 0)).to.deep.equal([]);
  });

  it('shows those that are over, the waves and tasks of the one at work, and how many are to come', () => {
    expect(draw(after(EXTRACTING, WAVES), 1700)).to.deep.equal([
      '✓ ingest   1 wave  1.2 s',
      '⠋ extract  0.5 s',
      '  ⠋ wave 1 of 2  0 of 2 tasks  0.5 s',
      '    ⠋ load  0.5 s',
      '    ⠋ copy  0.5 s',
      '    … 1 wave to come',
      '… 2 sub-pipelines to come',
    ]);
  });

  it('shows several at work at once, each with its waves and tasks', () => {
    const told = [
      ...EXTRACTING,
      status(1200, 'tables', 'running'),
      wave(1200, 'tables', 'start', 1),
      start(1200, 'tables', 'load'),
    ];
    const lines = draw(after(told, WAVES), 1700);
    expect(lines).to.include.members([
      '⠋ extract  0.5 s',
      '⠋ tables   0.5 s',
      '  ⠋ wave 1 of 1  0 of 1 task  0.5 s',
    ]);
    expect(lines.at(-1)).to.equal('… 1 sub-pipeline to come');
  });

  it('names the wave of one at work on its own row where there is no other', () => {
    expect(draw(after(EXTRACTING, WAVES), 1700, 80, 2)).to.deep.equal([
      '⠋ extract  wave 1 of 2  0 of 2 tasks  0.5 s',
    ]);
  });

  it('shows why one failed', () => {
    const told: Moment[] = [
      ...EXTRACTING,
      [2000, { kind: 'sub_pipeline', sub_pipeline: 'extract', status: 'failed', error: 'no\nluck' }],
    ];
    expect(draw(after(told, WAVES), 2000)).to.deep.equal(['✓ ingest   1 wave  1.2 s', '✗ extract  no luck']);
  });

  it('shows one that was cancelled as long as its wave is at work (D21)', () => {
    const cancelled = [...EXTRACTING, status(1500, 'extract', 'cancelled')];
    expect(draw(after(cancelled, WAVES), 1700)).to.include('⠋ extract  cancelled  0.5 s');
    const over = [...cancelled, wave(2200, 'extract', 'finish', 2)];
    expect(draw(after(over, WAVES), 2200).at(-1)).to.equal('! extract  cancelled after 1 wave  1.0 s');
  });

  it('leaves runs within a task out', () => {
    const within = ['load'];
    const told: Moment[] = [
      ...EXTRACTING,
      [1300, { kind: 'wave', wave: 4, phase: 'start', tasks: 9, sub_pipeline: 'extract', within }],
      [1300, { kind: 'start', task_id: 'inner', tool: 'x', wave: 4, sub_pipeline: 'extract', within }],
    ];
    const lines = draw(after(told, WAVES), 1700);
    expect(lines).to.include('  ⠋ wave 1 of 2  0 of 2 tasks  0.5 s');
    expect(lines).to.include('    ⠋ load  0.5 s  running inner');
  });

  it('draws a plan elsewhere, whose waves nobody counted, and one whose beginning was lost', () => {
    expect(draw(after(EXTRACTING), 1700)).to.include('  ⠋ wave 1  0 of 2 tasks  0.5 s');
    const lost = after([wave(0, 'extract', 'start', 1), start(0, 'extract', 'load')]);
    expect(draw(lost, 500)[0]).to.equal('⠋ extract  0.5 s');
  });

  describe('of 500 sub-pipelines', () => {
    const ids = Array.from({ length: 500 }, (_, i) => `part_${i}`);
    let many: PlanProgress;
    beforeEach(() => {
      many = new PlanProgress(500, new Map(ids.map((id) => [id, [['t']]])));
      for (const id of ids.slice(0, 460)) {
        many.take(entry({ kind: 'sub_pipeline', sub_pipeline: id, status: 'running' }), 0);
        for (let task = 0; task < 5; task++) many.take(entry(start(0, id, `t${task}`)[1]), 0);
        many.take(entry(wave(0, id, 'start', 5)[1]), 0);
      }
    });

    function settle(count: number): void {
      for (const id of ids.slice(0, count)) {
        many.take(entry({ kind: 'sub_pipeline', sub_pipeline: id, status: 'succeeded' }), 5);
      }
    }

    it('fits on the screen, however many are at work, and never breaks a line', () => {
      for (const settled of [0, 300, 455, 460]) {
        settle(settled);
        for (const rows of [1, 2, 3, 4, 6, 8, 10, 24, 100]) {
          for (const columns of [1, 8, 20, 40, 80, 200]) {
            const lines = draw(many, 10, columns, rows);
            expect(lines.length).to.be.at.most(Math.min(rows - 1, 24));
            for (const line of lines) expect(widthOf(line)).to.be.below(Math.max(columns, 2));
          }
        }
      }
    });

    it('counts those before, those at work without a row, and those to come', () => {
      settle(400);
      const lines = draw(many, 10);
      expect(lines[0]).to.equal('… 396 sub-pipelines before');
      expect(lines[5]).to.match(/^⠋ part_400 +wave 1 of 1 {2}0 of 5 tasks/);
      expect(lines.at(-2)).to.equal('… 44 more at work');
      expect(lines.at(-1)).to.equal('… 40 sub-pipelines to come');
    });

    it('keeps the last ones when it is over', () => {
      settle(460);
      const lines = draw(many, 10, 80, Number.POSITIVE_INFINITY);
      expect(lines).to.have.length(24);
      expect(lines[0]).to.equal('… 437 sub-pipelines before');
    });

    it('is drawn at a cost that depends on the screen, not on the plan', () => {
      const started = process.cpuUsage();
      for (let frame = 0; frame < 100; frame += 1) draw(many, frame);
      expect(process.cpuUsage(started).user / 1000 / 100).to.be.below(10);
    });
  });
});
