import type { Snapshot } from 'xstate';
import { type FanOutInput, FanOutState } from './fan-out-state.js';
import { type ChildEnd, isChildEnd, type Logic, type LogicChart, persistChildren, STOP } from '../logic.js';
import { runPorts } from '../ports.js';
import type { TaskResult } from '../types.js';

/**
 * The items of one task (rule 7). At most `concurrency` of them are in flight; the next one starts when a slot becomes
 * free. An item that waits for a retry holds no slot, and resumes before any new item starts (D18). After a failure the
 * items in flight finish and no new one starts (D17); an error that is collected counts as no failure, unless every item
 * has one (D67).
 */
type FanOutSnapshot = Snapshot<TaskResult> & {
  value: 'invoking' | 'succeeded' | 'failed' | 'stopped';
  state: FanOutState | undefined;
  toJSON(): unknown;
};

type FanOutEvent =
  | { readonly type: 'fan-out.continue' }
  | { readonly type: 'fan-out.settled'; readonly result: TaskResult }
  | { readonly type: 'abort' }
  | { readonly type: typeof STOP }
  | ChildEnd;

export const fanOutChart: LogicChart<FanOutSnapshot['value'], FanOutEvent['type']> = {
  initial: 'invoking',
  states: {
    invoking: {
      'fan-out.continue': 'invoking',
      'xstate.done.actor.*': 'invoking',
      abort: 'invoking',
      'fan-out.settled': { succeeded: 'ok', failed: 'not ok' },
      'xstate.stop': 'stopped',
    },
    succeeded: 'final',
    failed: 'final',
    stopped: 'final',
  },
};

export const fanOutLogic: Logic<FanOutSnapshot, FanOutEvent, FanOutInput> = {
  getInitialSnapshot({ self }, input) {
    const onContinue = (): void => self.send({ type: 'fan-out.continue' });
    const onSettled = (result: TaskResult): void => self.send({ type: 'fan-out.settled', result });
    const state = new FanOutState(input, runPorts.find(self), self, { onContinue, onSettled });
    return {
      status: 'active',
      output: undefined,
      error: undefined,
      value: 'invoking',
      state,
      toJSON: summarize,
    };
  },

  start(snapshot) {
    snapshot.state?.continue();
  },

  transition(snapshot, event, scope) {
    if (isChildEnd(event)) return snapshot;
    switch (event.type) {
      case 'fan-out.continue':
        snapshot.state?.continue();
        return snapshot;
      case 'abort':
        snapshot.state?.abort();
        return snapshot;
      case 'fan-out.settled':
        // After a failure, some items of a chunk were not begun.
        for (const actor of snapshot.state?.actors.live.values() ?? []) scope.stopChild(actor);
        return {
          status: 'done',
          output: event.result,
          error: undefined,
          value: event.result.ok ? 'succeeded' : 'failed',
          state: undefined,
          toJSON: summarize,
        };
      case STOP:
        snapshot.state?.stop();
        for (const actor of snapshot.state?.actors.live.values() ?? []) scope.stopChild(actor);
        return {
          status: 'stopped',
          output: undefined,
          error: undefined,
          value: 'stopped',
          state: undefined,
          toJSON: summarize,
        };
    }
  },

  getPersistedSnapshot({ status, output, error, value, state }) {
    const items = state && { ...state.counts(), children: persistChildren(state.actors.live) };
    return { status, output, error, value, ...items } as Snapshot<TaskResult>;
  },
};

function summarize(this: FanOutSnapshot): unknown {
  return { status: this.status, value: this.value, output: this.output, ...this.state?.counts() };
}
