import { expect } from 'chai';
import { toDirectedGraph } from 'xstate/graph';
import { runMachine } from '../../machines/run.js';
import { countWavesExecuted, isSettled, isTimedOut, toRunStatus } from '../../machines/status.js';
import { FakeRunPorts } from '../support/runs/fake-ports.js';
import { startRunMachine } from '../support/runs/start-run-machine.js';

describe('runMachine', () => {
  it('is queued and starts no task until it receives "begin"', () => {
    const { actor, ports } = startRunMachine([['a']], { begin: false });
    expect(toRunStatus(actor.getSnapshot())).to.equal('queued');
    expect(ports.log).to.deep.equal([]);
  });

  it('starts all tasks of a wave, and the next wave when every one of them has settled (rule 2)', () => {
    const { actor, ports } = startRunMachine([['a', 'b'], ['c']]);
    expect(ports.inFlight).to.deep.equal(['a', 'b']);
    ports.succeed('b');
    expect(ports.inFlight).to.deep.equal(['a']);
    ports.succeed('a');
    expect(ports.inFlight).to.deep.equal(['c']);
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(1);
    ports.succeed('c');
    expect(toRunStatus(actor.getSnapshot())).to.equal('succeeded');
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(2);
  });

  it('lets the wave of a failing task settle, then fails and starts no further wave (D16)', () => {
    const { actor, ports } = startRunMachine([['a', 'b'], ['c']]);
    ports.fail('a');
    expect(toRunStatus(actor.getSnapshot())).to.equal('running');
    ports.succeed('b');
    expect(toRunStatus(actor.getSnapshot())).to.equal('failed');
    expect(actor.getSnapshot().context).to.deep.include({ failed: ['a'], wavesExecuted: 1 });
    expect(ports.log).to.not.include('expand c');
  });

  it('goes on after a wave of which every task was skipped, and does not count it (D78)', () => {
    const ports = new FakeRunPorts();
    for (const id of ['a', 'b']) ports.expansions.set(id, 'skip');
    const { actor } = startRunMachine([['a', 'b'], ['c']], { ports });
    expect(ports.inFlight).to.deep.equal(['c']);
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(0);
    ports.succeed('c');
    expect(actor.getSnapshot().value).to.equal('succeeded');
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(1);
  });

  it('counts a wave of which one task was not skipped (D78)', () => {
    const ports = new FakeRunPorts();
    ports.expansions.set('a', 'skip');
    const { actor } = startRunMachine([['a', 'b']], { ports });
    ports.succeed('b');
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(1);
  });

  it('goes on after a failure that its task tolerates (D79)', () => {
    const { actor, ports } = startRunMachine([['a'], ['b']]);
    ports.settle('a', undefined, { ok: false, error: 'no luck', tolerated: true });
    ports.succeed('b');
    expect(actor.getSnapshot().value).to.equal('succeeded');
  });

  it('is cancelled at once, drains the current wave and starts no further one (rule 12, D21)', () => {
    const { actor, ports } = startRunMachine([['a', 'b'], ['c']]);
    actor.send({ type: 'cancel' });
    expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
    expect(isSettled(actor.getSnapshot())).to.equal(false);
    expect(ports.pending.some(({ aborted }) => aborted)).to.equal(false);
    ports.succeed('a');
    ports.fail('b');
    expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
    expect(isSettled(actor.getSnapshot())).to.equal(true);
    expect(ports.log).to.not.include('expand c');
  });

  it('aborts the tools in flight when forced, also while it drains (D21)', () => {
    for (const events of [['force'], ['cancel', 'force']] as const) {
      const { actor, ports } = startRunMachine([['a', 'b'], ['c']]);
      for (const type of events) actor.send({ type });
      expect(ports.log).to.include.members(['abort a', 'abort b']);
      expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
      expect(isSettled(actor.getSnapshot())).to.equal(true);
    }
  });

  it('aborts the wave when its time is over, starts no further one, and fails when the wave has settled (D81)', () => {
    const { actor, ports } = startRunMachine([['a', 'b'], ['c']]);
    ports.succeed('a');
    actor.send({ type: 'timeout' });
    expect(ports.log).to.include('abort b').and.not.include('expand c');
    expect(toRunStatus(actor.getSnapshot())).to.equal('failed');
    expect(isTimedOut(actor.getSnapshot())).to.equal(true);
    expect(actor.getSnapshot().context).to.deep.include({ failed: ['b'], wavesExecuted: 1 });
  });

  it('only aborts the wave of a cancelled run when its time is over (D81)', () => {
    const { actor, ports } = startRunMachine([['a'], ['c']]);
    actor.send({ type: 'cancel' });
    actor.send({ type: 'timeout' });
    expect(ports.log).to.include('abort a');
    expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
    expect(isTimedOut(actor.getSnapshot())).to.equal(false);
  });

  it('settles at once when it is cancelled while queued', () => {
    for (const type of ['cancel', 'force'] as const) {
      const { actor, ports } = startRunMachine([['a']], { begin: false });
      actor.send({ type });
      expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
      expect(isSettled(actor.getSnapshot())).to.equal(true);
      actor.send({ type: 'begin' });
      expect(ports.log).to.deep.equal([]);
    }
  });

  it('never leaves a terminal state, whatever event it receives', () => {
    for (const end of ['succeed', 'fail'] as const) {
      const { actor, ports } = startRunMachine([['a']]);
      ports[end]('a');
      const before = toRunStatus(actor.getSnapshot());
      for (const type of ['begin', 'cancel', 'force', 'timeout'] as const) actor.send({ type });
      expect(toRunStatus(actor.getSnapshot())).to.equal(before);
    }
  });

  it('aborts the tools in flight when its actor is stopped', () => {
    const { actor, ports } = startRunMachine([['a', 'b']]);
    actor.stop();
    expect(ports.log).to.include.members(['abort a', 'abort b']);
  });

  /** The specification's table "States and transitions", written with statuses. */
  const TABLE = [
    'queued -> running',
    'running -> succeeded',
    'running -> failed',
    'queued -> cancelled',
    'running -> cancelled',
  ];

  it('has every transition of the specification, and no other', () => {
    const found = new Set<string>();
    const visit = (graph: ReturnType<typeof toDirectedGraph>): void => {
      for (const { source, target, transition } of graph.edges) {
        // The handlers of a plan are no run that somebody submits.
        if (transition.eventType.startsWith('handle.')) continue;
        const from = toStatus(source.key);
        const to = toStatus(target.key);
        if (from !== to) found.add(`${from} -> ${to}`);
      }
      graph.children.forEach(visit);
    };
    visit(toDirectedGraph(runMachine));
    expect([...found].sort()).to.deep.equal([...TABLE].sort());
  });

  it('takes each transition of the specification', () => {
    const drive: Record<string, () => string> = {
      'queued -> running': () => status(startRunMachine([['a']])),
      'running -> succeeded': () => {
        const run = startRunMachine([['a']]);
        run.ports.succeed('a');
        return status(run);
      },
      'running -> failed': () => {
        const run = startRunMachine([['a']]);
        run.ports.fail('a');
        return status(run);
      },
      'queued -> cancelled': () => {
        const run = startRunMachine([['a']], { begin: false });
        run.actor.send({ type: 'cancel' });
        return status(run);
      },
      'running -> cancelled': () => {
        const run = startRunMachine([['a']]);
        run.actor.send({ type: 'cancel' });
        return status(run);
      },
    };
    for (const row of TABLE) expect(drive[row]?.(), row).to.equal(row.split(' -> ')[1]);
  });
});

function status({ actor }: ReturnType<typeof startRunMachine>): string {
  return toRunStatus(actor.getSnapshot());
}

const STATUS_OF_STATE: Readonly<Record<string, string>> = {
  paused: 'running',
  aborting: 'running',
  draining: 'cancelled',
  handlingSuccess: 'succeeded',
  handlingFailure: 'failed',
  handlingCancel: 'cancelled',
};

function toStatus(state: string): string {
  return STATUS_OF_STATE[state] ?? state;
}
