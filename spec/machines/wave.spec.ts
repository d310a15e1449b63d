import { expect } from 'chai';
import type { InspectionEvent } from 'xstate';
import { toRunStatus, countWavesExecuted } from '../../machines/status.js';
import { FakeRunPorts } from '../support/runs/fake-ports.js';
import { startRunMachine } from '../support/runs/start-run-machine.js';

describe('waveLogic', () => {
  it('shows every task as an actor to the inspect API', () => {
    const seen: string[] = [];
    const inspect = (event: InspectionEvent): void => {
      if (event.type === '@xstate.actor' && 'id' in event.actorRef) seen.push(String(event.actorRef.id));
    };
    const { ports } = startRunMachine([['a', 'b'], ['c']], { inspect });
    expect(seen).to.include.members(['wave', 'a', 'b']).and.not.include('c');
    ports.succeed('a');
    ports.succeed('b');
    expect(seen).to.include('c');
  });

  it('persists live and settled tasks as plain JSON', () => {
    const { actor, ports } = startRunMachine([['a', 'b', 'c'], ['d']]);
    ports.succeed('a');
    ports.fail('b');
    const persisted = actor.getPersistedSnapshot();
    expect(JSON.stringify(structuredClone(persisted))).to.equal(JSON.stringify(persisted));
    const tasks = getChildren(getChildren(persisted)['wave']?.snapshot);
    expect(Object.keys(tasks).sort()).to.deep.equal(['a', 'b', 'c']);
    expect(tasks['a']).to.deep.include({ src: 'task' });
    expect(tasks['a']?.snapshot).to.deep.include({ status: 'done', value: 'succeeded' });
    expect(tasks['b']?.snapshot).to.deep.include({
      value: 'failed',
      output: { ok: false, error: 'no luck' },
    });
    expect(tasks['c']?.snapshot).to.deep.include({ status: 'active', value: 'invoking' });
  });

  it('serialises to a short summary, whatever the number of tasks', () => {
    const { actor } = startRunMachine([Array.from({ length: 1000 }, (_, i) => `t${i}`)]);
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

  it('starts no task after the event-loop slice is used up, whichever task has used it up', () => {
    const ports = new FakeRunPorts();
    const expand = ports.expand.bind(ports);
    ports.expand = (taskId) => {
      ports.isExhausted = taskId === 't1';
      return expand(taskId);
    };
    startRunMachine([Array.from({ length: 40 }, (_, i) => `t${i}`)], { ports });
    expect(ports.pending).to.have.length(2);
    ports.deferred.shift()?.();
    expect(ports.pending).to.have.length(40);
    expect(ports.deferred).to.deep.equal([]);
  });

  it('reports at once when it is aborted, even if the event-loop slice is used up (D21)', () => {
    for (const isReporting of [false, true]) {
      const ports = new FakeRunPorts();
      const { actor } = startRunMachine([['a'], ['b']], { ports });
      ports.isExhausted = true;
      if (isReporting) ports.succeed('a');
      expect(toRunStatus(actor.getSnapshot())).to.equal('running');
      actor.send({ type: 'force' });
      expect(actor.getSnapshot().status).to.equal('done');
      expect(countWavesExecuted(actor.getSnapshot())).to.equal(1);
      for (const report of ports.deferred) report();
      expect(ports.log).not.to.include('invoke b');
    }
  });

  it('reports a wave once in the next tick when the event-loop slice is used up', () => {
    const { actor, ports } = startRunMachine([['a'], ['b']]);
    ports.isExhausted = true;
    ports.succeed('a');
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(0);
    ports.deferred.shift()?.();
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(1);
    expect(ports.inFlight).to.deep.equal(['b']);
  });

  it('aborts 64 tasks in a turn when forced, so that other runs continue between them (D25)', () => {
    const { actor, ports } = startRunMachine([Array.from({ length: 150 }, (_, i) => `t${i}`)]);
    actor.send({ type: 'force' });
    for (const left of [86, 22]) {
      expect(ports.pending).to.have.length(left);
      // A second request changes nothing.
      actor.send({ type: 'force' });
      expect(ports.pending).to.have.length(left);
      expect(ports.deferred).to.have.length(1);
      ports.deferred.shift()?.();
    }
    expect(ports.pending).to.deep.equal([]);
    expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
    expect(actor.getSnapshot().status).to.equal('done');
  });

  it('aborts one task in a turn when the event-loop slice is used up, since one may hold it for long (D25)', () => {
    const { actor, ports } = startRunMachine([['a', 'b', 'c'], ['d']]);
    ports.isExhausted = true;
    actor.send({ type: 'force' });
    expect(ports.inFlight).to.deep.equal(['b', 'c']);
    ports.succeed('c');
    while (ports.deferred.length > 0) ports.deferred.shift()?.();
    expect(ports.log.filter((line) => line.startsWith('abort'))).to.deep.equal(['abort a', 'abort b']);
    expect(actor.getSnapshot().status).to.equal('done');
  });

  it('starts no further task when it is forced between two slices', () => {
    const ports = new FakeRunPorts();
    ports.isExhausted = true;
    const { actor } = startRunMachine([Array.from({ length: 20 }, (_, i) => `t${i}`)], { ports });
    actor.send({ type: 'force' });
    while (ports.deferred.length > 0) ports.deferred.shift()?.();
    expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
    expect(actor.getSnapshot().status).to.equal('done');
    expect(ports.log.filter((line) => line.startsWith('invoke'))).to.have.length(1);
  });

  it('settles a task whose expansion fails without invoking it', () => {
    const ports = new FakeRunPorts();
    ports.expansions.set('a', { error: 'no list' });
    const { actor } = startRunMachine([['a', 'b']], { ports });
    expect(ports.log).to.include('publish a (no list)').and.not.include('invoke a');
    ports.succeed('b');
    expect(actor.getSnapshot().context.failed).to.deep.equal(['a']);
  });

  it('settles a task only when its outcome is published', () => {
    const ports = new FakeRunPorts();
    let publish: () => void = () => {};
    ports.publication = (_, result, published) => {
      publish = () => published(result);
    };
    const { actor } = startRunMachine([['a'], ['b']], { ports });
    ports.succeed('a');
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(0);
    publish();
    expect(countWavesExecuted(actor.getSnapshot())).to.equal(1);
  });

  it('cancels a publication when forced', () => {
    const ports = new FakeRunPorts();
    ports.publication = () => {};
    const { actor } = startRunMachine([['a']], { ports });
    ports.succeed('a');
    actor.send({ type: 'force' });
    expect(ports.log).to.include('cancel publication of a');
    expect(actor.getSnapshot().status).to.equal('done');
  });

  it('persists a task with any id, even __proto__', () => {
    const { actor, ports } = startRunMachine([['__proto__', 'b']]);
    ports.succeed('b');
    const live = getChildren(getChildren(actor.getPersistedSnapshot())['wave']?.snapshot);
    expect(Object.keys(live).sort()).to.deep.equal(['__proto__', 'b']);
  });

  it('shows a task as "waiting" between two attempts', () => {
    const { actor, ports } = startRunMachine([['a']]);
    const { slot } = ports.find('a');
    slot.wait();
    expect(getTaskState(actor, 'a')).to.equal('waiting');
    let attempts = 0;
    slot.resume(() => attempts++);
    expect(attempts).to.equal(1);
    expect(getTaskState(actor, 'a')).to.equal('invoking');
  });
});

type Children = Record<string, { readonly src: string; readonly snapshot: unknown }>;

function getChildren(snapshot: unknown): Children {
  return (snapshot as { readonly children: Children }).children;
}

function getTaskState(actor: ReturnType<typeof startRunMachine>['actor'], task: string): unknown {
  const wave = getChildren(actor.getPersistedSnapshot())['wave']?.snapshot;
  return (getChildren(wave)[task]?.snapshot as { readonly value: unknown }).value;
}
