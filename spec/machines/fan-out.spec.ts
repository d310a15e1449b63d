import { expect } from 'chai';
import fc from 'fast-check';
import { toRunStatus } from '../../machines/status.js';
import type { TaskResult } from '../../machines/types.js';
import { FakeRunPorts } from '../support/runs/fake-ports.js';
import { type StartedRunMachine, startRunMachine } from '../support/runs/start-run-machine.js';

function fanOut(items: number, concurrency: number): StartedRunMachine {
  const ports = new FakeRunPorts();
  ports.expansions.set('f', { items, concurrency });
  const run = startRunMachine([['f']], { ports });
  while (ports.deferred.length > 0) ports.deferred.shift()?.();
  return run;
}

function collected(error: string): TaskResult {
  return { ok: false, error, collected: true };
}

function getStatus({ actor }: StartedRunMachine): string {
  return toRunStatus(actor.getSnapshot());
}

describe('fanOutLogic', () => {
  it('invokes the tool once for each item, all together when the concurrency is unlimited (rule 7)', () => {
    const run = fanOut(3, Number.POSITIVE_INFINITY);
    expect(run.ports.inFlight).to.deep.equal(['f[0]', 'f[1]', 'f[2]']);
    for (const item of [2, 0, 1]) run.ports.succeed('f', item);
    expect(getStatus(run)).to.equal('succeeded');
  });

  it('succeeds at once over an empty list (D6)', () => {
    const run = fanOut(0, 1);
    expect(run.ports.log).to.deep.equal(['expand f', 'publish f']);
    expect(getStatus(run)).to.equal('succeeded');
  });

  it('starts the next item when a slot becomes free', () => {
    const run = fanOut(4, 2);
    expect(run.ports.inFlight).to.deep.equal(['f[0]', 'f[1]']);
    run.ports.succeed('f', 1);
    expect(run.ports.inFlight).to.deep.equal(['f[0]', 'f[2]']);
  });

  it('starts no new item after a failure, and finishes those in flight (D17)', () => {
    const run = fanOut(5, 2);
    run.ports.fail('f', 0, 'first');
    expect(run.ports.inFlight).to.deep.equal(['f[1]']);
    run.ports.fail('f', 1, 'second');
    expect(getStatus(run)).to.equal('failed');
    expect(run.ports.log).to.include('publish f (first)').and.not.include('invoke f[2]');
  });

  it('starts the next item after one whose error is collected, and succeeds when one item did (D67)', () => {
    const run = fanOut(3, 1);
    run.ports.settle('f', 0, collected('first'));
    run.ports.succeed('f', 1);
    expect(run.ports.inFlight).to.deep.equal(['f[2]']);
    run.ports.settle('f', 2, collected('last'));
    expect(getStatus(run)).to.equal('succeeded');
  });

  it('fails when the errors of all items were collected, with the first of them (D67)', () => {
    const run = fanOut(2, 2);
    run.ports.settle('f', 1, collected('second item'));
    run.ports.settle('f', 0, collected('first item'));
    expect(getStatus(run)).to.equal('failed');
    expect(run.ports.log).to.include('publish f (no item succeeded: second item)');
  });

  it('invokes every item once while errors are collected, and succeeds unless all have one, in any order (D67)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        fc.infiniteStream(fc.nat()),
        (successes, concurrency, picks) => {
          const run = fanOut(successes.length, concurrency);
          const { ports } = run;
          for (const pick of picks) {
            const chosen = ports.pending[pick % Math.max(1, ports.pending.length)];
            if (chosen === undefined) break;
            const result: TaskResult = successes[chosen.item ?? 0] ? { ok: true } : collected('no luck');
            ports.settle('f', chosen.item, result);
          }
          const invoked = ports.log.filter((entry) => entry.startsWith('invoke '));
          expect(new Set(invoked)).to.have.property('size', invoked.length);
          expect(invoked).to.have.length(successes.length);
          const succeeds = successes.length === 0 || successes.includes(true);
          expect(getStatus(run)).to.equal(succeeds ? 'succeeded' : 'failed');
        },
      ),
    );
  });

  it('fails with an error that was not collected, although others were (D67)', () => {
    const run = fanOut(4, 2);
    run.ports.settle('f', 0, collected('fine'));
    run.ports.fail('f', 1, 'fatal');
    run.ports.succeed('f', 2);
    expect(run.ports.log).to.include('publish f (fatal)').and.not.include('invoke f[3]');
  });

  it('ends when forced, also when the errors of its items are collected (D21, D67)', () => {
    const run = fanOut(3, 1);
    run.ports.settle('f', 0, collected('fine'));
    run.actor.send({ type: 'force' });
    expect(run.ports.log).to.include('publish f (stopped by force)').and.not.include('invoke f[2]');
  });

  it('gives the slot of a waiting retry to the next item (D18)', () => {
    const run = fanOut(3, 1);
    run.ports.find('f', 0).slot.wait();
    expect(run.ports.inFlight).to.deep.equal(['f[0]', 'f[1]']);
  });

  it('lets a retry wait for a slot, and resumes it before a new item (D18)', () => {
    const run = fanOut(3, 1);
    const { slot } = run.ports.find('f', 0);
    slot.wait();
    const attempts: number[] = [];
    slot.resume(() => attempts.push(2));
    expect(attempts).to.deep.equal([]);
    run.ports.succeed('f', 1);
    expect(attempts).to.deep.equal([2]);
    expect(run.ports.inFlight).to.deep.equal(['f[0]']);
    run.ports.succeed('f', 0);
    expect(run.ports.inFlight).to.deep.equal(['f[2]']);
  });

  it('still retries waiting items after another item has failed (D17)', () => {
    const run = fanOut(5, 2);
    const { slot } = run.ports.find('f', 0);
    slot.wait();
    run.ports.fail('f', 1);
    run.ports.succeed('f', 2);
    const attempts: number[] = [];
    slot.resume(() => attempts.push(2));
    expect(attempts).to.deep.equal([2]);
    expect(getStatus(run)).to.equal('running');
    run.ports.succeed('f', 0);
    expect(getStatus(run)).to.equal('failed');
  });

  it('aborts items in flight and waiting items when forced, and starts no other (D21)', () => {
    const run = fanOut(5, 2);
    run.ports.find('f', 0).slot.wait();
    run.actor.send({ type: 'force' });
    expect(run.ports.log).to.include.members([
      'abort f[0]',
      'abort f[1]',
      'abort f[2]',
      'publish f (stopped by force)',
    ]);
    expect(run.ports.log).to.not.include('invoke f[3]');
    expect(run.actor.getSnapshot().status).to.equal('done');
  });

  it('aborts 64 items in a turn when forced, so that other runs continue between them (D25)', () => {
    const run = fanOut(150, 1000);
    while (run.ports.deferred.length > 0) run.ports.deferred.shift()?.();
    const aborted = (): number => run.ports.log.filter((entry) => entry.startsWith('abort ')).length;
    run.actor.send({ type: 'force' });
    for (const expected of [64, 128, 150]) {
      expect(aborted()).to.equal(expected);
      run.ports.deferred.shift()?.();
    }
    expect(run.actor.getSnapshot().status).to.equal('done');
    expect(run.ports.deferred).to.deep.equal([]);
  });

  it('aborts each item once, and one in a turn when the event-loop slice is used up (D25)', () => {
    const run = fanOut(3, 3);
    // The items of this fan-out end later than they are aborted, as items with a nested run do.
    const slots = run.ports.pending.map(({ slot }) => slot);
    const aborted: number[] = [];
    run.ports.settle = (_, item = 0) => void aborted.push(item);
    run.ports.isExhausted = true;
    run.actor.send({ type: 'force' });
    expect(aborted).to.deep.equal([0]);
    while (run.ports.deferred.length > 0) run.ports.deferred.shift()?.();
    expect(aborted).to.deep.equal([0, 1, 2]);
    expect(run.actor.getSnapshot().status).to.equal('active');
    for (const slot of slots) slot.settle({ ok: false, error: 'aborted' });
    expect(run.actor.getSnapshot().status).to.equal('done');
  });

  it('aborts all items at once when the run is stopped, however many they are', () => {
    const run = fanOut(150, 1000);
    while (run.ports.deferred.length > 0) run.ports.deferred.shift()?.();
    run.actor.stop();
    expect(run.ports.log.filter((entry) => entry.startsWith('abort '))).to.have.length(150);
  });

  it('aborts its items when the run is stopped', () => {
    const run = fanOut(3, 2);
    run.actor.stop();
    expect(run.ports.log).to.include.members(['abort f[0]', 'abort f[1]']);
  });

  it('has one actor per item for up to 256 items, and one per chunk for more', () => {
    const few = getItems(fanOut(256, 300));
    expect(Object.keys(few)).to.have.length(256);
    expect(few['7']).to.deep.equal({ src: 'item', snapshot: { status: 'active', value: 'invoking' } });
    const many = getItems(fanOut(257, 300));
    expect(Object.keys(many)).to.deep.equal(['chunk-0', 'chunk-1']);
    expect(many['chunk-1']?.snapshot).to.deep.include({ from: 256, to: 257, settled: 0, failed: 0 });
  });

  it('counts settled items per chunk, and drops a chunk when all its items have settled', () => {
    const run = fanOut(300, 300);
    for (let item = 0; item < 255; item++) run.ports.succeed('f', item);
    expect(getItems(run)['chunk-0']?.snapshot).to.deep.include({ settled: 255 });
    run.ports.succeed('f', 255);
    expect(Object.keys(getItems(run))).to.deep.equal(['chunk-1']);
  });

  it('starts 64 items in a turn, so that other runs continue between them however long the list is (D25)', () => {
    const ports = new FakeRunPorts();
    ports.expansions.set('f', { items: 150, concurrency: 1000 });
    startRunMachine([['f']], { ports });
    for (const started of [64, 128, 150]) {
      expect(ports.pending).to.have.length(started);
      ports.deferred.shift()?.();
    }
    expect(ports.deferred).to.deep.equal([]);
  });

  it('starts no item after the event-loop slice is used up, but one in each turn', () => {
    const ports = new FakeRunPorts();
    ports.expansions.set('f', { items: 3, concurrency: 1000 });
    ports.isExhausted = true;
    startRunMachine([['f']], { ports });
    for (const started of [1, 2, 3]) {
      expect(ports.pending).to.have.length(started);
      ports.deferred.shift()?.();
    }
  });

  it('starts 64 items in a turn also when instantly settling items start one another', () => {
    const ports = new FakeRunPorts();
    ports.expansions.set('f', { items: 200, concurrency: 1 });
    const { actor } = startRunMachine([['f']], { ports });
    let turns = 0;
    while (actor.getSnapshot().status === 'active') {
      while (ports.pending.length > 0) ports.succeed('f', ports.pending[0]?.item);
      ports.deferred.shift()?.();
      turns++;
    }
    expect(turns).to.equal(4);
  });

  it('aborts an item whose own start forces the run', () => {
    const ports = new FakeRunPorts();
    ports.expansions.set('f', { items: 3, concurrency: 1 });
    const { actor } = startRunMachine([['f']], { ports });
    const invoke = ports.invoke.bind(ports);
    ports.invoke = (taskId, item, slot) => {
      if (item === 1) actor.send({ type: 'force' });
      return invoke(taskId, item, slot);
    };
    ports.succeed('f', 0);
    expect(ports.log).to.include('abort f[1]');
    expect(actor.getSnapshot().status).to.equal('done');
  });

  it('respects the concurrency and settles once, whatever the order of events', () => {
    const action = fc.record({ pick: fc.nat(), what: fc.constantFrom('succeed', 'fail', 'wait', 'resume') });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(action, { maxLength: 200 }),
        (items, concurrency, actions) => {
          const played = play(fanOut(items, concurrency), concurrency, actions);
          expect(played.settledOnce).to.equal(true);
        },
      ),
    );
  });
});

