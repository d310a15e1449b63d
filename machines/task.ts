import { type ActorRefFrom, createActor, type Snapshot } from 'xstate';
import { workOf } from './work-binding.js';
import { fanOutLogic } from './fan-out.js';
import { type ChildEnd, isChildEnd, type Logic, STOP, settlementOf } from './logic.js';
import type { Abort, Expansion, Place, Settlement, Work } from './types.js';

/**
 * One task of the present wave. Its id is the task's id. It ends with a settlement and never in error, so a
 * failing task lets its wave settle (D16).
 */
type TaskSnapshot = Snapshot<Settlement> & {
  /** `waiting`: between two attempts. */
  value: 'invoking' | 'waiting' | 'fanning out' | 'succeeded' | 'failed' | 'stopped';
  abort: Abort | undefined;
  fanOut: ActorRefFrom<typeof fanOutLogic> | undefined;
  toJSON(): unknown;
};

export type TaskEvent =
  | { readonly type: 'task.waits' }
  | { readonly type: 'task.resumes' }
  | { readonly type: 'task.settled'; readonly settlement: Settlement }
  | { readonly type: 'abort' }
  | { readonly type: typeof STOP }
  | ChildEnd;

export const taskLogic: Logic<TaskSnapshot, TaskEvent, undefined> = {
  getInitialSnapshot: () => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'invoking',
    abort: undefined,
    fanOut: undefined,
    toJSON: summary,
  }),

  start(snapshot, { self, id }) {
    const work = workOf(self);
    const expansion = work.expand(id);
    if (!expansion.ok) publish(work, self, expansion);
    else if (expansion.value.items === undefined) snapshot.abort = invokeOnce(work, self);
    else startFanOut(snapshot, self, expansion.value);
  },

  transition(snapshot, event, { self, stopChild }) {
    if (isChildEnd(event)) {
      publish(workOf(self), self, settlementOf(event));
      return snapshot;
    }
    switch (event.type) {
      case 'task.waits':
        return { ...snapshot, value: 'waiting' };
      case 'task.resumes':
        return { ...snapshot, value: 'invoking' };
      case 'task.settled':
        return settled(event.settlement);
      case 'abort':
        snapshot.abort?.();
        snapshot.fanOut?.send({ type: 'abort' });
        return snapshot;
      case STOP:
        snapshot.abort?.();
        if (snapshot.fanOut) stopChild(snapshot.fanOut);
        return stopped();
    }
  },

  getPersistedSnapshot(snapshot) {
    const { status, output, error, value, fanOut } = snapshot;
    const children = fanOut && { 'fan-out': { snapshot: fanOut.getPersistedSnapshot(), src: 'fan-out' } };
    return { status, output, error, value, ...(children && { children }) } as Snapshot<Settlement>;
  },
};

type TaskActor = ActorRefFrom<typeof taskLogic>;

function invokeOnce(work: Work, self: TaskActor): Abort {
  return work.invoke(self.id, undefined, new OnlyPlace(work, self));
}

/** The place of a task that makes one invocation: there is no other to give it to. */
class OnlyPlace implements Place {
  readonly #work: Work;
  readonly #task: TaskActor;

  constructor(work: Work, task: TaskActor) {
    this.#work = work;
    this.#task = task;
  }

  settle(settlement: Settlement): void {
    publish(this.#work, this.#task, settlement);
  }

  wait(): void {
    this.#task.send({ type: 'task.waits' });
  }

  resume(attempt: () => void): void {
    this.#task.send({ type: 'task.resumes' });
    attempt();
  }
}

function startFanOut(snapshot: TaskSnapshot, self: TaskActor, expansion: Expansion): void {
  snapshot.value = 'fanning out';
  snapshot.fanOut = createActor(fanOutLogic, {
    parent: self,
    id: 'fan-out',
    src: 'fan-out',
    input: { taskId: self.id, items: expansion.items ?? 0, concurrency: expansion.concurrency },
  });
  snapshot.fanOut.start();
}

/** From here on, to abort the task is to give up its publication. */
function publish(work: Work, self: TaskActor, settlement: Settlement): void {
  let isPublished = false;
  const abort = work.publish(self.id, settlement, (published) => {
    isPublished = true;
    self.send({ type: 'task.settled', settlement: published });
  });
  if (!isPublished) self.getSnapshot().abort = abort;
}

function settled(settlement: Settlement): TaskSnapshot {
  return {
    status: 'done',
    output: settlement,
    error: undefined,
    value: settlement.ok ? 'succeeded' : 'failed',
    abort: undefined,
    fanOut: undefined,
    toJSON: summary,
  };
}

function stopped(): TaskSnapshot {
  return {
    status: 'stopped',
    output: undefined,
    error: undefined,
    value: 'stopped',
    abort: undefined,
    fanOut: undefined,
    toJSON: summary,
  };
}

function summary(this: TaskSnapshot): unknown {
  return { status: this.status, value: this.value, output: this.output };
}
