import { expect } from 'chai';
import type { RunBreakpoints } from '../../machines/run.js';
import { countWavesExecuted, isPaused, isSettled, toRunStatus } from '../../machines/status.js';
import { type StartedRunMachine, startRunMachine } from '../support/runs/start-run-machine.js';

const WAVES = [['a'], ['b', 'c'], ['d']];

function start(breakpoints: Partial<RunBreakpoints>): StartedRunMachine {
  return startRunMachine(WAVES, { breakpoints: { beforeWaves: [], onFailure: false, ...breakpoints } });
}

/** `running` and `paused` have the same status (D42). */
function stateOf({ actor }: StartedRunMachine): string {
  const snapshot = actor.getSnapshot();
  return `${toRunStatus(snapshot)}${isPaused(snapshot) ? ', paused' : ''}, ${countWavesExecuted(snapshot)} waves`;
}

describe('breakpoints of runMachine (D42)', () => {
  it('pause a run before a wave, with nothing at work, until it is continued', () => {
    const run = start({ beforeWaves: [1] });
    run.ports.succeed('a');
    expect(stateOf(run)).to.equal('running, paused, 1 waves');
    expect(run.ports.inFlight).to.deep.equal([]);
    run.actor.send({ type: 'continue' });
    expect(run.ports.inFlight).to.deep.equal(['b', 'c']);
    for (const task of ['b', 'c', 'd']) run.ports.succeed(task);
    expect(stateOf(run)).to.equal('succeeded, 3 waves');
  });

  it('pause a run before its first wave', () => {
    const run = start({ beforeWaves: [0] });
    expect(stateOf(run)).to.equal('running, paused, 0 waves');
    expect(run.ports.log).to.deep.equal([]);
    run.actor.send({ type: 'continue' });
    expect(run.ports.inFlight).to.deep.equal(['a']);
  });

  it('pause a run at each of several waves', () => {
    const run = start({ beforeWaves: [1, 2] });
    run.ports.succeed('a');
    run.actor.send({ type: 'continue' });
    for (const task of ['b', 'c']) run.ports.succeed(task);
    expect(stateOf(run)).to.equal('running, paused, 2 waves');
  });

  it('let a run execute one wave with a step, and pause before the next', () => {
    const run = start({ beforeWaves: [0] });
    run.actor.send({ type: 'step' });
    run.ports.succeed('a');
    expect(stateOf(run)).to.equal('running, paused, 1 waves');
    run.actor.send({ type: 'step' });
    for (const task of ['b', 'c']) run.ports.succeed(task);
    expect(stateOf(run)).to.equal('running, paused, 2 waves');
    run.actor.send({ type: 'continue' });
    run.ports.succeed('d');
    expect(stateOf(run)).to.equal('succeeded, 3 waves');
  });

  it('forget a step once the run was continued', () => {
    const run = start({ beforeWaves: [0] });
    run.actor.send({ type: 'step' });
    run.ports.succeed('a');
    run.actor.send({ type: 'continue' });
    for (const task of ['b', 'c']) run.ports.succeed(task);
    expect(run.ports.inFlight).to.deep.equal(['d']);
  });

  it('end a run after a step through its last wave', () => {
    const run = start({ beforeWaves: [2] });
    run.ports.succeed('a');
    for (const task of ['b', 'c']) run.ports.succeed(task);
    run.actor.send({ type: 'step' });
    run.ports.succeed('d');
    expect(stateOf(run)).to.equal('succeeded, 3 waves');
  });

  for (const by of ['continue', 'step'] as const) {
    it(`pause a run after the wave of a failed task, and let it fail when it receives "${by}"`, () => {
      const run = start({ onFailure: true });
      run.ports.succeed('a');
      run.ports.fail('b');
      expect(stateOf(run)).to.equal('running, 1 waves');
      run.ports.succeed('c');
      expect(stateOf(run)).to.equal('running, paused, 2 waves');
      run.actor.send({ type: by });
      expect(stateOf(run)).to.equal('failed, 2 waves');
      expect(run.actor.getSnapshot().context.failed).to.deep.equal(['b']);
      expect(run.ports.log).to.not.include('expand d');
    });
  }

  it('do not pause a run whose task fails without "onFailure"', () => {
    const run = start({ beforeWaves: [1] });
    run.ports.fail('a');
    expect(stateOf(run)).to.equal('failed, 1 waves');
  });

  for (const type of ['cancel', 'force'] as const) {
    it(`let a paused run be cancelled at once with "${type}"`, () => {
      const run = start({ beforeWaves: [1] });
      run.ports.succeed('a');
      run.actor.send({ type });
      expect(stateOf(run)).to.equal('cancelled, 1 waves');
      expect(isSettled(run.actor.getSnapshot())).to.equal(true);
      expect(run.ports.log).to.not.include('expand b');
    });
  }

  it('leave "continue" and "step" without effect on a run that is not paused', () => {
    const run = start({ beforeWaves: [2] });
    for (const type of ['continue', 'step'] as const) run.actor.send({ type });
    run.ports.succeed('a');
    expect(run.ports.inFlight).to.deep.equal(['b', 'c']);
  });

  it('leave a snapshot that is JSON', () => {
    const run = start({ beforeWaves: [1] });
    run.ports.succeed('a');
    const snapshot = run.actor.getPersistedSnapshot();
    expect(JSON.parse(JSON.stringify(snapshot))).to.deep.include({ value: 'paused', status: 'active' });
  });
});
