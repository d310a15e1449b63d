import type { Snapshot } from 'xstate';
import { workOf } from './work-binding.js';
import { Items } from './items.js';
import { type ChildEnd, isChildEnd, type Logic, persistChildren, STOP } from './logic.js';
import type { Settlement } from './types.js';

/**
 * The items of one task (rule 7). At most `concurrency` of them are in flight; the next one starts when a place
 * becomes free. A retry that waits holds no place, and comes back before any new item (D18). After a failure the
 * items in flight finish and no new one starts (D17).
 */
type FanOutSnapshot = Snapshot<Settlement> & {
  value: 'invoking' | 'succeeded' | 'failed' | 'stopped';
  items: Items | undefined;
  toJSON(): unknown;
};

type FanOutEvent =
  | { readonly type: 'fan-out.continue' }
  | { readonly type: 'fan-out.settled'; readonly settlement: Settlement }
  | { readonly type: 'abort' }
  | { readonly type: typeof STOP }
  | ChildEnd;

interface FanOutInput {
  readonly taskId: string;
  readonly items: number;
  readonly concurrency: number;
}

export const fanOutLogic: Logic<FanOutSnapshot, FanOutEvent, FanOutInput> = {
  getInitialSnapshot: (scope, input) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'invoking',
    items: new Items(input, workOf(scope.self), scope.self, {
      proceed: () => scope.self.send({ type: 'fan-out.continue' }),
      settle: (settlement) => scope.self.send({ type: 'fan-out.settled', settlement }),
    }),
    toJSON: summary,
  }),

  start(snapshot) {
    snapshot.items?.proceed();
  },

  transition(snapshot, event, scope) {
    if (isChildEnd(event)) return snapshot;
    switch (event.type) {
      case 'fan-out.continue':
        snapshot.items?.proceed();
        return snapshot;
      case 'abort':
        snapshot.items?.abort();
        return snapshot;
      case 'fan-out.settled': {
        const value = event.settlement.ok ? 'succeeded' : 'failed';
        return {
          status: 'done',
          output: event.settlement,
          error: undefined,
          value,
          items: undefined,
          toJSON: summary,
        };
      }
      case STOP:
        snapshot.items?.abort();
        for (const actor of snapshot.items?.actors.live.values() ?? []) scope.stopChild(actor);
        return {
          status: 'stopped',
          output: undefined,
          error: undefined,
          value: 'stopped',
          items: undefined,
          toJSON: summary,
        };
    }
  },

  getPersistedSnapshot(snapshot) {
    const { status, output, error, value, items } = snapshot;
    const persisted = { status, output, error, value };
    const shown = items && { ...items.counts(), children: persistChildren(items.actors.live) };
    return { ...persisted, ...shown } as Snapshot<Settlement>;
  },
};

function summary(this: FanOutSnapshot): unknown {
  return { status: this.status, value: this.value, output: this.output, ...this.items?.counts() };
}
