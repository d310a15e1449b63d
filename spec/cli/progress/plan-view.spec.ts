import { expect } from 'chai';
import { PlanRunView } from '../../../lib/cli/progress/plan-view.js';
import { createStyle } from '../../../lib/cli/render/terminal.js';
import { displayWidth } from '../../../lib/cli/render/text.js';
import { createTerminal } from '../render/terminal.js';
import { stamp, type UnstampedEvent } from './stamped-event.js';

const PLAIN = createStyle(createTerminal());

const WAVES = new Map([
  ['ingest', [['list']]],
  ['extract', [['load', 'copy'], ['end']]],
  ['tables', [['load']]],
  ['report', [['write']]],
]);

type TimedEvent = readonly [at: number, event: UnstampedEvent];

describe('PlanRunView', () => {
  function viewAfter(events: readonly TimedEvent[], waves?: typeof WAVES): PlanRunView {
    const view = new PlanRunView(4, waves);
    for (const [at, event] of events) view.onEvent(stamp(event), at);
    return view;
  }

  function render(view: PlanRunView, now: number, columns = 80, rows = 24): string[] {
    return view.render({ columns, rows, style: PLAIN, now, frame: 0 });
  }

  const status = (at: number, id: string, to: 'running' | 'succeeded' | 'cancelled'): TimedEvent => [
    at,
    { kind: 'sub_pipeline', sub_pipeline: id, status: to },
  ];
  const wave = (at: number, id: string, phase: 'start' | 'finish', tasks: number): TimedEvent => [
    at,
    { kind: 'wave', wave: 0, phase, tasks, sub_pipeline: id },
  ];
  const start = (at: number, id: string, task_id: string): TimedEvent => [
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

  it('renders nothing before the first event', () => {
    expect(render(viewAfter([], WAVES), 0)).to.deep.equal([]);
  });

  it('shows settled sub-pipelines, the waves and tasks of the running one, and how many are to come', () => {
    expect(render(viewAfter(EXTRACTING, WAVES), 1700)).to.deep.equal([
      '✓ ingest   1 wave  1.2 s',
      '⠋ extract  0.5 s',
      '  ⠋ wave 1 of 2  0 of 2 tasks  0.5 s',
      '    ⠋ load  0.5 s',
      '    ⠋ copy  0.5 s',
      '    … 1 wave to come',
      '… 2 sub-pipelines to come',
    ]);
  });

  it('shows several running sub-pipelines, each with its waves and tasks', () => {
    const events = [
      ...EXTRACTING,
      status(1200, 'tables', 'running'),
      wave(1200, 'tables', 'start', 1),
      start(1200, 'tables', 'load'),
    ];
    const lines = render(viewAfter(events, WAVES), 1700);
    expect(lines).to.include.members([
      '⠋ extract  0.5 s',
      '⠋ tables   0.5 s',
      '  ⠋ wave 1 of 1  0 of 1 task  0.5 s',
    ]);
    expect(lines.at(-1)).to.equal('… 1 sub-pipeline to come');
  });

  it('shows the wave beside a running sub-pipeline that has only one row', () => {
    expect(render(viewAfter(EXTRACTING, WAVES), 1700, 80, 2)).to.deep.equal([
      '⠋ extract  wave 1 of 2  0 of 2 tasks  0.5 s',
    ]);
  });

  it('shows why a sub-pipeline failed', () => {
    const events: TimedEvent[] = [
      ...EXTRACTING,
      [2000, { kind: 'sub_pipeline', sub_pipeline: 'extract', status: 'failed', error: 'no\nluck' }],
    ];
    expect(render(viewAfter(events, WAVES), 2000)).to.deep.equal([
      '✓ ingest   1 wave  1.2 s',
      '✗ extract  no luck',
    ]);
  });

  it('shows a cancelled sub-pipeline as running until its wave has finished (D21)', () => {
    const cancelled = [...EXTRACTING, status(1500, 'extract', 'cancelled')];
    expect(render(viewAfter(cancelled, WAVES), 1700)).to.include('⠋ extract  cancelled  0.5 s');
    const over = [...cancelled, wave(2200, 'extract', 'finish', 2)];
    expect(render(viewAfter(over, WAVES), 2200).at(-1)).to.equal('! extract  cancelled after 1 wave  1.0 s');
  });

  it('shows the handlers of the plan while they run, and no sub-pipeline that would be to come (D80)', () => {
    const handler = 'on_failure';
    const events: TimedEvent[] = [
      ...INGESTED,
      [1200, { kind: 'wave', wave: 0, handler, phase: 'start', tasks: 1 }],
      [1200, { kind: 'start', task_id: 'alert', tool: 'x', wave: 0, handler }],
    ];
    expect(render(viewAfter(events, WAVES), 1700)).to.deep.equal([
      '✓ ingest                1 wave  1.2 s',
      '⠋ handlers of the plan  0.5 s',
      '  ⠋ on_failure  0 of 1 task  0.5 s',
      '    ⠋ alert  0.5 s',
    ]);
    const over: TimedEvent = [1800, { kind: 'wave', wave: 0, handler, phase: 'finish', tasks: 1 }];
    expect(render(viewAfter([...events, over], WAVES), 1800)).to.deep.equal([
      '✓ ingest                1 wave  1.2 s',
    ]);
  });

  it('does not count the waves and tasks of nested runs', () => {
    const within = ['load'];
    const events: TimedEvent[] = [
      ...EXTRACTING,
      [1300, { kind: 'wave', wave: 4, phase: 'start', tasks: 9, sub_pipeline: 'extract', within }],
      [1300, { kind: 'start', task_id: 'inner', tool: 'x', wave: 4, sub_pipeline: 'extract', within }],
    ];
    const lines = render(viewAfter(events, WAVES), 1700);
    expect(lines).to.include('  ⠋ wave 1 of 2  0 of 2 tasks  0.5 s');
    expect(lines).to.include('    ⠋ load  0.5 s  running inner');
  });

  it('shows a plan whose waves are unknown, and a sub-pipeline whose start was lost', () => {
    expect(render(viewAfter(EXTRACTING), 1700)).to.include('  ⠋ wave 1  0 of 2 tasks  0.5 s');
    const lost = viewAfter([wave(0, 'extract', 'start', 1), start(0, 'extract', 'load')]);
    expect(render(lost, 500)[0]).to.equal('⠋ extract  0.5 s');
  });

  describe('with 500 sub-pipelines', () => {
    const ids = Array.from({ length: 500 }, (_, i) => `part_${i}`);
    let many: PlanRunView;
    beforeEach(() => {
      many = new PlanRunView(500, new Map(ids.map((id) => [id, [['t']]])));
      for (const id of ids.slice(0, 460)) {
        many.onEvent(stamp({ kind: 'sub_pipeline', sub_pipeline: id, status: 'running' }), 0);
        for (let task = 0; task < 5; task++) many.onEvent(stamp(start(0, id, `t${task}`)[1]), 0);
        many.onEvent(stamp(wave(0, id, 'start', 5)[1]), 0);
      }
    });

    function settle(count: number): void {
      for (const id of ids.slice(0, count)) {
        many.onEvent(stamp({ kind: 'sub_pipeline', sub_pipeline: id, status: 'succeeded' }), 5);
      }
    }

    it('fits on screens of all sizes without breaking a line', () => {
      for (const settled of [0, 300, 455, 460]) {
        settle(settled);
        for (const rows of [1, 2, 3, 4, 6, 8, 10, 24, 100]) {
          for (const columns of [1, 8, 20, 40, 80, 200]) {
            const lines = render(many, 10, columns, rows);
            expect(lines.length).to.be.at.most(Math.min(rows - 1, 24));
            for (const line of lines) expect(displayWidth(line)).to.be.below(Math.max(columns, 2));
          }
        }
      }
    });

    it('counts the settled and the running sub-pipelines that have no row, and those to come', () => {
      settle(400);
      const lines = render(many, 10);
      expect(lines[0]).to.equal('… 396 earlier sub-pipelines');
      expect(lines[5]).to.match(/^⠋ part_400 +wave 1 of 1 {2}0 of 5 tasks/);
      expect(lines.at(-2)).to.equal('… 44 more running');
      expect(lines.at(-1)).to.equal('… 40 sub-pipelines to come');
    });

    it('shows the last sub-pipelines at the end of the run', () => {
      settle(460);
      const lines = render(many, 10, 80, Number.POSITIVE_INFINITY);
      expect(lines).to.have.length(24);
      expect(lines[0]).to.equal('… 437 earlier sub-pipelines');
    });

    it('renders in a time that depends on the screen, not on the plan', () => {
      const started = process.cpuUsage();
      for (let frame = 0; frame < 100; frame += 1) render(many, frame);
      expect(process.cpuUsage(started).user / 1000 / 100).to.be.below(10);
    });
  });
});
