import { expect } from 'chai';
import type { AttemptFacts } from '../../lib/execution/invocation/attempt-observer.js';
import type { EventPlace, LiveEvent } from '../../lib/execution/events/event.js';
import type { Entry } from '../../lib/execution/events/journal.js';
import { TracedRuns } from './traced-runs.js';

const RUN = { run_id: 'run-1', tenant_id: 'acme', pipeline_id: 'p' };
const TASK = { task_id: 't', tool: 'run_pipeline', wave: 0 } as const;

/** A run whose every event is told by hand. */
class ToldRun {
  readonly runs = new TracedRuns();
  #seq = 0;

  tell(entry: Entry, place: EventPlace = {}): void {
    const time = new Date(Date.UTC(2026, 0, 1)).toISOString();
    const event: LiveEvent = Object.assign({ seq: ++this.#seq, time, run_id: 'run-1' }, entry, place);
    this.runs.tracer.onEvent(event, RUN);
  }

  begin(): void {
    this.tell({ kind: 'run', status: 'queued' });
    this.tell({ kind: 'run', status: 'running' });
  }

  /** A wave with one task `t` begins, and its tool is called. */
  enter(place: EventPlace = {}, items?: number): (error?: string) => void {
    this.tell({ kind: 'wave', wave: 0, phase: 'start', tasks: 1 }, place);
    this.tell({ kind: 'start', ...TASK, ...(items !== undefined && { items }) }, place);
    return this.attempt(place);
  }

  attempt(place: EventPlace, item?: number): (error?: string) => void {
    const facts: AttemptFacts = {
      run_id: 'run-1',
      place,
      task_id: 't',
      tool: 'run_pipeline',
      item,
      attempt: 1,
    };
    return this.runs.tracer.onAttempt(facts);
  }

  leave(place: EventPlace = {}): void {
    this.tell({ kind: 'finish', ...TASK, attempt: 1 }, place);
    this.tell({ kind: 'wave', wave: 0, phase: 'finish', tasks: 1 }, place);
  }

  /** Names of the spans that have ended, with those above them. */
  get paths(): string[] {
    return this.runs.told.map((line) => line.replace(/ \S+$/, ''));
  }
}

describe('traces of runs inside tasks (D35)', () => {
  it('hang below the task that runs them, however deep and though all ids are the same', () => {
    const run = new ToldRun();
    run.begin();
    const ends = [run.enter(), run.enter({ within: ['t'] }), run.enter({ within: ['t', 't'] })];
    for (const place of [{ within: ['t', 't'] }, { within: ['t'] }, {}]) {
      ends.pop()?.();
      run.leave(place);
    }
    run.tell({ kind: 'run', status: 'succeeded' });
    const [outer, inner] = ['run p > wave 0 > task t', 'run p > wave 0 > task t > wave 0 > task t'];
    expect(run.paths).to.deep.equal([
      `${inner} > wave 0 > task t > attempt 1`,
      `${inner} > wave 0 > task t`,
      `${inner} > wave 0`,
      `${inner} > attempt 1`,
      inner,
      'run p > wave 0 > task t > wave 0',
      `${outer} > attempt 1`,
      outer,
      'run p > wave 0',
      'run p',
    ]);
    expect(run.runs.spans.open).to.equal(0);
  });

  it('are kept apart by item and by sub-pipeline', () => {
    const run = new ToldRun();
    run.begin();
    for (const id of ['a', 'b']) {
      run.tell({ kind: 'sub_pipeline', sub_pipeline: id, status: 'queued' });
      run.enter({ sub_pipeline: id }, 2)();
    }
    const places = ['a', 'b'].flatMap((id) =>
      ['t[0]', 't[1]'].map((caller) => ({ sub_pipeline: id, within: [caller] })),
    );
    for (const place of places) run.enter(place)();
    for (const place of places) run.leave(place);
    const tasks = run.paths.filter((path) => path.endsWith('task t'));
    expect(tasks).to.have.length(4);
    for (const id of ['a', 'b']) {
      run.leave({ sub_pipeline: id });
      run.tell({ kind: 'sub_pipeline', sub_pipeline: id, status: 'succeeded' });
    }
    run.tell({ kind: 'run', status: 'succeeded' });
    for (const id of ['a', 'b']) {
      const nested = `run p > sub-pipeline ${id} > wave 0 > task t > wave 0 > task t`;
      expect(run.paths.filter((path) => path === nested)).to.have.length(2);
    }
    expect(run.runs.spans.open).to.equal(0);
  });

  it('end with the item, or the task, that was left before they said so', () => {
    const run = new ToldRun();
    run.begin();
    run.enter({}, 2);
    run.enter({ within: ['t[0]'] });
    run.enter({ within: ['t[1]'] });
    run.tell({ kind: 'item', task_id: 't', item: 0, phase: 'fail', attempt: 1, error: 'timed out' });
    expect(run.paths).to.deep.equal(['? > wave 0 > task t', '? > wave 0']);
    run.leave();
    expect(run.paths.filter((path) => path.includes('wave 0 > task t > wave 0'))).to.have.length(4);
  });
});
