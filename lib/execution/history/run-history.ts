import type { RunStatus } from '../../../machines/types.js';
import type { EventLoopBudget } from '../../../machines/ports.js';
import { HANDLERS_ID } from '../../../machines/sub-runs.js';
import { type Clock, Timeline } from '../../common/clock.js';
import { warnHost } from '../../common/warnings.js';
import type { ToolContext } from '../../tools/tool.js';
import type { Fact, PlacedFact, RunFact } from './fact.js';
import { attemptPrefix } from './nested-places.js';
import type { PastFacts } from './past-facts.js';
import { nestedKey, Replay, sliceKey } from './replay.js';

/** So often a process may crash at the same call. */
export const MAX_CRASHES = 5;

/** So often a process may crash at a run that comes no further; after twice as many, it is not even rebuilt. */
export const MAX_CRASHES_IN_VAIN = 10;

/** Where the facts of one run are kept. */
export interface FactLog {
  /** Adds a fact, in order. */
  append(fact: Fact): void;
  /**
   * Resolves when all facts that were appended so far are kept for good. Never rejects. When they cannot be kept, it never
   * resolves, so that the run stands still; or at once, where runs go on without their facts.
   */
  committed(): Promise<void>;
}

/** The acceptance of a run, and the facts since then. */
export interface RunPast {
  readonly id: string;
  /** Milliseconds since 1970, UTC. */
  readonly createdAt: number;
  /** False for a run that is accepted now. */
  readonly isRestored: boolean;
  readonly facts: PastFacts;
}

/** Distributes over the kinds of facts. */
type Untimed<F> = F extends unknown ? Omit<F, 'at'> : never;
export type Unplaced<F> = F extends unknown ? Omit<F, 'at' | 'place'> : never;

/** The facts of one submitted run: those of earlier processes, and those that it notes. */
export class RunHistory {
  readonly timeline: ReplayedTimeline;
  readonly past: RunPast;
  readonly #log: FactLog;
  #isClosed: boolean;
  #publishing = 0;
  /** Undefined for a run that is accepted now. */
  readonly #replay: Replay | undefined;

  constructor(log: FactLog, past: RunPast, tenantId: string, clock: Clock) {
    this.#log = log;
    this.past = past;
    const { facts, createdAt } = past;
    this.timeline = new ReplayedTimeline(clock, createdAt, facts.latestAt ?? createdAt);
    this.#isClosed = this.hasSettled;
    if (facts.isEmpty) {
      this.timeline.goOn();
      return;
    }
    this.#replay = new Replay(facts.needed, {
      tenantId,
      hasSettled: this.hasSettled,
      clock,
      onFact: (at) => this.timeline.replay(at),
      onLastFact: () => {
        if (!this.hasSettled) this.timeline.goOn();
      },
      onDivergence: (fact, nested) => this.#onDivergence(fact, nested),
    });
    void this.#replay.over.then(() => facts.release());
  }

  /** Notes a divergence, so that the next process does not wait; for a nested pipeline, its next run notes it. */
  #onDivergence(fact: Fact, nested: string | undefined): void {
    const { id, facts } = this.past;
    const lost = nested === undefined ? 'it' : `the pipeline ${nested}`;
    warnHost(`run ${id} goes on without all that ${lost} had done: it waits for no "${fact.kind}" any more`);
    if (nested === undefined) this.note({ kind: 'diverged', from: facts.positionOf(fact) });
    else facts.nested.end(nested);
  }

  /** Notes that this process goes on with the run. Resolves when the fact is kept: this process may do no more. */
  noteRestored(): Promise<void> {
    this.note({ kind: 'restored' });
    return this.committed();
  }

  /** Why nothing of the run is called any more; undefined while the run is not given up. */
  get givenUp(): string | undefined {
    const { crashesInVain } = this.past.facts;
    if (crashesInVain < MAX_CRASHES_IN_VAIN) return undefined;
    return `the process ended ${crashesInVain} times while the run was at work: nothing of it is called any more`;
  }

  /** True when the run settled in another process: none of its tools is called again, even if its state differs now. */
  get hasSettled(): boolean {
    return this.past.facts.settledAt !== undefined;
  }

  /** Resolves when everything goes on that had no outcome. */
  get replayed(): Promise<void> {
    return this.#replay?.over ?? Promise.resolve();
  }

  get isReplayed(): boolean {
    return this.#replay?.hasEnded !== false;
  }

  /** Undefined when nothing is left to replay. */
  get replay(): Replay | undefined {
    return this.#replay?.isOver === false ? this.#replay : undefined;
  }

  /** The history of the submitted run. */
  open(): PlacedHistory {
    return new PlacedHistory(this, '', new SliceHistory(this, '', this.past.facts.exhausted.get('')));
  }

  /** Notes nothing from now on: the run is left as it is, for another process. */
  close(): void {
    this.#isClosed = true;
    this.#replay?.stop();
  }

  /** Returns the time of the fact. @param at its time, if that is known */
  note(fact: Untimed<RunFact> | Untimed<PlacedFact>, at = this.timeline.now()): number {
    if (!this.#isClosed) this.#log.append({ ...fact, at });
    return at;
  }

  /** Notes that the run has settled, and nothing after that. Returns the time. */
  noteSettled(): number {
    const at = this.note({ kind: 'settled' });
    this.#isClosed = true;
    return at;
  }

  /** Calls `onKept` when all facts that were noted so far are kept: until then, a task is being published. */
  publish(onKept: () => void): void {
    this.#publishing++;
    void this.committed().then(() => {
      this.#publishing--;
      onKept();
    });
  }

  /** True while a task is being published: the tasks that wait for it have not gone on yet. */
  get isPublishing(): boolean {
    return this.#publishing > 0;
  }

  committed(): Promise<void> {
    return this.#log.committed();
  }
}

