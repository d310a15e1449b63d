import { expect } from 'chai';
import type { HandlerLists } from '../../machines/handlers.js';
import { countWavesExecuted, isHandling, isSettled, toRunStatus } from '../../machines/status.js';
import { startRunMachine } from '../support/runs/start-run-machine.js';

type Started = ReturnType<typeof startRunMachine>;

const FINALLY = [['clean']];

/** `on_success: ok`, `on_failure: first, then second`, `on_cancel: undo`, and `finally: clean`. */
const HANDLERS: HandlerLists = {
  succeeded: [[['ok']], FINALLY],
  failed: [[['first'], ['second']], FINALLY],
  cancelled: [[['undo']], FINALLY],
};

const start = (options: Parameters<typeof startRunMachine>[1] = {}): Started =>
  startRunMachine([['a'], ['b']], { handlers: HANDLERS, ...options });

const atWork = ({ ports }: Started): readonly string[] => ports.pending.map(({ taskId }) => taskId);

/** The status, `+` while handlers run, `.` once the run has settled. */
function stateOf({ actor }: Started): string {
  const snapshot = actor.getSnapshot();
  const mark = isSettled(snapshot) ? '.' : isHandling(snapshot) ? '+' : '';
  return `${toRunStatus(snapshot)}${mark}`;
}

describe('The machine of a run with handlers (D80)', () => {
  it('runs the matching list and then `finally` after the last wave, with the final status', () => {
    const run = start();
    run.ports.succeed('a');
    run.ports.succeed('b');
    expect([stateOf(run), atWork(run)]).to.deep.equal(['succeeded+', ['ok']]);
    run.ports.succeed('ok');
    expect([stateOf(run), atWork(run)]).to.deep.equal(['succeeded+', ['clean']]);
    run.ports.succeed('clean');
    expect(stateOf(run)).to.equal('succeeded.');
    expect(countWavesExecuted(run.actor.getSnapshot())).to.equal(2);
  });

  it('runs them after a wave that failed, without the waves that follow', () => {
    const run = start();
    run.ports.fail('a');
    expect([stateOf(run), atWork(run)]).to.deep.equal(['failed+', ['first']]);
    run.ports.succeed('first');
    run.ports.succeed('second');
    expect(atWork(run)).to.deep.equal(['clean']);
    run.ports.fail('clean');
    expect(stateOf(run)).to.equal('failed.');
    expect(countWavesExecuted(run.actor.getSnapshot())).to.equal(1);
  });

  it('leaves out the rest of a list in which a handler has failed, and keeps the status', () => {
    const run = start();
    run.ports.fail('a');
    run.ports.fail('first');
    expect([stateOf(run), atWork(run)]).to.deep.equal(['failed+', ['clean']]);
  });

  for (const type of ['cancel', 'force'] as const) {
    it(`runs them when the wave at work has ended after a "${type}"`, () => {
      const run = start();
      run.actor.send({ type });
      if (type === 'cancel') {
        expect([stateOf(run), atWork(run)]).to.deep.equal(['cancelled', ['a']]);
        run.ports.succeed('a');
      }
      expect([stateOf(run), atWork(run)]).to.deep.equal(['cancelled+', ['undo']]);
      run.ports.succeed('undo');
      run.ports.succeed('clean');
      expect(stateOf(run)).to.equal('cancelled.');
    });

    it(`runs none after a "${type}" in the queue, and runs them after one at a breakpoint`, () => {
      const queued = start({ begin: false });
      queued.actor.send({ type });
      expect([stateOf(queued), atWork(queued)]).to.deep.equal(['cancelled.', []]);
      const paused = start({ breakpoints: { beforeWaves: [0], onFailure: false } });
      paused.actor.send({ type });
      expect([stateOf(paused), atWork(paused)]).to.deep.equal(['cancelled+', ['undo']]);
    });
  }

  it('runs them after the time of the run was over', () => {
    const run = start();
    run.actor.send({ type: 'timeout' });
    expect([stateOf(run), atWork(run)]).to.deep.equal(['failed+', ['first']]);
  });

  it('runs them when somebody lets a run go on that has paused after a failure', () => {
    for (const type of ['continue', 'step'] as const) {
      const run = start({ breakpoints: { beforeWaves: [], onFailure: true } });
      run.ports.fail('a');
      expect([stateOf(run), atWork(run)]).to.deep.equal(['running', []]);
      run.actor.send({ type });
      expect([stateOf(run), atWork(run)]).to.deep.equal(['failed+', ['first']]);
    }
  });

  it('ignores a cancel, and ends all of them after a "force"', () => {
    const run = start();
    run.ports.fail('a');
    run.actor.send({ type: 'cancel' });
    expect([stateOf(run), atWork(run)]).to.deep.equal(['failed+', ['first']]);
    run.actor.send({ type: 'force' });
    expect([stateOf(run), atWork(run)]).to.deep.equal(['failed.', []]);
    expect(run.ports.log).to.include('abort first').and.not.include('expand clean');
  });

  it('goes on with the next list when the time of one is over', () => {
    const run = start();
    run.ports.fail('a');
    run.actor.send({ type: 'timeout' });
    expect([stateOf(run), atWork(run)]).to.deep.equal(['failed+', ['clean']]);
    run.actor.send({ type: 'timeout' });
    expect(stateOf(run)).to.equal('failed.');
  });

  it('begins a wave of handlers anew when the wave before was aborted between two slices', () => {
    const run = start();
    run.ports.isExhausted = true;
    run.ports.succeed('a');
    // The report of the wave waits for its slice when the abort settles the wave.
    run.actor.send({ type: 'force' });
    expect([stateOf(run), atWork(run)]).to.deep.equal(['cancelled+', ['undo']]);
    for (const next of run.ports.deferred.splice(0)) next();
    expect([stateOf(run), atWork(run)]).to.deep.equal(['cancelled+', ['undo']]);
  });

  it('comes to the end at once when there are none for it', () => {
    const run = start({ handlers: { ...HANDLERS, succeeded: [] } });
    run.ports.succeed('a');
    run.ports.succeed('b');
    expect(stateOf(run)).to.equal('succeeded.');
  });
});
