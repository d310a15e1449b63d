import { setImmediate as nextTurn } from 'node:timers/promises';
import { processPace } from '../execution/pace.js';

/**
 * Fulfilled when the event loop may be held again: runs at work, and those who ask for new ones, share its turns. A
 * thousand requests that arrive at once are taken a few in each turn, so that whatever else waits is served in between.
 */
export async function freeTurn(): Promise<void> {
  while (processPace.overdue()) await nextTurn();
}