/** The times of a run that may have begun in another process: those of its facts while they are replayed, then the clock's. */
class ReplayedTimeline extends Timeline {
  readonly #clock: Clock;
  readonly #latestFact: number;
  /** The time of the last fact that was replayed. */
  #replayed: number;
  #live: Timeline | undefined;

  constructor(clock: Clock, createdAt: number, latestFact: number) {
    super(clock, createdAt);
    this.#clock = clock;
    this.#latestFact = latestFact;
    this.#replayed = createdAt;
  }

  /** Call before a fact is replayed. */
  replay(at: number): void {
    this.#replayed = at;
  }

  /** Call before something is replayed whose time is known: the timeline takes it for the last time that was read. */
  replayExactly(at: number): void {
    this.#replayed = at;
    this.latest = at;
  }

  /** Call when all facts have been replayed. The clock may have been set back meanwhile. */
  goOn(): void {
    this.#live = new Timeline(this.#clock, Math.max(this.#clock.now(), this.#latestFact));
  }

  override now(): number {
    this.latest = this.#live === undefined ? this.#replayed : this.#live.now();
    return this.latest;
  }
}

/** The slices of the machines of one place: a plan shares them with its sub-pipelines. */
class SliceHistory {
  readonly #history: RunHistory;
  readonly #place: string;
  readonly #exhausted: ReadonlyMap<number, number> | undefined;
  #checks = 0;
  #deferred = 0;

  /** @param exhausted how often the machines had asked whether the slice is used up when it was */
  constructor(history: RunHistory, place: string, exhausted: ReadonlyMap<number, number> | undefined) {
    this.#history = history;
    this.#place = place;
    this.#exhausted = exhausted;
  }

