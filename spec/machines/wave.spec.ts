import { expect } from 'chai';
import type { InspectionEvent } from 'xstate';
import { statusOf, wavesExecutedIn } from '../../machines/status.js';
import { FakeWork } from '../support/runs/fake-work.js';
import { startedRun } from '../support/runs/started-run.js';

describe('the wave actor', () => {
  it('shows every task as an actor to the inspect API', () => {
    const seen: string[] = [];
    const inspect = (event: InspectionEvent): void => {
      if (event.type === '@xstate.actor' && 'id' in event.actorRef) seen.push(String(event.actorRef.id));
    };
    const { work } = startedRun([['a', 'b'], ['c']], { inspect });
    expect(seen).to.include.members(['wave', 'a', 'b']).and.not.include('c');
    work.succeed('a');
    work.succeed('b');
    expect(seen).to.include('c');
  });

  it('shows tasks at work and tasks that settled in persisted snapshots, which are JSON', () => {
    const { actor, work } = startedRun([['a', 'b', 'c'], ['d']]);
    work.succeed('a');
    work.fail('b');
    const persisted = actor.getPersistedSnapshot();
    expect(JSON.stringify(structuredClone(persisted))).to.equal(JSON.stringify(persisted));
    const tasks = childrenOf(childrenOf(persisted)['wave']?.snapshot);
    expect(Object.keys(tasks).sort()).to.deep.equal(['a', 'b', 'c']);
    expect(tasks['a']).to.deep.include({ src: 'task' });
    expect(tasks['a']?.snapshot).to.deep.include({ status: 'done', value: 'succeeded' });
    expect(tasks['b']?.snapshot).to.deep.include({
      value: 'failed',
      output: { ok: false, error: 'no luck' },
    });
    expect(tasks['c']?.snapshot).to.deep.include({ status: 'active', value: 'invoking' });
  });

  it('has a short snapshot for whoever serialises it at every event', () => {
    const { actor } = startedRun([Array.from({ length: 1000 }, (_, i) => `t${i}`)]);
    const wave = actor.getSnapshot().children.wave?.getSnapshot();
    expect(JSON.parse(JSON.stringify(wave))).to.deep.equal({
      status: 'active',
      value: 'settling',
      wavesExecuted: 0,
      tasks: 1000,
      started: 1000,
      unsettled: 1000,
      failed: [],
    });
  });

  it('starts a wide wave in slices when a turn of the event loop is used up', () => {
    const work = new FakeWork();
    work.isOverdue = true;
    startedRun([Array.from({ length: 40 }, (_, i) => `t${i}`)], { work });
    expect(work.held).to.have.length(16);
    work.postponed.shift()?.();
    expect(work.held).to.have.length(32);
    work.postponed.shift()?.();
    expect(work.held).to.have.length(40);
    expect(work.postponed).to.deep.equal([]);
  });

  it('reports a wave that settles in an overdue turn in the next one, once', () => {
    const { actor, work } = startedRun([['a'], ['b']]);
    work.isOverdue = true;
    work.succeed('a');
    expect(wavesExecutedIn(actor.getSnapshot())).to.equal(0);
    work.postponed.shift()?.();
    expect(wavesExecutedIn(actor.getSnapshot())).to.equal(1);
    expect(work.inFlight).to.deep.equal(['b']);
  });

  it('can be forced between two slices: what had not started never does', () => {
    const work = new FakeWork();
    work.isOverdue = true;
    const { actor } = startedRun([Array.from({ length: 20 }, (_, i) => `t${i}`)], { work });
    actor.send({ type: 'force' });
    while (work.postponed.length > 0) work.postponed.shift()?.();
    expect(statusOf(actor.getSnapshot())).to.equal('cancelled');
    expect(actor.getSnapshot().status).to.equal('done');
    expect(work.log.filter((line) => line.startsWith('invoke'))).to.have.length(16);
  });

  it('settles a task whose expansion fails, without invoking it', () => {
    const work = new FakeWork();
    work.expansions.set('a', { error: 'no list' });
    const { actor } = startedRun([['a', 'b']], { work });
    expect(work.log).to.include('publish a (no list)').and.not.include('invoke a');
    work.succeed('b');
    expect(actor.getSnapshot().context.failed).to.deep.equal(['a']);
  });

  it('waits for the publication of an outcome before the task is settled', () => {
    const work = new FakeWork();
    let publish: () => void = () => {};
    work.publication = (_, settlement, published) => {
      publish = () => published(settlement);
    };
    const { actor } = startedRun([['a'], ['b']], { work });
    work.succeed('a');
    expect(wavesExecutedIn(actor.getSnapshot())).to.equal(0);
    publish();
    expect(wavesExecutedIn(actor.getSnapshot())).to.equal(1);
  });

  it('gives a publication up when forced', () => {
    const work = new FakeWork();
    work.publication = () => {};
    const { actor } = startedRun([['a']], { work });
    work.succeed('a');
    actor.send({ type: 'force' });
    expect(work.log).to.include('give up a');
    expect(actor.getSnapshot().status).to.equal('done');
  });

  it('shows a task whatever it is called', () => {
    const { actor, work } = startedRun([['__proto__', 'b']]);
    work.succeed('b');
    const live = childrenOf(childrenOf(actor.getPersistedSnapshot())['wave']?.snapshot);
    expect(Object.keys(live).sort()).to.deep.equal(['__proto__', 'b']);
  });

  it('shows a task that waits for its retry', () => {
    const { actor, work } = startedRun([['a']]);
    const { place } = work.find('a');
    place.wait();
    expect(valueOf(actor, 'a')).to.equal('waiting');
    let attempts = 0;
    place.resume(() => attempts++);
    expect(attempts).to.equal(1);
    expect(valueOf(actor, 'a')).to.equal('invoking');
  });
});

type Children = Record<string, { readonly src: string; readonly snapshot: unknown }>;

function childrenOf(snapshot: unknown): Children {
  return (snapshot as { readonly children: Children }).children;
}

function valueOf(actor: ReturnType<typeof startedRun>['actor'], task: string): unknown {
  const wave = childrenOf(actor.getPersistedSnapshot())['wave']?.snapshot;
  return (childrenOf(wave)[task]?.snapshot as { readonly value: unknown }).value;
}
