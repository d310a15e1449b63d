import type { Steps } from '../../common/scheduling/steps.js';
import type { RunStatus } from '../../../machines/types.js';
import type { LiveEvent } from '../events/event.js';
import { type CountedEvent, isCounted, type PastEvents } from '../events/journal.js';
import type { PublishedFile } from '../invocation/files/published-file.js';
import { type CallBegun, type Fact, measureNestedFact } from './fact.js';
import { attemptPrefix, enclosingPlaces, isInsideAttempt, NestedPlaces } from './nested-places.js';
import { PendingEvents } from './pending-events.js';
import { toKey } from './replay.js';

/** So many facts are looked through in less than a millisecond. */
const FACTS_PER_STEP = 500;

/** The facts of a run in earlier processes, in order: there may be a million. */
export class PastFacts implements PastEvents {
  /** The events that were written, in order. */
  events: LiveEvent[] = [];
  /** The events that are collected, or that say what models have used. */
  countedEvents: CountedEvent[] = [];
  /** The files that were published. */
  readonly files: PublishedFile[] = [];
  #pendingEvents = new PendingEvents();
  /** The facts that are replayed. */
  #facts: Fact[] = [];
  /** How many facts there were before each fact that is replayed. */
  #positions: number[] = [];
  #length = 0;
  /** The pipelines inside attempts that have not ended: the last one that began at each place. */
  readonly nested = new NestedPlaces();
  /** How often the machines of a place had asked whether their slice is used up when it was. */
  readonly exhausted = new Map<string, Positions<number>>();
  /** Why tasks could not begin, by their places. */
  readonly #refused = new Map<string, { readonly error: string; readonly position: number }>();
  /** Why tasks were skipped, by their places. */
  readonly #skipped = new Map<string, { readonly reason: string; readonly position: number }>();
  /** The places of tasks that other facts are about; undefined until somebody asks. */
  #begun: ReadonlySet<string> | undefined;
  /** Calls that were at work when a process ended, or must not be made twice, by their keys. */
  readonly #called = new Map<string, CallBegun>();
  #hasNested = false;
  /** When the submitted run left the queue, in milliseconds since 1970; undefined when it has not. */
  begunAt: number | undefined;
  /** True when somebody has cancelled the run. */
  isCancelled = false;
  /** True when somebody has cancelled the run by force: no call is made any more. */
  isForced = false;
  /** The places whose time was over: no call is made in them any more. */
  readonly #timedOut = new Set<string>();
  /** The places where handlers have begun: what stopped the tasks there does not stop them (D80). */
  readonly #handlers = new Map<string, BegunHandlers>();
  /** The latest time of a fact, in milliseconds since 1970; undefined when there is none. */
  latestAt: number | undefined;
  /** When the run settled; undefined when it has not. */
  settledAt: number | undefined;
  #crashes = 0;
  /** The crashes before the run last came further. */
  #overcomeCrashes = 0;
  /** True when a process has begun the run, or has gone on with it, and has not left it. */
  #isAtWork = false;

  static of(facts: Iterable<Fact>): PastFacts {
    const past = new PastFacts();
    for (const fact of facts) past.#add(fact);
    return past;
  }

  static *readInSteps(facts: readonly Fact[]): Steps<PastFacts> {
    const past = new PastFacts();
    for (const [at, fact] of facts.entries()) {
      past.#add(fact);
      if (at % FACTS_PER_STEP === FACTS_PER_STEP - 1) yield;
    }
    return past;
  }

