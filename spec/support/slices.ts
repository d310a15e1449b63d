import { eventLoopScheduler } from '../../lib/common/scheduling/event-loop-scheduler.js';
import { sliceClock } from '../../lib/common/scheduling/event-loop-slice.js';

/** True when slices end at random: shows which specs depend on how busy the machine is. */
const isRandom = process.env['SPEC_SLICES'] === 'random';

/** More than a slice lasts. */
const SLICE_MS = 10;

/** Passes at each reading, so that no two works take the same time; a slice never ends by it. */
const TICK_MS = 1e-7;

/** Lets a slice end after a few readings. */
const LONG_TICK_MS = 2;

/** After so long, the scheduler has forgotten what tenants have had. */
const FORGETTING_MS = 1000;

let nowMs = 0;
let isHeld = false;
let tickMs = TICK_MS;

function readTime(): number {
  nowMs += isRandom && !isHeld && Math.random() < 0.5 ? SLICE_MS : tickMs;
  return nowMs;
}

sliceClock.monotonicNow = readTime;

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

/** The slices of this test end when somebody has asked a few times whether they have: for specs of long work. */
export function shortenSlices(): void {
  tickMs = LONG_TICK_MS;
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
  /** A module that lib imports when it is first used has a scheduler of its own in specs: another loader loads it. */
  async beforeAll(): Promise<void> {
    const lazy = await import('../../lib/common/scheduling/event-loop-slice.js');
    lazy.sliceClock.monotonicNow = readTime;
  },

  async beforeEach(): Promise<void> {
    isHeld = false;
    tickMs = TICK_MS;
    nowMs += FORGETTING_MS;
    await eventLoopScheduler.wait('');
  },
};