type Action = { readonly pick: number; readonly what: string };

/** Applies random events to a fan-out, checks the concurrency after each, then lets everything succeed. */
function play(
  run: StartedRunMachine,
  concurrency: number,
  actions: readonly Action[],
): { settledOnce: boolean } {
  const { ports } = run;
  const waiting = new Set<number>();
  const resuming = new Set<number>();
  const act = ({ pick, what }: Action): void => {
    const inFlight = ports.pending.filter(
      ({ item }) => !waiting.has(item ?? -1) && !resuming.has(item ?? -1),
    );
    expect(inFlight.length).to.be.at.most(concurrency);
    const chosen = inFlight[pick % Math.max(1, inFlight.length)];
    if (what === 'resume') {
      const [item] = waiting;
      if (item === undefined) return;
      waiting.delete(item);
      resuming.add(item);
      ports.find('f', item).slot.resume(() => resuming.delete(item));
    } else if (chosen?.item === undefined) return;
    else if (what === 'wait') {
      waiting.add(chosen.item);
      chosen.slot.wait();
    } else if (what === 'fail') ports.fail('f', chosen.item);
    else ports.succeed('f', chosen.item);
  };
  actions.forEach(act);
  while (ports.pending.length > 0) {
    act({ pick: 0, what: 'resume' });
    act({ pick: 0, what: 'succeed' });
  }
  expect(run.actor.getSnapshot().status).to.equal('done');
  return { settledOnce: ports.log.filter((line) => line.startsWith('publish')).length === 1 };
}

type Children = Record<string, { readonly src: string; readonly snapshot: unknown }>;

function getItems({ actor }: StartedRunMachine): Children {
  let snapshot: unknown = JSON.parse(JSON.stringify(actor.getPersistedSnapshot()));
  for (const id of ['wave', 'f', 'fan-out'])
    snapshot = (snapshot as { children: Children }).children[id]?.snapshot;
  return (snapshot as { children: Children }).children;
}
