import { expect } from 'chai';
import { PlanRunView } from '../../../lib/cli/progress/plan-view.js';
import { PipelineRunView, type RunView } from '../../../lib/cli/progress/run-view.js';
import { createStyle } from '../../../lib/cli/render/terminal.js';
import { displayWidth } from '../../../lib/cli/render/text.js';
import { createTerminal } from '../render/terminal.js';
import { stamp, type UnstampedEvent } from './stamped-event.js';

const STYLE = createStyle(createTerminal());
const REPORTS = 'download_all_monthly_reports_';
const [FANNED, FAILED, WAITING] = ['2023', '2024', '2025'].map((year) => REPORTS + year) as [
  string,
  string,
  string,
];
const WAVES = [['numbers'], [FANNED, FAILED, WAITING], ['end']];

type TimedEvent = readonly [at: number, event: UnstampedEvent];

const EVENTS: readonly TimedEvent[] = [
  [0, { kind: 'wave', wave: 0, phase: 'start', tasks: 1 }],
  [0, { kind: 'wave', wave: 0, phase: 'finish', tasks: 1 }],
  [0, { kind: 'wave', wave: 1, phase: 'start', tasks: 3 }],
  [0, { kind: 'start', task_id: FANNED, tool: 'x', wave: 1, items: 1200 }],
  [0, { kind: 'start', task_id: FAILED, tool: 'x', wave: 1 }],
  [0, { kind: 'start', task_id: WAITING, tool: 'x', wave: 1 }],
  ...Array.from(
    { length: 1003 },
    (_, item): TimedEvent => [
      1,
      { kind: 'item', task_id: FANNED, item, phase: item < 3 ? 'fail' : 'finish', attempt: 1 },
    ],
  ),
  [1, { kind: 'fail', task_id: FAILED, tool: 'x', wave: 1, error: 'the connection was refused again' }],
  [1, { kind: 'retry', task_id: WAITING, attempt: 1, delay_ms: 500, error: 'the connection was refused' }],
];

function play(view: RunView, change: (event: UnstampedEvent) => UnstampedEvent = (event) => event): RunView {
  for (const [at, event] of EVENTS) view.onEvent(stamp(change(event)), at);
  return view;
}

function render(view: RunView, columns: number): string[] {
  return view.render({ columns, rows: 24, style: STYLE, now: 12_001, frame: 0 });
}

describe('progress on a narrow terminal', () => {
  it('keeps counts and times at 34 columns, where names and errors give way', () => {
    expect(render(play(new PipelineRunView(WAVES)), 34)).to.deep.equal([
      '✓ wave 1/3  1 task  0 ms',
      '⠋ wave 2/3  1/3 tasks  12 s',
      '  ✗ do…24  the connection was re…',
      '  ⠋ do…23  1,003/1,200  3 ✗  12 s',
      '  ⠋ do…25  12 s  attempt 2',
      '  … 1 wave to come',
    ]);
  });

  it('keeps counts and times at 60 columns, with a short progress bar', () => {
    expect(render(play(new PipelineRunView(WAVES)), 60)).to.deep.equal([
      '✓ wave 1 of 3  1 task  0 ms',
      '⠋ wave 2 of 3  1 of 3 tasks  12 s',
      '  ✗ downlo…s_2024  the connection was refused again',
      '  ⠋ downlo…s_2023  [########--] 1,003/1,200  3 failed  12 s',
      '  ⠋ downlo…s_2025  12 s  attempt 2',
      '  … 1 wave to come',
    ]);
  });

  it('keeps the start and the end of long names, and aligns what follows them, on a wide terminal too', () => {
    const lines = render(play(new PipelineRunView(WAVES)), 120);
    expect(lines.slice(2, 5)).to.deep.equal([
      '  ✗ download_all_mon…ly_reports_2024  the connection was refused again',
      '  ⠋ download_all_mon…ly_reports_2023  [################----] 1,003/1,200  3 failed  12 s',
      '  ⠋ download_all_mon…ly_reports_2025  12 s  attempt 2',
    ]);
  });

  it('keeps the delay of a retry, and shortens its error', () => {
    const view = play(new PipelineRunView(WAVES));
    const viewport = { columns: 40, rows: 24, style: STYLE, now: 101, frame: 0 };
    expect(view.render(viewport)[4]).to.equal('  ⠋ downl…2025  attempt 2 in 0.4 s: th…');
  });

  it('keeps counts and times of the sub-pipelines of a plan', () => {
    const id = 'the_reports_of_all_the_subsidiaries_2024';
    const view = new PlanRunView(2, new Map([[id, WAVES]]));
    view.onEvent(stamp({ kind: 'sub_pipeline', sub_pipeline: id, status: 'running' }), 0);
    play(view, (event) => ({ ...event, sub_pipeline: id }));
    const lines = render(view, 36);
    expect(lines[0]).to.equal('⠋ the_reports_o…idiaries_2024  12 s');
    expect(lines[4]).to.equal('    ⠋ do…23  1,003/1,200  3 ✗  12 s');
    expect(lines).to.include('  ⠋ wave 2/3  1/3 tasks  12 s');
  });

  it('never breaks a line', () => {
    for (let columns = 1; columns < 130; columns++) {
      for (const line of render(play(new PipelineRunView(WAVES)), columns)) {
        expect(displayWidth(line), line).to.be.below(Math.max(columns, 2));
      }
    }
  });
});
