import { expect } from 'chai';
import { createGantt, type TimedCall } from '../../lib/reports/gantt.js';
import { at, attempt, taskRecord } from './run-records.js';

const NOW = Date.parse(at(1000));

/** The bars of one call: kind, start and end in ms, and the attempt. */
const bars = (call: TimedCall): unknown[] =>
  createGantt([call], NOW).rows[0]?.bars.map(({ kind, start, end, attempt: number }) => [
    kind,
    start - Date.parse(at(0)),
    end - Date.parse(at(0)),
    number,
  ]) ?? [];

describe('The bars of the timeline of a report', () => {
  it('are one for each attempt, and one for each wait before and between them', () => {
    const attempts = [attempt(1, 50, 100, 'no'), attempt(2, 300, 350)];
    expect(bars(taskRecord('t', { attempts, finished_at: at(350) }))).to.deep.equal([
      ['waiting', 0, 50, null],
      ['error', 50, 100, 1],
      ['waiting', 100, 300, null],
      ['done', 300, 350, 2],
    ]);
  });

  it('of what is under way go on until now', () => {
    const running = { status: 'running', finished_at: null } as const;
    expect(bars(taskRecord('t', { ...running, attempts: [attempt(1, 0, null)] }))).to.deep.equal([
      ['active', 0, 1000, 1],
    ]);
    expect(bars(taskRecord('t', { ...running, attempts: [attempt(1, 0, 20, 'no')] }))).to.deep.equal([
      ['error', 0, 20, 1],
      ['waiting', 20, 1000, null],
    ]);
  });

  it('of a fan-out are one, and those of a task that did not call its tool say why', () => {
    expect(bars(taskRecord('t', { attempts: [] }))).to.deep.equal([['done', 0, 100, null]]);
    expect(bars(taskRecord('t', { attempts: [], status: 'failed' }))).to.deep.equal([
      ['error', 0, 100, null],
    ]);
    expect(bars(taskRecord('t', { reused: true }))).to.deep.equal([['reused', 0, 100, null]]);
    expect(bars(taskRecord('t', { cached: true }))).to.deep.equal([['cached', 0, 100, null]]);
  });

  it('of attempts that are not known any more are one that failed', () => {
    expect(bars(taskRecord('t', { attempts: [attempt(9, 60, 100)] }))).to.deep.equal([
      ['error', 0, 60, null],
      ['done', 60, 100, 9],
    ]);
  });

  it('do not exist for what has not begun, and never end before they begin, whatever the clock did', () => {
    expect(bars(taskRecord('t', { status: 'pending', started_at: null, attempts: [] }))).to.deep.equal([]);
    const back = taskRecord('t', {
      attempts: [attempt(1, 80, 20, 'no'), attempt(2, 10, 5)],
      finished_at: at(-50),
    });
    const { rows, start, end } = createGantt([back], NOW);
    for (const bar of rows[0]?.bars ?? []) expect(bar.end).to.be.at.least(bar.start);
    expect(end).to.be.at.least(start);
    expect(createGantt([], NOW)).to.deep.equal({ start: NOW, end: NOW, rows: [] });
  });
});
