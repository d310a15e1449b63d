import { processPace } from '../execution/event-loop-budget.js';
import { Line } from './linked-set.js';

const waiting = new Line<() => void>();

/**
 * Fulfilled when the event loop may be held again: runs at work, and those who ask for new ones, share its turns. When
 * a thousand ask at once they are served one in each turn, in the order in which they came, and whatever else waits is
 * served in between.
 */
export async function freeTurn(): Promise<void> {
  if (waiting.size === 0 && !processPace.overdue()) return;
  await new Promise<void>((next) => {
    waiting.add(next);
    if (waiting.size === 1) setImmediate(serve);
  });
}

function serve(): void {
  const { first } = waiting;
  if (first === undefined) return;
  if (!processPace.overdue()) {
    waiting.delete(first);
    first();
  }
  if (waiting.size > 0) setImmediate(serve);
}
