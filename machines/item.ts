import type { Snapshot } from 'xstate';
import { type Logic, STOP } from './logic.js';
import type { Settlement } from './vocabulary.js';

/**
 * One item of a small fan-out, as an actor, so that it can be watched. It only shows what happens: the fan-out
 * above it starts the invocation and is told first how it settled. Its id is the item's index.
 */
export type ItemSnapshot = Snapshot<Settlement> & {
  value: 'invoking' | 'waiting' | 'succeeded' | 'failed' | 'stopped';
};

export type ItemEvent =
  | { readonly type: 'item.waits' }
  | { readonly type: 'item.resumes' }
  | { readonly type: 'item.settled'; readonly settlement: Settlement }
  | { readonly type: typeof STOP };

export const itemLogic: Logic<ItemSnapshot, ItemEvent, undefined> = {
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined, value: 'invoking' }),

  transition(snapshot, event) {
    switch (event.type) {
      case 'item.waits':
        return { ...snapshot, value: 'waiting' };
      case 'item.resumes':
        return { ...snapshot, value: 'invoking' };
      case 'item.settled': {
        const value = event.settlement.ok ? 'succeeded' : 'failed';
        return { status: 'done', output: event.settlement, error: undefined, value };
      }
      case STOP:
        return { status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot: (snapshot) => snapshot,
};
