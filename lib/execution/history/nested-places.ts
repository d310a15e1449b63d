import type { NestedBegun } from './fact.js';

/** Begins the places of the pipelines that an attempt runs. @param item -1 for a task that calls its tool once */
export function attemptPrefix(place: string, task: string, item: number, attempt: number): string {
  return `${place === '' ? '' : `${place}/`}${task}${item === -1 ? '' : `[${item}]`}#${attempt}.`;
}

/** Returns true for the place of a pipeline that an attempt runs, or of one in it. */
export function isInsideAttempt(place: string): boolean {
  return place.includes('#');
}

/** The outermost pipeline inside an attempt that a place belongs to; undefined for a place outside of attempts. */
export function outermostNested(place: string): string | undefined {
  const attempt = place.indexOf('#');
  if (attempt === -1) return undefined;
  const end = place.indexOf('/', attempt);
  return end === -1 ? place : place.slice(0, end);
}

/** The place itself and those around it, the innermost first. */
export function* enclosingPlaces(place: string): Iterable<string> {
  for (let end = place.length; end > 0; end = place.lastIndexOf('/', end - 1)) yield place.slice(0, end);
}

/** A pipeline inside an attempt that was at work. */
interface NestedPlace {
  readonly fingerprint: string;
  /** How many facts of the run there were before the pipeline began. */
  readonly position: number;
}

/** The pipelines inside attempts that were at work, by their places. A fan-out may have thousands. */
export class NestedPlaces {
  readonly #begun = new Map<string, NestedPlace>();
  /** The places of an attempt, by its prefix. */
  readonly #byAttempt = new Map<string, Set<string>>();
  /** The prefixes of the attempts inside a place that have run pipelines. */
  readonly #attemptsIn = new Map<string, Set<string>>();

  get(place: string): NestedPlace | undefined {
    return this.#begun.get(place);
  }

  /** The places of the pipelines that an attempt was running. @param prefix of the attempt */
  ofAttempt(prefix: string): Iterable<string> {
    return this.#byAttempt.get(prefix) ?? NONE;
  }

  /** Adds a pipeline that has begun: the facts of this place before belong to another call. */
  begin({ place, fingerprint }: NestedBegun, position: number): void {
    this.end(place);
    this.#begun.set(place, { fingerprint, position });
    const prefix = place.slice(0, place.lastIndexOf('.') + 1);
    addTo(this.#byAttempt, prefix, place);
    addTo(this.#attemptsIn, place.slice(0, Math.max(0, place.lastIndexOf('/'))), prefix);
  }

  /** Ends an attempt, with the pipelines that it has run. */
  endAttempt(prefix: string): void {
    for (const place of this.#byAttempt.get(prefix) ?? NONE) this.end(place);
  }

  clear(): void {
    for (const map of [this.#begun, this.#byAttempt, this.#attemptsIn]) map.clear();
  }

  /** Forgets the places of facts from a position on. */
  endFrom(from: number): void {
    for (const [place, { position }] of this.#begun) if (position >= from) this.end(place);
  }

  /** Forgets a place, and all inside of it. */
  end(place: string): void {
    for (const prefix of this.#attemptsIn.get(place) ?? NONE) this.endAttempt(prefix);
    this.#attemptsIn.delete(place);
    if (!this.#begun.delete(place)) return;
    const prefix = place.slice(0, place.lastIndexOf('.') + 1);
    deleteFrom(this.#byAttempt, prefix, place);
    if (this.#byAttempt.has(prefix)) return;
    deleteFrom(this.#attemptsIn, place.slice(0, Math.max(0, place.lastIndexOf('/'))), prefix);
  }
}

const NONE: ReadonlySet<string> = new Set();

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

function deleteFrom(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set?.delete(value) === true && set.size === 0) sets.delete(key);
}
