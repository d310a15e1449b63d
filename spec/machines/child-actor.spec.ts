import { expect } from 'chai';
import {
  Actor,
  type ActorRefFrom,
  type ActorRefLike,
  type AnyActor,
  type AnyActorRef,
  createActor,
  type InspectionEvent,
  type Snapshot,
} from 'xstate';
import { type ChildEnd, type Logic, STOP } from '../../machines/logic.js';
import { childrenOfKind } from '../../machines/xstate/child-actor.js';

interface Told {
  readonly type: 'told';
  readonly what: 'count' | 'end' | 'throw';
}

type ChildSnapshot = Snapshot<number> & { count: number };

const childLogic: Logic<ChildSnapshot, Told | { readonly type: typeof STOP }, undefined> = {
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined, count: 0 }),
  start(snapshot, { self, id }) {
    if (id === 'hasty') self.send({ type: 'told', what: 'end' });
    snapshot.count++;
  },
  transition({ count }, event) {
    if (event.type === STOP) return { status: 'stopped', output: undefined, error: undefined, count };
    if (event.what === 'throw') throw new Error('no luck');
    if (event.what === 'end') return { status: 'done', output: 7, error: undefined, count };
    return { status: 'active', output: undefined, error: undefined, count: count + 1 };
  },
  getPersistedSnapshot: (snapshot) => snapshot,
};

type Child = ActorRefFrom<typeof childLogic>;
type Create = (parent: AnyActorRef, id: string) => Child;

const WAYS: Record<'ours' | 'xstate', Create> = {
  ours: childrenOfKind(childLogic, 'kind'),
  xstate: (parent, id) => createActor(childLogic, { parent, id, src: 'kind' }),
};

const DRIVES: Record<string, (child: Child, stop: () => void) => void> = {
  'takes events and ends': (child) => {
    child.start();
    child.send({ type: 'told', what: 'count' });
    child.send({ type: 'told', what: 'end' });
    child.send({ type: 'told', what: 'count' });
  },
  'receives an event before it starts': (child) => {
    child.send({ type: 'told', what: 'count' });
    child.start();
  },
  'ends in error': (child) => {
    child.start();
    child.send({ type: 'told', what: 'throw' });
  },
  'is stopped': (child, stop) => {
    child.start();
    stop();
    child.send({ type: 'told', what: 'count' });
  },
  'is stopped before it starts': (child, stop) => {
    stop();
    child.start();
  },
};

describe('A child of a kind', () => {
  for (const [name, drive] of Object.entries(DRIVES)) {
    it(`is to its parent, its observers and an inspector as one of XState's that ${name}`, () => {
      const expected = observe(WAYS.xstate, 'one', drive);
      expect(expected.map(([kind]) => kind)).to.include('@xstate.actor');
      expect(observe(WAYS.ours, 'one', drive)).to.deep.equal(expected);
      expect(observe(WAYS.ours, 'hasty', drive)).to.deep.equal(observe(WAYS.xstate, 'hasty', drive));
    });
  }

  it('is an actor of XState, with an id and a src of its own', () => {
    const parent = createActor(childLogic).start();
    const [first, second] = ['a', '__proto__'].map((id) => WAYS.ours(parent, id));
    expect(first).to.be.instanceOf(Actor);
    expect([first?.id, first?.src, second?.id, second?.src]).to.deep.equal([
      'a',
      'kind',
      '__proto__',
      'kind',
    ]);
    expect(first?.sessionId).to.not.equal(second?.sessionId);
  });
});

/** Writes down what happens to a child, actors by the order in which they appear. */
function observe(
  create: Create,
  id: string,
  drive: (child: Child, stop: () => void) => void,
): [string, unknown][] {
  const log: [string, unknown][] = [];
  const sessions: string[] = [];
  const nameOf = (actor: ActorRefLike | AnyActor): unknown[] => {
    if (!sessions.includes(actor.sessionId)) sessions.push(actor.sessionId);
    const { id, src } = actor as AnyActor;
    return [
      sessions.indexOf(actor.sessionId),
      id.startsWith('x:') ? 'root' : id,
      typeof src === 'string' && src,
    ];
  };
  const inspect = ({ actorRef, rootId: _, ...event }: InspectionEvent): void => {
    const source = 'sourceRef' in event && event.sourceRef && nameOf(event.sourceRef);
    log.push([event.type, [nameOf(actorRef), source, JSON.stringify({ ...event, sourceRef: undefined })]]);
  };
  let child: Child | undefined;
  const parentLogic: Logic<Snapshot<undefined>, ChildEnd | { readonly type: 'stop' }, undefined> = {
    getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
    transition(snapshot, event, { stopChild }) {
      if (event.type === 'stop' && child !== undefined) stopChild(child);
      return snapshot;
    },
    getPersistedSnapshot: (snapshot) => snapshot,
  };
  const parent = createActor(parentLogic, { inspect }).start();
  child = create(parent, id);
  child.subscribe({
    next: (snapshot) => log.push(['next', { ...snapshot }]),
    error: (error) => log.push(['error', String(error)]),
    complete: () => log.push(['complete', undefined]),
  });
  drive(child, () => parent.send({ type: 'stop' }));
  log.push(['at last', [child.getSnapshot(), child.getPersistedSnapshot(), JSON.stringify(child)]]);
  return log;
}
