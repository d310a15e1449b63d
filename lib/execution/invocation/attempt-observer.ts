import { warnListenerRemoved } from '../../common/warnings.js';
import type { EventLocation } from '../events/event.js';

/** One attempt, for traces and metrics. */
export interface AttemptInfo {
  readonly runId: string;
  /** The location of the attempt's run within another run. */
  readonly location: EventLocation;
  readonly taskId: string;
  readonly tool: string;
  /** Position in the fan-out, from 0; undefined for a task that calls its tool once. */
  readonly item: number | undefined;
  /** From 1. */
  readonly attempt: number;
}

/**
 * Called as every attempt begins; the function that it returns is called when the attempt ends, with the error if the
 * attempt failed. Must be fast. An observer that throws is removed with a warning.
 */
export type AttemptObserver = (attempt: AttemptInfo) => (error?: string) => void;

/** Wraps an observer so that it never throws: a run must not depend on who observes it. */
export function guardObserver(observer: AttemptObserver): AttemptObserver {
  let isRemoved = false;
  const guard = <T>(call: () => T): T | undefined => {
    if (isRemoved) return undefined;
    try {
      return call();
    } catch (thrown) {
      isRemoved = true;
      warnListenerRemoved('the observer of attempts', thrown);
      return undefined;
    }
  };
  return (attempt) => {
    const onEnd = guard(() => observer(attempt));
    return (error) => guard(() => onEnd?.(error));
  };
}