  /** Returns true when the slice is used up or, while facts are replayed, when it was at this check. */
  isExhausted(budget: EventLoopBudget): boolean {
    const count = ++this.#checks;
    if (this.#history.replay !== undefined) return this.#exhausted?.has(count) === true;
    const isExhausted = budget.exhausted();
    if (isExhausted) this.#history.note({ kind: 'exhausted', place: this.#place, count });
    return isExhausted;
  }

  defer(budget: EventLoopBudget, next: () => void): void {
    const count = ++this.#deferred;
    const onEnd = (): void =>
      budget.defer(() => {
        this.#history.note({ kind: 'continued', place: this.#place, count });
        next();
      });
    const { replay } = this.#history;
    if (replay === undefined) return onEnd();
    const key = sliceKey(this.#place, count);
    const onFact = (): void => {
      replay.settle(key);
      next();
    };
    replay.expect(key, { onFact, onEnd });
  }
}

/** Does what comes from outside when nothing is being rebuilt or published: a replay would have it at another moment. */
export function whenAtRest(history: PlacedHistory | undefined, action: () => void): void {
  const isPublishing = history?.run.isPublishing === true;
  const wait = history?.rebuilding ?? (isPublishing ? history.run.committed() : undefined);
  if (wait === undefined) action();
  else void wait.then(() => whenAtRest(history, action));
}

/** The history of one pipeline run: notes what happens at its place, and knows what has happened. */
export class PlacedHistory {
  readonly run: RunHistory;
  readonly place: string;
  /** False for a sub-pipeline, the handlers of a plan, and a pipeline inside a task. */
  readonly isSubmitted: boolean;
  /** The place of the fact that the run has begun, which handlers of a plan do not share with it. */
  readonly begunPlace: string;
  readonly #slices: SliceHistory;

  constructor(run: RunHistory, place: string, slices: SliceHistory, begunPlace = place) {
    this.run = run;
    this.place = place;
    this.isSubmitted = begunPlace === '';
    this.begunPlace = begunPlace;
    this.#slices = slices;
  }

  /** Undefined when nothing is left to replay. */
  get replay(): Replay | undefined {
    return this.run.replay;
  }

  /** Resolves when the submitted run has come to where another process left it; undefined when it has. */
  get rebuilding(): Promise<void> | undefined {
    return this.isSubmitted && !this.run.isReplayed ? this.run.replayed : undefined;
  }

  /** Notes what comes from outside; not while facts are replayed, because it was noted before. */
  noteRequest(fact: Untimed<RunFact>): void {
    if (this.isSubmitted && this.replay === undefined) this.run.note(fact);
  }

  /** Call when the run is left as it is. Notes that no crash has ended the work on it. */
  leave(isAtWork: boolean): void {
    if (isAtWork) this.run.note({ kind: 'left' });
    this.run.close();
  }

  /** Returns the time of the fact. @param at its time, if that is known */
  note(fact: Unplaced<PlacedFact>, at?: number): number {
    return this.run.note({ ...fact, place: this.place }, at);
  }

  /** Notes that the run begins. Returns the time; undefined while facts are replayed: it was noted before. */
  noteBegun(): number | undefined {
    return this.replay === undefined ? this.run.note({ kind: 'begun', place: this.begunPlace }) : undefined;
  }

  /** Notes that the handlers of a list begin, unless the process before has noted it. */
  noteHandlers(list: string, status: RunStatus): void {
    const { facts } = this.run.past;
    if (this.replay !== undefined && facts.hasBegunHandlers(this.place, list)) return;
    this.note({ kind: 'handlers_begun', list, status });
    if (this.replay !== undefined) facts.noteBegunHandlers(this.place, list, status);
  }

  /** Creates the history of a sub-pipeline of the plan. */
  ofSubPipeline(id: string): PlacedHistory {
    return new PlacedHistory(this.run, id, this.#slices);
  }

  /** Creates the history of the handlers of the plan, which are at the place of the plan. */
  ofHandlers(): PlacedHistory {
    return new PlacedHistory(this.run, this.place, this.#slices, HANDLERS_ID);
  }

  /**
   * Creates the history of a pipeline that an attempt runs, after `call` others.
   * @param fingerprint of the pipeline and what it is given: facts of another one are dropped
   */
  ofNested(
    { task_id: task, item_index: item, attempt }: Pick<ToolContext, 'task_id' | 'item_index' | 'attempt'>,
    call: number,
    fingerprint: string,
  ): PlacedHistory {
    const place = `${attemptPrefix(this.place, task, item ?? -1, attempt)}${call}`;
    const { past, replay } = this.run;
    const isKnown = past.facts.nested.get(place)?.fingerprint === fingerprint;
    if (isKnown) replay?.pass(nestedKey(place));
    else {
      replay?.drop(place);
      this.run.note({ kind: 'nested', place, fingerprint });
    }
    const exhausted = isKnown ? past.facts.exhausted.get(place) : undefined;
    return new PlacedHistory(this.run, place, new SliceHistory(this.run, place, exhausted));
  }

  /** Why a task could not begin in the process before; undefined when it could, or nothing is replayed. */
  refusal(task: string): string | undefined {
    return this.replay === undefined ? undefined : this.run.past.facts.refusal(this.place, task);
  }

  /** The decision of the process before on a task: to skip it for a reason, or not (null); undefined when there was none. */
  skipDecision(task: string): string | null | undefined {
    return this.replay === undefined ? undefined : this.run.past.facts.skipDecision(this.place, task);
  }

  /** Why a task that has not begun before does not begin any more; undefined when it does. */
  get givenUp(): string | undefined {
    return this.replay?.isAtEnd === false ? undefined : this.run.givenUp;
  }

  /** Returns true when a pipeline was at work inside an attempt. @param attempt from 1 */
  hasNested(task: string, item: number | undefined, attempt: number): boolean {
    for (const _ of this.#nestedPlaces(task, item, attempt)) return true;
    return false;
  }

  /** Call when the attempt has ended: what happened inside it before is not replayed any more. */
  dropNested(task: string, item: number | undefined, attempt: number): void {
    const { replay } = this;
    if (replay === undefined) return;
    for (const place of this.#nestedPlaces(task, item, attempt)) replay.drop(place);
  }

  /** The places of the pipelines that an attempt was running when the process ended. */
  #nestedPlaces(task: string, item: number | undefined, attempt: number): Iterable<string> {
    return this.run.past.facts.nested.ofAttempt(attemptPrefix(this.place, task, item ?? -1, attempt));
  }

  /** Waits for the end of the replay, unless the same attempt is known to have run another pipeline after this one. */
  get replayedIfLast(): Promise<void> | undefined {
    const call = this.place.lastIndexOf('.') + 1;
    const next = `${this.place.slice(0, call)}${Number(this.place.slice(call)) + 1}`;
    return this.run.past.facts.nested.get(next) === undefined ? this.replay?.over : undefined;
  }

  /** A budget that is used up, while facts are replayed, when it was before: so the machines start the same tasks. */
  createBudget(budget: EventLoopBudget): EventLoopBudget {
    const slices = this.#slices;
    return { exhausted: () => slices.isExhausted(budget), defer: (next) => slices.defer(budget, next) };
  }
}
