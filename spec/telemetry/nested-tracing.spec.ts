import { expect } from 'chai';
import type { AttemptInfo } from '../../lib/execution/invocation/attempt/attempt-observer.js';
import type { EventLocation, LiveEvent } from '../../lib/execution/events/event.js';
import type { JournalEntry } from '../../lib/execution/events/journal.js';
import { TracedRuns } from './traced-runs.js';

const RUN = { run_id: 'run-1', tenant_id: 'acme', pipeline_id: 'p', trigger: null, is_of_folder: false };
const TASK = { task_id: 't', tool: 'run_pipeline', wave: 0 } as const;

/** A run whose events the spec emits. */
class ToldRun {
  readonly runs = new TracedRuns();
  #seq = 0;

  emit(entry: JournalEntry, place: EventLocation = {}): void {
    const time = new Date(Date.UTC(2026, 0, 1)).toISOString();
    const event: LiveEvent = Object.assign({ seq: ++this.#seq, time, run_id: 'run-1' }, entry, place);
    this.runs.tracer.onEvent(event, RUN);
  }

  begin(): void {
    this.emit({ kind: 'run', status: 'queued' });
    this.emit({ kind: 'run', status: 'running' });
  }

  /** Starts a wave with one task `t` and its attempt. */
  enter(place: EventLocation = {}, items?: number): (error?: string) => void {
    this.emit({ kind: 'wave', wave: 0, phase: 'start', tasks: 1 }, place);
    this.emit({ kind: 'start', ...TASK, ...(items !== undefined && { items }) }, place);
    return this.attempt(place);
  }

  attempt(location: EventLocation, item?: number): (error?: string) => void {
    const facts: AttemptInfo = {
      runId: 'run-1',
      location,
      taskId: 't',
      tool: 'run_pipeline',
      item,
      attempt: 1,
    };
    return this.runs.tracer.onAttempt(facts);
  }

  leave(place: EventLocation = {}): void {
    this.emit({ kind: 'finish', ...TASK, attempt: 1 }, place);
    this.emit({ kind: 'wave', wave: 0, phase: 'finish', tasks: 1 }, place);
  }

  /** The ended spans, as paths of names. */
  get paths(): string[] {
    return this.runs.lines.map((line) => line.replace(/ \S+$/, ''));
  }
}

describe('Traces of nested runs (D35)', () => {
  it('are below the task that runs them, at any depth and even if all ids are equal', () => {
    const run = new ToldRun();
    run.begin();
    const ends = [run.enter(), run.enter({ within: ['t'] }), run.enter({ within: ['t', 't'] })];
    for (const place of [{ within: ['t', 't'] }, { within: ['t'] }, {}]) {
      ends.pop()?.();
      run.leave(place);
    }
    run.emit({ kind: 'run', status: 'succeeded' });
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
      run.emit({ kind: 'sub_pipeline', sub_pipeline: id, status: 'queued' });
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
      run.emit({ kind: 'sub_pipeline', sub_pipeline: id, status: 'succeeded' });
    }
    run.emit({ kind: 'run', status: 'succeeded' });
    for (const id of ['a', 'b']) {
      const nested = `run p > sub-pipeline ${id} > wave 0 > task t > wave 0 > task t`;
      expect(run.paths.filter((path) => path === nested)).to.have.length(2);
    }
    expect(run.runs.spans.open).to.equal(0);
  });

  it('end with their item or task, even without a final event of their own', () => {
    const run = new ToldRun();
    run.begin();
    run.enter({}, 2);
    run.enter({ within: ['t[0]'] });
    run.enter({ within: ['t[1]'] });
    run.emit({ kind: 'item', task_id: 't', item: 0, phase: 'fail', attempt: 1, error: 'timed out' });
    expect(run.paths).to.deep.equal(['? > wave 0 > task t', '? > wave 0']);
    run.leave();
    expect(run.paths.filter((path) => path.includes('wave 0 > task t > wave 0'))).to.have.length(4);
  });
});
