import { warnListenerRemoved } from '../../../common/warnings.js';
import type { EventLocation } from '../../events/event.js';

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

/** Called when an attempt begins; the function it returns, when that ends or fails. Must be fast. One that throws is removed. */
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
