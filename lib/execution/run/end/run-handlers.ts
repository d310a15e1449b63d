import type { RunStatus } from '../../../../machines/types.js';
import type { Clock, Timeline } from '../../../common/clock.js';
import { readTimeLimit, type TimeLimit } from '../../../definition/run-fields/time-limit.js';
import type { HandlerListName } from '../../../definition/schema/fields.js';
import type { Pipeline } from '../../../pipelines/pipeline.js';
import type { PlacedHistory } from '../../history/run-history.js';
import { RunTimeout } from './run-timeout.js';

/** How long each list of handlers may take, unless the definition says it (D80). */
const DEFAULT_TIMEOUT = '5m';

/** The run whose handlers run. */
interface TimedRun {
  readonly status: RunStatus;
  /** Aborts what is at work, and lets the next list begin. */
  timeOut(): void;
}

/** The lists of handlers of a run, one after the other, each with its time (D80). */
export class RunHandlers {
  /** The list at work, or the last one that was; undefined before the first one begins. */
  list: HandlerListName | undefined;
  /** Why calls of the list at work are stopped, when its time is over; undefined before. */
  stopReason: string | undefined;
  readonly #limit: TimeLimit | undefined;
  readonly #createTimeout: () => RunTimeout | undefined;
  readonly #history: PlacedHistory | undefined;
  #timeout: RunTimeout | undefined;

  constructor(
    { definition }: Pipeline,
    clock: Clock,
    timeline: Timeline,
    history: PlacedHistory | undefined,
  ) {
    const timeout = definition.handler_timeout ?? DEFAULT_TIMEOUT;
    this.#limit = readTimeLimit(timeout);
    this.#createTimeout = () => RunTimeout.of(timeout, clock, timeline, history);
    this.#history = history;
  }

  /** Call when the first handler of a list begins. */
  begin(list: HandlerListName, run: TimedRun): void {
    this.stop();
    this.list = list;
    this.stopReason = undefined;
    this.#history?.noteHandlers(list, run.status);
    this.#timeout = this.#createTimeout();
    this.#timeout?.begin({
      // The run stops this when it settles, and does not pause in its handlers.
      isSettled: false,
      isPaused: false,
      timeOut: () => {
        this.stopReason = `${list} took longer than its handler_timeout of ${this.#limit?.text}`;
        run.timeOut();
      },
    });
  }

  /** Call when a list has ended, or the run was stopped. */
  stop(): void {
    this.#timeout?.stop();
  }
}
