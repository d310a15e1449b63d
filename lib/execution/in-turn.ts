import { processPace } from './pace.js';

/** Does something at once, or in a later turn when the event loop has been held for long enough. */
export function inTurn<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const doNow = (): void => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    };
    if (processPace.overdue()) processPace.later(doNow);
    else doNow();
  });
}
