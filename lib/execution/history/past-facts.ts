import type { Steps } from '../../common/steps.js';
import type { LiveEvent } from '../events/event.js';
import type { PublishedFile } from '../invocation/artifact-store.js';
import type { Fact, NestedBegun } from './fact.js';

/** So many facts are looked through in less than a millisecond. */
const FACTS_PER_STEP = 500;

/** What has happened in a run before, in order: there may be a million facts. */
export class PastFacts {
  #events: LiveEvent[] = [];
  readonly #files: PublishedFile[] = [];
  /** All others. */
  #facts: Fact[] = [];
  /** The pipelines inside attempts that have not ended: the last one that began at each place. */
  readonly #nested = new Map<string, NestedBegun>();
  /** How often the machines of a place had asked whether their slice is used up when it was. */
  readonly #exhausted = new Map<string, Set<number>>();
  #hasBegun = false;
  #latest: Fact | undefined;

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
    this.#latest = fact;
    switch (fact.kind) {
      case 'event':
        this.#events.push(fact.event);
        return;
      case 'files':
        this.#files.push(...fact.files);
        return;
      case 'settled':
        return;
      case 'begun':
        this.#hasBegun ||= fact.place === '';
        break;
      case 'nested':
        this.#endNested(`${fact.place}/`);
        this.#exhausted.delete(fact.place);
        this.#nested.set(fact.place, fact);
        break;
      case 'exhausted': {
        const counts = this.#exhausted.get(fact.place) ?? new Set();
        this.#exhausted.set(fact.place, counts.add(fact.count));
        return;
      }
      case 'succeeded':
      case 'failed':
      case 'retry':
        this.#endNested(attemptPrefix(fact.place, fact.task, fact.item, fact.attempts));
        break;
      default:
    }
    this.#facts.push(fact);
  }

  #endNested(prefix: string): void {
    for (const place of this.#nested.keys()) if (place.startsWith(prefix)) this.#nested.delete(place);
  }

  get isEmpty(): boolean {
    return this.#latest === undefined;
  }

  /** When the last fact was noted, in milliseconds since 1970; undefined when there is none. */
  get latestAt(): number | undefined {
    return this.#latest?.at;
  }

  /** When the run settled; undefined when it has not. */
  get settledAt(): number | undefined {
    return this.#latest?.kind === 'settled' ? this.#latest.at : undefined;
  }

  /** Whether the submitted run has left the queue. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The events that were written, in order. */
  get events(): readonly LiveEvent[] {
    return this.#events;
  }

  /** The files that were published. */
  get files(): readonly PublishedFile[] {
    return this.#files;
  }

  /** The pipelines inside attempts that were at work, by their places. */
  get nested(): ReadonlyMap<string, NestedBegun> {
    return this.#nested;
  }

  /** How often the machines of a place had asked whether their slice is used up when it was. */
  get exhausted(): ReadonlyMap<string, ReadonlySet<number>> {
    return this.#exhausted;
  }

  /** What the machines are given again. What happened inside an attempt is over with it, and its outcome is a fact. */
  get needed(): readonly Fact[] {
    return this.#facts.filter((fact) => {
      if (!('place' in fact) || !fact.place.includes('#')) return true;
      const begun = this.#nested.get(fact.place);
      return begun !== undefined && fact.at >= begun.at;
    });
  }

  /** Call when the run was rebuilt: a long one takes much memory. */
  release(): void {
    this.#facts = [];
    this.#events = [];
  }
}

/** Begins the places of the pipelines that an attempt runs. @param item -1 for a task that calls its tool once */
export function attemptPrefix(place: string, task: string, item: number, attempt: number): string {
  return `${place === '' ? '' : `${place}/`}${task}${item === -1 ? '' : `[${item}]`}#${attempt}.`;
}