  #add(fact: Fact): void {
    this.latestAt = Math.max(fact.at, this.latestAt ?? 0);
    this.settledAt = undefined;
    const position = this.#length++;
    switch (fact.kind) {
      case 'event':
        this.#addEvent(fact.event);
        return;
      case 'files':
        this.files.push(...fact.files);
        return;
      case 'settled':
        this.settledAt = fact.at;
        return;
      case 'restored':
        this.#crashes = this.crashes;
        this.#isAtWork = true;
        return;
      case 'left':
        this.#isAtWork = false;
        return;
      case 'diverged':
        this.#forgetFrom(fact.from);
        return;
      case 'refused':
        this.#refused.set(taskPlace(fact.place, fact.task), { error: fact.error, position });
        return;
      case 'task_skipped':
        this.#skipped.set(taskPlace(fact.place, fact.task), { reason: fact.reason, position });
        return;
      case 'exhausted': {
        const counts = this.exhausted.get(fact.place) ?? new Map<number, number>();
        this.exhausted.set(fact.place, counts.set(fact.count, position));
        return;
      }
      case 'begun':
        if (fact.place !== '') break;
        this.begunAt = fact.at;
        this.#isAtWork = true;
        break;
      case 'cancel':
        // A cancel that comes while a timeout aborts the run, or while its handlers run, changes nothing.
        if (!this.#timedOut.has('') && !this.#handlers.has('')) this.isCancelled = true;
        if (fact.force) {
          this.isForced = true;
          this.#stopHandlers('');
        }
        break;
      case 'handlers_begun':
        this.noteBegunHandlers(fact.place, fact.list, fact.status);
        return;
      case 'called': {
        const key = toKey(fact);
        // The fact of the first process in which the attempt was at work counts.
        if (this.#called.get(key)?.attempt !== fact.attempt) this.#called.set(key, fact);
        return;
      }
      case 'nested':
        this.#hasNested = true;
        this.exhausted.delete(fact.place);
        this.#timedOut.delete(fact.place);
        this.#handlers.delete(fact.place);
        this.nested.begin(fact, position);
        break;
      case 'succeeded':
      case 'failed':
      case 'skipped':
      case 'retry':
      case 'round':
        this.nested.endAttempt(attemptPrefix(fact.place, fact.task, fact.item, fact.attempts));
        this.#pendingEvents.endAttempt(fact);
        if (this.#called.size > 0) this.#called.delete(toKey(fact));
        this.#overcomeCrashes = this.#crashes;
        break;
      case 'published':
        this.#overcomeCrashes = this.#crashes;
        break;
      case 'timeout':
        this.addTimeout(fact.place);
        break;
      case 'due':
      case 'decided':
      case 'resume':
      case 'continued':
        break;
      default:
        fact satisfies never;
    }
    this.#facts.push(fact);
    this.#positions.push(position);
  }

  #addEvent(event: LiveEvent): void {
    this.events.push(event);
    this.#pendingEvents.add(event);
    if (isCounted(event)) this.countedEvents.push(event);
  }

  /** Forgets what pipelines had done from a position on. Requests to the run as a whole stay. */
  #forgetFrom(from: number): void {
    const positions = this.#positions;
    const stays = (fact: Fact, at: number): boolean => (positions[at] ?? 0) < from || !('place' in fact);
    this.#positions = positions.filter((_, at) => stays(this.#facts[at] as Fact, at));
    this.#facts = this.#facts.filter(stays);
    this.nested.endFrom(from);
    this.#begun = undefined;
    for (const places of [this.#refused, this.#skipped])
      for (const [place, { position }] of places) if (position >= from) places.delete(place);
    for (const counts of this.exhausted.values()) {
      for (const [count, position] of counts) if (position >= from) counts.delete(count);
    }
  }

  /** How many facts there were before one of those that are replayed. */
  positionOf(fact: Fact): number {
    return this.#positions[this.#facts.indexOf(fact)] ?? this.#length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** True when the submitted run has left the queue. */
  get hasBegun(): boolean {
    return this.begunAt !== undefined;
  }

  /** Call when the time of a run, a sub-pipeline or a pipeline inside a task is over. */
  addTimeout(place: string): void {
    if (!this.#handlers.has(place)) this.#timedOut.add(place);
    this.#stopHandlers(place);
  }

  /** Call when the handlers of a list begin at a place: the end of the time that its tasks had does not stop them. */
  noteBegunHandlers(place: string, list: string, status: RunStatus): void {
    this.#timedOut.delete(place);
    this.#handlers.set(place, { status, list, isStopped: false });
  }

  /** Stops the handlers at a place, and those of the pipelines inside it. */
  #stopHandlers(place: string): void {
    for (const [other, handlers] of this.#handlers) {
      if (place === '' || [...enclosingPlaces(other)].includes(place)) handlers.isStopped = true;
    }
  }

  /** The status with which handlers have begun at a place; undefined before they do. */
  handledStatus(place: string): RunStatus | undefined {
    return this.#handlers.get(place)?.status;
  }

  /** Returns true when the handlers of a list have begun at a place. */
  hasBegunHandlers(place: string, list: string): boolean {
    return this.#handlers.get(place)?.list === list;
  }

  /** True when no call is made at a place any more: the run was cancelled by force, or its time was over there. */
  isStopped(place: string): boolean {
    if (this.#handlers.size > 0) {
      const handlers = [...enclosingPlaces(place), ''].map((enclosing) => this.#handlers.get(enclosing));
      const innermost = handlers.find((found) => found !== undefined);
      if (innermost !== undefined) return innermost.isStopped || this.#timedOut.has(place);
    }
    if (this.isForced || this.#timedOut.has('')) return true;
    if (this.#timedOut.size === 0) return false;
    return [...enclosingPlaces(place)].some((enclosing) => this.#timedOut.has(enclosing));
  }

  /** The attempt of a call that a process had noted before it was made; undefined when it has ended, or there is none. */
  findCalled(key: string): CallBegun | undefined {
    return this.#called.get(key);
  }

  /** How often a process has crashed that was at work on the run. */
  get crashes(): number {
    return this.#crashes + (this.wasCrash ? 1 : 0);
  }

  /** True when the process that was at work last has crashed. */
  get wasCrash(): boolean {
    return this.#isAtWork && this.settledAt === undefined;
  }

  /** How often a process has crashed since the run has come further. */
  get crashesInVain(): number {
    return this.crashes - this.#overcomeCrashes;
  }

  /** Returns the events once: there may be very many. */
  takeEvents(): readonly LiveEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  /** The number of the last event; 0 when there is none. */
  get lastSeq(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  /** The events that are written again while the run is rebuilt, in order. */
  get pendingEvents(): readonly LiveEvent[] {
    return this.#pendingEvents.list();
  }

  /** Why a task could not begin; undefined when it could. */
  refusal(place: string, task: string): string | undefined {
    return this.#refused.get(taskPlace(place, task))?.error;
  }

  /** The reason for which a task was skipped, or null when it was not; undefined when no fact is about it. */
  skipDecision(place: string, task: string): string | null | undefined {
    const key = taskPlace(place, task);
    this.#begun ??= this.#listBegun();
    return this.#skipped.get(key)?.reason ?? (this.#begun.has(key) ? null : undefined);
  }

  #listBegun(): ReadonlySet<string> {
    const facts = [...this.#facts, ...this.#called.values()];
    return new Set(facts.flatMap((fact) => ('task' in fact ? taskPlace(fact.place, fact.task) : [])));
  }

  /** The facts that the machines are given again: none from inside ended attempts, whose outcomes are facts. */
  get needed(): readonly Fact[] {
    return this.#hasNested ? this.#facts.filter((fact, at) => this.#isNeeded(fact, at)) : this.#facts;
  }

  /** Memory of what happened inside attempts that are over: it is still on the disk. */
  get endedNestedBytes(): number {
    if (!this.#hasNested) return 0;
    return this.#facts.reduce(
      (sum, fact, at) => sum + (this.#isNeeded(fact, at) ? 0 : measureNestedFact(fact)),
      0,
    );
  }

  #isNeeded(fact: Fact, at: number): boolean {
    if (!('place' in fact) || !isInsideAttempt(fact.place)) return true;
    const begun = this.nested.get(fact.place);
    return begun !== undefined && (this.#positions[at] ?? 0) >= begun.position;
  }

  /** Call when the run was rebuilt: a long one takes much memory. */
  release(): void {
    this.#facts = [];
    this.#positions = [];
    this.#pendingEvents = new PendingEvents();
    this.countedEvents = [];
    this.exhausted.clear();
    this.#refused.clear();
    this.#skipped.clear();
    this.#begun = undefined;
    this.#called.clear();
    this.#timedOut.clear();
    this.#handlers.clear();
    this.nested.clear();
  }
}

/** The handlers at a place, of the list that began last. */
interface BegunHandlers {
  readonly status: RunStatus;
  readonly list: string;
  /** True when the time of the list was over, or the run was cancelled by force meanwhile. */
  isStopped: boolean;
}

/** Where facts are among those of the run, by what they say. */
type Positions<K> = Map<K, number>;

function taskPlace(place: string, task: string): string {
  return `${place} ${task}`;
}
