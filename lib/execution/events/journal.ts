import type { RunStatus } from '../../../machines/types.js';
import { type Timeline, toIsoTime } from '../../common/clock.js';
import type { HandlerListName } from '../../definition/schema/fields.js';
import type { FailedTask } from '../../common/errors.js';
import { warnListenerRemoved } from '../../common/warnings.js';
import { NO_TOKENS, sumCosts, sumUsage } from '../../models/costs.js';
import type { ModelUsage, TokenCounts } from '../../models/model.js';
import type { MemoryBudget } from '../memory-budget.js';
import type { EventLocation, LiveEvent, TaskEvent } from './event.js';
import { WrittenEvents } from './written-events.js';

/** Distributes over the kinds of events, so that each keeps its own fields. */
type Unstamped<E> = E extends unknown ? Omit<E, 'seq' | 'time' | 'run_id'> : never;

/** An event without the fields that the journal adds. */
export type JournalEntry = Unstamped<LiveEvent>;

/** Measured memory of an event without its texts. */
const EVENT_BYTES = 200;

/** The text of an error, in records and events, when the run has no memory left for it. */
export const NO_MEMORY_FOR_ERROR = 'failed; the run has no memory left for the text of this error';

/** Keeps the events of a run for another process. */
export interface EventHistory {
  note(fact: { readonly kind: 'event'; readonly event: LiveEvent }): unknown;
}

/** The events that another process has written. */
export interface PastEvents {
  /** Number of the last event; 0 when there is none. */
  readonly lastSeq: number;
  /** The events that the journal collects or sums up. */
  readonly countedEvents: readonly CountedEvent[];
  /** The events that are written again while the run is rebuilt. */
  readonly pendingEvents: readonly LiveEvent[];
}

/** An event that the journal collects or sums up. */
export type CountedEvent = TaskEvent | Extract<LiveEvent, { readonly kind: 'usage' }>;

export function isCounted(event: LiveEvent): event is CountedEvent {
  const { kind } = event;
  return kind === 'start' || kind === 'finish' || kind === 'fail' || kind === 'skip' || kind === 'usage';
}

/** Returns the approximate memory of an event, in bytes. */
export function measureEvent(event: LiveEvent): number {
  if (event.kind === 'log') return EVENT_BYTES + event.message.length;
  if (event.kind === 'text') return EVENT_BYTES + event.text.length;
  const reasonLength = 'reason' in event ? (event.reason?.length ?? 0) : 0;
  return EVENT_BYTES + reasonLength + ('error' in event ? (event.error?.length ?? 0) : 0);
}

type EventListener = (event: LiveEvent) => void;

const NOWHERE: EventLocation = {};

const NO_USAGE: readonly ModelUsage[] = [];

/** The events of a run, in order (Events, D29). Creates nothing while nobody observes it. */
export class Journal {
  readonly runId: string;
  /** The location of this run within another run; empty for a submitted run. */
  readonly location: EventLocation = NOWHERE;
  /** The times of the run: those of its events never go back. */
  readonly timeline: Timeline;
  readonly #collected: TaskEvent[] | null;
  /** The memory of the submitted run. */
  readonly budget: MemoryBudget;
  /** Replaced and never changed, because listeners come and go while they are called. */
  #listeners: readonly EventListener[] = [];
  #usage: Map<string, ModelUsage> | undefined;
  #seq = 0;
  /** Where events are kept for another process; undefined when they are not. */
  #history: EventHistory | undefined;
  /** The events of another process that were not written again; undefined when none is left. */
  #written: WrittenEvents | undefined;
  #isClosed = false;

  /** @param collect keeps the task events, which take memory from the budget of the run */
  constructor(runId: string, timeline: Timeline, collect: boolean, budget: MemoryBudget) {
    this.runId = runId;
    this.timeline = timeline;
    this.budget = budget;
    this.#collected = collect ? [] : null;
  }

