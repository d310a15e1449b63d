import { type ActorRefFrom, createActor, type Snapshot } from 'xstate';
import { fanOutLogic } from './fan-out/fan-out.js';
import { type ChildEnd, isChildEnd, type Logic, type LogicChart, STOP, toTaskResult } from './logic.js';
import { type Abortable, type Expansion, type RunPorts, runPorts, type Slot } from './ports.js';
import { type TaskResult, toEndState } from './types.js';
import { childrenOfKind } from './xstate/child-actor.js';

/** One task of the current wave, by its id. It never ends in error, so a failing task lets its wave settle (D16). */
type TaskSnapshot = Snapshot<TaskResult> & {
  /** `waiting`: between two attempts. */
  value: 'invoking' | 'waiting' | 'fanning out' | 'succeeded' | 'skipped' | 'failed' | 'stopped';
  atWork: Abortable | undefined;
  fanOut: ActorRefFrom<typeof fanOutLogic> | undefined;
  toJSON(): unknown;
};

export type TaskMachineEvent =
  | { readonly type: 'task.waits' }
  | { readonly type: 'task.resumes' }
  | { readonly type: 'task.settled'; readonly result: TaskResult }
  | { readonly type: 'abort' }
  | { readonly type: typeof STOP }
  | ChildEnd;

export const taskChart: LogicChart<TaskSnapshot['value'], TaskMachineEvent['type']> = {
  initial: { invoking: 'it is invoked once', 'fanning out': 'it has items' },
  states: {
    invoking: {
      'task.waits': 'waiting',
      'task.settled': { succeeded: 'ok', skipped: 'its condition does not hold', failed: 'not ok' },
      abort: 'invoking',
      'xstate.stop': 'stopped',
    },
    waiting: {
      'task.resumes': 'invoking',
      'task.settled': 'failed',
      abort: 'waiting',
      'xstate.stop': 'stopped',
    },
    'fanning out': {
      'xstate.done.actor.fan-out': 'fanning out',
      'task.settled': { succeeded: 'ok', failed: 'not ok' },
      abort: 'fanning out',
      'xstate.stop': 'stopped',
    },
    succeeded: 'final',
    skipped: 'final',
    failed: 'final',
    stopped: 'final',
  },
};

export const taskLogic: Logic<TaskSnapshot, TaskMachineEvent, undefined> = {
  getInitialSnapshot: () => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'invoking',
    atWork: undefined,
    fanOut: undefined,
    toJSON: summarize,
  }),

  start(snapshot, { self, id }) {
    const ports = runPorts.find(self);
    const expansion = ports.expand(id);
    if (!('value' in expansion)) publish(ports, self, expansion);
    else if (expansion.value.items === undefined) {
      snapshot.atWork = ports.invoke(id, undefined, new TaskSlot(ports, self));
    } else startFanOut(snapshot, self, expansion.value);
  },

  transition(snapshot, event, { self, stopChild }) {
    if (isChildEnd(event)) {
      publish(runPorts.find(self), self, toTaskResult(event));
      return snapshot;
    }
    switch (event.type) {
      case 'task.waits':
        return { ...snapshot, value: 'waiting' };
      case 'task.resumes':
        return { ...snapshot, value: 'invoking' };
      case 'task.settled':
        return {
          status: 'done',
          output: event.result,
          error: undefined,
          value: toEndState(event.result),
          atWork: undefined,
          fanOut: undefined,
          toJSON: summarize,
        };
      case 'abort':
        snapshot.atWork?.abort();
        snapshot.fanOut?.send({ type: 'abort' });
        return snapshot;
      case STOP:
        snapshot.atWork?.abort();
        if (snapshot.fanOut) stopChild(snapshot.fanOut);
        return {
          status: 'stopped',
          output: undefined,
          error: undefined,
          value: 'stopped',
          atWork: undefined,
          fanOut: undefined,
          toJSON: summarize,
        };
    }
  },

  getPersistedSnapshot(snapshot) {
    const { status, output, error, value, fanOut } = snapshot;
    const children = fanOut && { 'fan-out': { snapshot: fanOut.getPersistedSnapshot(), src: 'fan-out' } };
    return { status, output, error, value, ...(children && { children }) } as Snapshot<TaskResult>;
  },
};

export const createTask = childrenOfKind(taskLogic, 'task');

type TaskActor = ActorRefFrom<typeof taskLogic>;

/** The slot of a task that makes one invocation. No other invocation could use it, so waiting frees nothing. */
class TaskSlot implements Slot {
  readonly #ports: RunPorts;
  readonly #task: TaskActor;

  constructor(ports: RunPorts, task: TaskActor) {
    this.#ports = ports;
    this.#task = task;
  }

  settle(result: TaskResult): void {
    publish(this.#ports, this.#task, result);
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

/** Publishes the outcome. From here on, aborting the task cancels the publication. */
function publish(ports: RunPorts, self: TaskActor, result: TaskResult): void {
  let isPublished = false;
  const publication = ports.publish(self.id, result, (published) => {
    isPublished = true;
    self.send({ type: 'task.settled', result: published });
  });
  if (!isPublished) self.getSnapshot().atWork = publication;
}

function summarize(this: TaskSnapshot): unknown {
  return { status: this.status, value: this.value, output: this.output };
}
