import type { Snapshot } from 'xstate';
import { type Logic, STOP } from './logic.js';

/**
 * A run of neighbouring items of a large fan-out, as one actor: a hundred thousand actors would cost more than the
 * work they show. Its counters are kept by the fan-out above it.
 */
export type ChunkSnapshot = Snapshot<undefined> & {
  value: 'invoking' | 'settled' | 'stopped';
  /** First item, and the one after the last. */
  from: number;
  to: number;
  settled: number;
  failed: number;
};

export type ChunkEvent = { readonly type: 'chunk.settled' } | { readonly type: typeof STOP };

export const chunkLogic: Logic<ChunkSnapshot, ChunkEvent, { readonly from: number; readonly to: number }> = {
  getInitialSnapshot: (_, { from, to }) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'invoking',
    from,
    to,
    settled: 0,
    failed: 0,
  }),

  transition(snapshot, event) {
    switch (event.type) {
      case 'chunk.settled':
        return { ...snapshot, status: 'done', output: undefined, error: undefined, value: 'settled' };
      case STOP:
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot: (snapshot) => snapshot,
};
