import { eventLoopScheduler } from '../../lib/common/scheduling/event-loop-scheduler.js';
import { sliceClock } from '../../lib/common/scheduling/event-loop-slice.js';

/** True when slices end at random: shows which specs depend on how busy the machine is. */
const isRandom = process.env['SPEC_SLICES'] === 'random';

/** More than a slice lasts. */
const SLICE_MS = 10;

/** Passes at each reading, so that no two works take the same time; a slice never ends by it. */
const TICK_MS = 1e-7;

/** After so long, the scheduler has forgotten what tenants have had. */
const FORGETTING_MS = 1000;

let nowMs = 0;
let isHeld = false;

sliceClock.monotonicNow = () => {
  nowMs += isRandom && !isHeld && Math.random() < 0.5 ? SLICE_MS : TICK_MS;
  return nowMs;
};

/** Uses up the slice of this turn of the event loop. In specs, no other time does: how fast the machine is must not matter. */
export function endSlice(): void {
  // Begins one, where none has begun in this turn.
  void eventLoopScheduler.isOver;
  nowMs += SLICE_MS;
}

/** No slice of this test ends but by {@link endSlice}, not even when others end at random: for specs that count turns. */
export function holdSlices(): void {
  isHeld = true;
}

/** Counts the turns of the event loop from now on. */
export function countTurns(): { readonly count: number; stop(): void } {
  let isOver = false;
  const turns = {
    count: 0,
    stop: () => {
      isOver = true;
    },
  };
  const next = (): void => {
    turns.count++;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return turns;
}

/** Mocha runs this before every test, because .mocharc.json requires this file. */
export const mochaHooks = {
  async beforeEach(): Promise<void> {
    isHeld = false;
    nowMs += FORGETTING_MS;
    await eventLoopScheduler.wait('');
  },
};