  /** False when events are neither collected nor listened to, so that writing them is useless. */
  get isObserved(): boolean {
    if (this.#isClosed) return false;
    return this.#collected !== null || this.#listeners.length > 0 || this.#history !== undefined;
  }

  /** Keeps the events for another process, after those that another one has written. */
  keepIn(history: EventHistory, { lastSeq, countedEvents, pendingEvents }: PastEvents): void {
    this.#history = history;
    this.#seq = lastSeq;
    for (const event of countedEvents) this.#take(event);
    if (pendingEvents.length > 0) this.#written = new WrittenEvents(pendingEvents);
  }

  /** Takes over the events of a run that has settled: nothing more is written. */
  restore(countedEvents: readonly CountedEvent[]): void {
    for (const event of countedEvents) this.#take(event);
    this.close();
  }

  /** Returns true when another process has written the event, so that it must not be written again. */
  #wasWritten(entry: JournalEntry): boolean {
    if (this.#written === undefined) return false;
    const wasWritten = this.#written.take(entry);
    if (this.#written.isEmpty) this.#written = undefined;
    return wasWritten;
  }

  #take(event: CountedEvent): void {
    if (event.kind === 'usage') this.#sumUsage(event.usage.model, event.usage);
    else this.#collect(event);
  }

  /** The run's use of language models, by model in the order of their first answers. */
  get usage(): readonly ModelUsage[] {
    return this.#usage === undefined ? NO_USAGE : [...this.#usage.values()];
  }

  /** The cost of the language models, in US dollars; undefined when no price is configured for them. */
  get cost(): number | undefined {
    return this.#usage === undefined
      ? undefined
      : sumCosts([...this.#usage.values()].map((used) => used.cost));
  }

  /** Counts an answer of a model. */
  addUsage(model: string, usage: TokenCounts): void {
    this.#sumUsage(model, usage);
  }

  #sumUsage(model: string, usage: TokenCounts): void {
    this.#usage ??= new Map();
    const sum = this.#usage.get(model);
    const requests = (sum?.requests ?? 0) + 1;
    this.#usage.set(model, { model, requests, ...sumUsage(sum ?? NO_TOKENS, usage) });
  }

  /** The start, finish and fail events so far; null unless collected. */
  get events(): readonly TaskEvent[] | null {
    return this.#collected;
  }

  /** Subscribes to all events from now on, and returns a function that unsubscribes. */
  subscribe(listener: EventListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => this.#unsubscribe(listener);
  }

  #unsubscribe(listener: EventListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  /** Ends the events: nothing is written after the run has settled, whatever its tools still do. */
  close(): void {
    this.#isClosed = true;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(entry: JournalEntry): void {
    if (!this.isObserved || this.#wasWritten(entry)) return;
    const stamp = { seq: ++this.#seq, time: toIsoTime(this.timeline.now()), run_id: this.runId };
    // Spreading both into a new object takes fifty times as long.
    const event: LiveEvent = Object.assign(stamp, entry);
    if (event.kind !== 'usage' && isCounted(event)) this.#collect(event);
    this.#history?.note({ kind: 'event', event });
    for (const listener of this.#listeners) {
      if (this.#listeners.includes(listener)) this.#notify(listener, event);
    }
  }

  /** Takes the memory of the events of a task, if they are collected, before it starts. @throws ToolError, not retryable */
  reserveTaskEvents(): void {
    if (this.#collected !== null) this.budget.reserve(2 * EVENT_BYTES);
  }

  #collect(event: TaskEvent): void {
    if (this.#collected === null) return;
    const { error } = event;
    const hasRoom = error === undefined || this.budget.tryReserve(error.length);
    this.#collected.push(hasRoom ? event : { ...event, error: NO_MEMORY_FOR_ERROR });
  }

  /** Removes a listener that throws, with a warning: a run must not depend on who observes it. */
  #notify(listener: EventListener, event: LiveEvent): void {
    try {
      listener(event);
    } catch (thrown) {
      this.#unsubscribe(listener);
      warnListenerRemoved(`a listener of run ${this.runId}`, thrown);
    }
  }
}

/** The journal of a run within another run. It writes to the outermost journal and adds its location. */
export class NestedJournal extends Journal {
  /** The whole path, through all outer runs. */
  override readonly location: EventLocation;
  readonly #outermost: Journal;

  constructor(outer: Journal, location: EventLocation) {
    super(outer.runId, outer.timeline, false, outer.budget);
    this.#outermost = outer instanceof NestedJournal ? outer.#outermost : outer;
    const within = [...(outer.location.within ?? []), ...(location.within ?? [])];
    this.location = { ...outer.location, ...location, ...(within.length > 0 && { within }) };
  }

  override get isObserved(): boolean {
    return !this.isClosed && this.#outermost.isObserved;
  }

  override addUsage(model: string, usage: TokenCounts): void {
    this.#outermost.addUsage(model, usage);
  }

  override reserveTaskEvents(): void {
    this.#outermost.reserveTaskEvents();
  }

  override write(entry: JournalEntry): void {
    if (this.isClosed) return;
    if (entry.kind === 'run') this.#writeStatus(entry);
    else this.#outermost.write(Object.assign({}, entry, this.location));
  }

  /** Writes the status of a sub-pipeline only: the end of a nested run must not look like the end of the whole run. */
  #writeStatus(entry: Extract<JournalEntry, { kind: 'run' }>): void {
    const { sub_pipeline: subPipeline, within } = this.location;
    if (subPipeline === undefined || within !== undefined) return;
    this.#outermost.write({ ...entry, kind: 'sub_pipeline', sub_pipeline: subPipeline });
  }
}

/** The state of a run that its own events report. */
interface RunState {
  readonly machineStatus: RunStatus;
  readonly isPaused: boolean;
  readonly isHandling: boolean;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly failedTask: FailedTask | null;
}

/** Writes the events of a run itself: its statuses, and the start and finish of its waves. */
export class LifecycleEvents {
  readonly #journal: Journal;
  readonly #waves: readonly (readonly string[])[];
  readonly #handlerOf: (wave: number) => HandlerListName | undefined;
  #lastStatus: RunStatus | undefined;
  #wasPaused = false;
  #openWave: number | undefined;

  /** @param handlerOf returns the list of handlers to which a wave belongs; undefined for a wave of tasks */
  constructor(
    journal: Journal,
    waves: readonly (readonly string[])[],
    handlerOf: (wave: number) => HandlerListName | undefined = () => undefined,
  ) {
    this.#journal = journal;
    this.#waves = waves;
    this.#handlerOf = handlerOf;
  }

  /** Writes the status, unless it is the last one written. */
  writeStatus(run: RunState): void {
    const { machineStatus: status, isPaused } = run;
    if (!this.#journal.isObserved || (status === this.#lastStatus && isPaused === this.#wasPaused)) return;
    this.#lastStatus = status;
    this.#wasPaused = isPaused;
    const { error, errorCode, failedTask, isHandling } = run;
    const handling = isHandling ? ({ handling: true } as const) : {};
    if (isPaused) this.#journal.write({ kind: 'run', status, paused: true });
    else if (error === null) this.#journal.write({ kind: 'run', status, ...handling });
    else
      this.#journal.write({
        kind: 'run',
        status,
        ...handling,
        error,
        ...(errorCode !== null && { error_code: errorCode }),
        ...(failedTask !== null && { failed_task: failedTask }),
      });
  }

  beginWave(wave: number, run: RunState): void {
    if (!this.#journal.isObserved) return;
    this.closeWave();
    this.writeStatus(run);
    this.#openWave = wave;
    this.#writeWave(wave, 'start');
  }

  closeWave(): void {
    if (this.#openWave === undefined) return;
    const wave = this.#openWave;
    this.#openWave = undefined;
    this.#writeWave(wave, 'finish');
  }

  #writeWave(wave: number, phase: 'start' | 'finish'): void {
    const handler = this.#handlerOf(wave);
    const tasks = this.#waves[wave]?.length ?? 0;
    this.#journal.write({ kind: 'wave', wave, ...(handler && { handler }), phase, tasks });
  }
}
