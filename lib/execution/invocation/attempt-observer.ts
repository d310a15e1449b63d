import type { EventPlace } from '../events/event.js';
import { warnOfListener } from '../events/journal.js';

/** One attempt, for those who measure. */
export interface AttemptFacts {
  readonly run_id: string;
  /** Where its run stands, when it is part of another. */
  readonly place: EventPlace;
  readonly task_id: string;
  readonly tool: string;
  /** Position in the fan-out, from 0; undefined for a task that is none. */
  readonly item: number | undefined;
  /** From 1. */
  readonly attempt: number;
}

/**
 * Hears of every attempt as it begins, and answers what is to be told when it is over: with the error when it
 * failed. May be called very often; one that throws is let go with a warning.
 */
export type AttemptObserver = (attempt: AttemptFacts) => (error?: string) => void;

/** An observer that never throws: a run must not depend on who measures it. */
export function guarded(observer: AttemptObserver): AttemptObserver {
  let isHeard = true;
  const guard = <T>(tell: () => T): T | undefined => {
    try {
      return isHeard ? tell() : undefined;
    } catch (thrown) {
      isHeard = false;
      warnOfListener('the observer of attempts', thrown);
      return undefined;
    }
  };
  return (attempt) => {
    const tellEnd = guard(() => observer(attempt));
    return (error) => guard(() => tellEnd?.(error));
  };
}
