import { WavetrainError } from '../../../common/errors.js';
import { fairYield } from '../../../common/scheduling/run-in-slices.js';
import { SharedLimit } from '../../../common/memory/shared-limit.js';
import type { EventLog } from '../../../runs/event-log.js';
import type { RunQueries } from '../../../runs/views/run-queries.js';
import type { HttpServices } from '../../services.js';

/** Time from an event to the check for a change: events come in bursts, and some changes follow their event. */
export const DEBOUNCE_MS = 20;

/** Interval of checks for changes without an event, such as the start of further items of a fan-out. */
export const RECHECK_MS = 1000;

const MAX_POLLS = 5000;

/** Returns true when the client already has this version of the record. */
type IsKnown = (version: string) => boolean;

interface PollServices extends Pick<HttpServices, 'clock' | 'shareOf'> {
  readonly queries: Pick<RunQueries, 'events' | 'version' | 'tenantId'>;
}

/**
 * The requests that wait for a run to change or to settle. However many wait for one run, an event costs as much as for
 * one of them, and they continue in slices.
 */
export class LongPolls {
  readonly #services: PollServices;
  readonly #limit: SharedLimit;
  readonly #runs = new Map<EventLog, PolledRun>();

  constructor(services: PollServices, maxPolls = MAX_POLLS) {
    this.#services = services;
    this.#limit = new SharedLimit(services.shareOf(maxPolls));
  }

  /**
   * Waits until a run has settled or has a version that the client does not have; at most `timeoutMs`, and only while
   * the client is connected. Rejects with `too_many_streams` when too many requests wait already.
   *
   * @param isKnown undefined to wait only for the run to settle
   */
  async wait(
    runId: string,
    isKnown: IsKnown | undefined,
    timeoutMs: number,
    disconnected: AbortSignal,
  ): Promise<void> {
    const { queries, clock } = this.#services;
    const log = queries.events(runId);
    // The log comes first: a deleted run has a closed log, but no version to compare.
    if (log.isClosed || disconnected.aborted || isKnown?.(queries.version(runId)) === false) return;
    const tenantId = queries.tenantId(runId);
    if (!this.#limit.tryAcquire(tenantId)) {
      const message = `${this.#limit.used} requests wait for runs already: try again later, or without "wait"`;
      throw new WavetrainError('too_many_streams', message, { fault: 'service' });
    }
    await new Promise<void>((resolve) => {
      const run = this.#getRun(runId, log);
      const end = (): void => {
        clock.clearTimeout(timeout);
        disconnected.removeEventListener('abort', end);
        run.delete(poll);
        // The requests go on in slices: each of them makes a whole response.
        void fairYield(tenantId).then(resolve);
      };
      const poll: Poll = { isKnown, end };
      const timeout = clock.setTimeout(end, timeoutMs);
      disconnected.addEventListener('abort', end);
      run.add(poll);
    });
    this.#limit.release(tenantId);
  }

  #getRun(runId: string, log: EventLog): PolledRun {
    let run = this.#runs.get(log);
    if (run === undefined) {
      run = new PolledRun(runId, log, this.#services, () => this.#runs.delete(log));
      this.#runs.set(log, run);
    }
    return run;
  }
}

/** One waiting request. */
interface Poll {
  readonly isKnown: IsKnown | undefined;
  /** To be called when the request need not wait any more. */
  end(): void;
}

/** The requests that wait for one run. They share a subscription to its events, and a timer. */
class PolledRun {
  readonly #runId: string;
  readonly #log: EventLog;
  readonly #services: PollServices;
  readonly #onEmpty: () => void;
  readonly #unsubscribe: () => void;
  readonly #polls = new Set<Poll>();
  /** The polls that also wait for a change. */
  readonly #changePolls = new Set<Poll>();
  /** The version of the last check. A poll that waits for a change knows it, or came after it. */
  #version: string;
  #timer: unknown;
  #isDebouncing = false;

  constructor(runId: string, log: EventLog, services: PollServices, onEmpty: () => void) {
    this.#runId = runId;
    this.#log = log;
    this.#services = services;
    this.#onEmpty = onEmpty;
    this.#version = services.queries.version(runId);
    this.#unsubscribe = log.subscribe(() => this.#onEvent());
  }

  add(poll: Poll): void {
    this.#polls.add(poll);
    if (poll.isKnown === undefined) return;
    this.#changePolls.add(poll);
    if (this.#changePolls.size === 1) this.#checkAfter(RECHECK_MS);
  }

  delete(poll: Poll): void {
    this.#polls.delete(poll);
    this.#changePolls.delete(poll);
    if (this.#changePolls.size === 0) this.#services.clock.clearTimeout(this.#timer);
    if (this.#polls.size > 0) return;
    this.#unsubscribe();
    this.#onEmpty();
  }

  #onEvent(): void {
    if (this.#log.isClosed) for (const poll of this.#polls) poll.end();
    else if (this.#changePolls.size > 0 && !this.#isDebouncing) this.#checkAfter(DEBOUNCE_MS);
  }

  #checkAfter(delayMs: number): void {
    const { clock } = this.#services;
    clock.clearTimeout(this.#timer);
    this.#isDebouncing = delayMs === DEBOUNCE_MS;
    this.#timer = clock.setTimeout(() => this.#check(), delayMs);
  }

  #check(): void {
    const version = this.#services.queries.version(this.#runId);
    if (version !== this.#version) {
      this.#version = version;
      for (const poll of this.#changePolls) if (poll.isKnown?.(version) === false) poll.end();
    }
    if (this.#changePolls.size > 0) this.#checkAfter(RECHECK_MS);
  }
}
