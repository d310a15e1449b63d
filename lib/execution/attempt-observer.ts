/** One attempt, for those who measure. */
export interface AttemptFacts {
  readonly run_id: string;
  readonly task_id: string;
  readonly tool: string;
  /** Position in the fan-out, from 0; undefined for a task that is none. */
  readonly item: number | undefined;
  /** From 1. */
  readonly attempt: number;
}

/**
 * Hears of every attempt as it begins, and answers what is to be told when it is over: with the error when it
 * failed. May be called very often, and must not throw.
 */
export type AttemptObserver = (attempt: AttemptFacts) => (error?: string) => void;
