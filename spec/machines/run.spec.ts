import { expect } from 'chai';
import { toDirectedGraph } from 'xstate/graph';
import { runMachine } from '../../machines/run.js';
import { isSettled, statusOf, wavesExecutedIn } from '../../machines/status.js';
import { startedRun } from '../support/runs/started-run.js';

describe('the run machine', () => {
  it('is queued until it begins, and starts nothing', () => {
    const { actor, work } = startedRun([['a']], { begin: false });
    expect(statusOf(actor.getSnapshot())).to.equal('queued');
    expect(work.log).to.deep.equal([]);
  });

  it('starts all tasks of a wave, and the next wave when every one of them has settled (rule 2)', () => {
    const { actor, work } = startedRun([['a', 'b'], ['c']]);
    expect(work.inFlight).to.deep.equal(['a', 'b']);
    work.succeed('b');
    expect(work.inFlight).to.deep.equal(['a']);
    work.succeed('a');
    expect(work.inFlight).to.deep.equal(['c']);
    expect(wavesExecutedIn(actor.getSnapshot())).to.equal(1);
    work.succeed('c');
    expect(statusOf(actor.getSnapshot())).to.equal('succeeded');
    expect(wavesExecutedIn(actor.getSnapshot())).to.equal(2);
  });

  it('lets the wave of a failing task settle, then fails and starts no further wave (D16)', () => {
    const { actor, work } = startedRun([['a', 'b'], ['c']]);
    work.fail('a');
    expect(statusOf(actor.getSnapshot())).to.equal('running');
    work.succeed('b');
    expect(statusOf(actor.getSnapshot())).to.equal('failed');
    expect(actor.getSnapshot().context).to.deep.include({ failed: ['a'], wavesExecuted: 1 });
    expect(work.log).to.not.include('expand c');
  });

  it('reads cancelled at once, drains the wave at hand and starts no further one (rule 12, D21)', () => {
    const { actor, work } = startedRun([['a', 'b'], ['c']]);
    actor.send({ type: 'cancel' });
    expect(statusOf(actor.getSnapshot())).to.equal('cancelled');
    expect(isSettled(actor.getSnapshot())).to.equal(false);
    expect(work.held.some(({ aborted }) => aborted)).to.equal(false);
    work.succeed('a');
    work.fail('b');
    expect(statusOf(actor.getSnapshot())).to.equal('cancelled');
    expect(isSettled(actor.getSnapshot())).to.equal(true);
    expect(work.log).to.not.include('expand c');
  });

  it('aborts what is in flight when forced, also while it drains already (D21)', () => {
    for (const events of [['force'], ['cancel', 'force']] as const) {
      const { actor, work } = startedRun([['a', 'b'], ['c']]);
      for (const type of events) actor.send({ type });
      expect(work.log).to.include.members(['abort a', 'abort b']);
      expect(statusOf(actor.getSnapshot())).to.equal('cancelled');
      expect(isSettled(actor.getSnapshot())).to.equal(true);
    }
  });

  it('ends at once when it is cancelled in the queue', () => {
    for (const type of ['cancel', 'force'] as const) {
      const { actor, work } = startedRun([['a']], { begin: false });
      actor.send({ type });
      expect(statusOf(actor.getSnapshot())).to.equal('cancelled');
      expect(isSettled(actor.getSnapshot())).to.equal(true);
      actor.send({ type: 'begin' });
      expect(work.log).to.deep.equal([]);
    }
  });

  it('never leaves a terminal state, whatever is sent', () => {
    for (const end of ['succeed', 'fail'] as const) {
      const { actor, work } = startedRun([['a']]);
      work[end]('a');
      const before = statusOf(actor.getSnapshot());
      for (const type of ['begin', 'cancel', 'force'] as const) actor.send({ type });
      expect(statusOf(actor.getSnapshot())).to.equal(before);
    }
  });

  it('aborts what is in flight when it is stopped from above', () => {
    const { actor, work } = startedRun([['a', 'b']]);
    actor.stop();
    expect(work.log).to.include.members(['abort a', 'abort b']);
  });

  /** The specification's table "States and transitions", in the words of statuses. */
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
      for (const { source, target } of graph.edges) {
        const from = statusWord(source.key);
        const to = statusWord(target.key);
        if (from !== to) found.add(`${from} -> ${to}`);
      }
      graph.children.forEach(visit);
    };
    visit(toDirectedGraph(runMachine));
    expect([...found].sort()).to.deep.equal([...TABLE].sort());
  });

  it('takes each transition of the specification when it is driven', () => {
    const drive: Record<string, () => string> = {
      'queued -> running': () => status(startedRun([['a']])),
      'running -> succeeded': () => {
        const run = startedRun([['a']]);
        run.work.succeed('a');
        return status(run);
      },
      'running -> failed': () => {
        const run = startedRun([['a']]);
        run.work.fail('a');
        return status(run);
      },
      'queued -> cancelled': () => {
        const run = startedRun([['a']], { begin: false });
        run.actor.send({ type: 'cancel' });
        return status(run);
      },
      'running -> cancelled': () => {
        const run = startedRun([['a']]);
        run.actor.send({ type: 'cancel' });
        return status(run);
      },
    };
    for (const row of TABLE) expect(drive[row]?.(), row).to.equal(row.split(' -> ')[1]);
  });
});

function status({ actor }: ReturnType<typeof startedRun>): string {
  return statusOf(actor.getSnapshot());
}

function statusWord(state: string): string {
  return state === 'draining' ? 'cancelled' : state;
}
