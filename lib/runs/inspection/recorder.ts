import type { AnyActorRef, EventObject, InspectionEvent } from 'xstate';
import { walkActors } from '../../../machines/logic.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { toIsoTime } from '../../common/clock.js';
import { type ActorView, readEventData, viewSnapshot } from './cut-snapshot.js';
import { ATTACHED, CREATED, type InspectionEntry } from './entry.js';
import type { SettledActor, SettledActors } from './settled-actors.js';
import { idOfFirstTransition, idOfLogicTransition, idOfTransition } from './transition-id.js';

/** XState's names for the event that starts an actor, and for the one by which a parent learns that an actor has crashed. */
const START = 'xstate.init';
const CRASH = /^xstate\.error\.actor\./;

/** An actor that has not ended. */
interface KnownActor {
  readonly path: string;
  readonly src: string;
  /** The state after its last event; null before the first. */
  state: string | null;
  /** Events that the actor has received and not handled yet, in this order. */
  readonly received: Draft[];
  /** Of a machine: the transition that it has taken by the event that it handles. */
  transition: string | null;
}

/** An event that was sent to an actor, from then until the actor has handled it. */
interface Draft {
  readonly time: string;
  readonly event: EventObject;
  readonly source: string | null;
  /** Set when the event was handled, or never will be. */
  result?: Omit<InspectionEntry, 'seq'> | 'dropped';
  /** Set when the event has waited too long: others that came later were written before it. */
  isLate?: true;
}

/** Events that may be waited for before what came after them is written. */
const MAX_DRAFTS = 10_000;

const ACTORS_PER_STEP = 100;

interface RecorderOptions {
  /** The name of the root actor: `run` or `plan`. */
  readonly rootName: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Replaces secrets (D61). */
  readonly mask: (text: string) => string;
  readonly write: (entry: Omit<InspectionEntry, 'seq'>) => void;
}

/**
 * Makes entries of the inspection events of XState. XState reports that an event is sent when it is sent, and the new
 * snapshot when everything that followed from it has happened: the entries are written in the order of the former.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  /** By session id. */
  readonly #known = new Map<string, KnownActor>();
  /** In the order in which the events were sent. */
  #drafts: Draft[] = [];
  #first = 0;
  /** Paths of the actors that have ended since recording began, until every actor has an entry. */
  #ended: Set<string> | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Receives every inspection event. Takes the same short time for every event. */
  receive(event: InspectionEvent): void {
    const actor = event.actorRef as AnyActorRef;
    if (event.type === '@xstate.event') this.#onSent(actor, event.event, event.sourceRef);
    else if (event.type === '@xstate.snapshot') this.#onHandled(actor, event.event);
    else if (event.type === '@xstate.microstep') {
      const known = this.#known.get(actor.sessionId);
      // oxlint-disable-next-line no-underscore-dangle -- the name that XState gives it
      const last = event._transitions.at(-1);
      if (known !== undefined && last !== undefined) known.transition = idOfTransition(last);
    }
  }

  /** Writes an entry for every actor that exists already and for those that have ended, parents first. */
  *attach(root: AnyActorRef, settled: SettledActors): Steps<void> {
    const ended = new Set<string>();
    this.#ended = ended;
    let count = 0;
    for (const actor of walkActors(root)) {
      if (actor.getSnapshot().status !== 'active') continue;
      this.#know(actor);
      if (++count % ACTORS_PER_STEP === 0) yield;
      for (const one of settled.below(actor, this.#pathOf(actor))) {
        // An actor that has settled meanwhile was recorded.
        if (one !== undefined && !ended.has(one.path)) this.#writeSettled(one);
        if (one === undefined || ++count % ACTORS_PER_STEP === 0) yield;
      }
    }
    this.#ended = undefined;
  }

  /** Writes an entry for every actor that has ended, of a run that has settled. */
  *conclude(settled: SettledActors): Steps<void> {
    let count = 0;
    for (const one of settled.ofSettledRun(this.#options.rootName)) {
      if (one !== undefined) this.#writeSettled(one);
      if (one === undefined || ++count % ACTORS_PER_STEP === 0) yield;
    }
  }

  /** Call when the run has ended: writes what is left. */
  finish(): void {
    for (const { received } of this.#known.values()) drop(received);
    this.#known.clear();
    this.#write();
  }

  #onSent(actor: AnyActorRef, event: EventObject, sender: unknown): void {
    const source = sender as AnyActorRef | undefined;
    if (source !== undefined && CRASH.test(event.type)) this.#onCrash(source);
    if (actor.getSnapshot().status !== 'active') return;
    if (event.type !== START) this.#know(actor);
    const known = this.#known.get(actor.sessionId) ?? this.#add(actor);
    const draft: Draft = { time: this.#time(), event, source: source ? this.#pathOf(source) : null };
    known.received.push(draft);
    this.#drafts.push(draft);
  }

  #onHandled(actor: AnyActorRef, event: EventObject): void {
    const known = this.#known.get(actor.sessionId) ?? this.#add(actor);
    const view = viewSnapshot(actor.getSnapshot(), this.#options.mask);
    const index = known.received.findIndex((draft) => draft.event === event);
    if (index !== -1) {
      drop(known.received.splice(0, index));
      this.#complete(known.received.shift(), known, view);
    } else if (event.type !== START) {
      // A parent stops its children without sending anything.
      // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for the parent
      const parent = actor._parent;
      this.#writeNow(
        { time: this.#time(), event, source: parent ? this.#pathOf(parent) : null },
        known,
        view,
      );
    }
    known.state = view.state;
    known.transition = null;
    if (view.status !== 'active') this.#forget(actor, known);
    this.#write();
  }

  /** XState reports nothing more of an actor that has thrown. */
  #onCrash(actor: AnyActorRef): void {
    const known = this.#known.get(actor.sessionId);
    if (known === undefined) return;
    this.#complete(known.received.shift(), known, viewSnapshot(actor.getSnapshot(), this.#options.mask));
    this.#forget(actor, known);
  }

  /** Writes that recording began later than the actor, unless it is known. */
  #know(actor: AnyActorRef): void {
    if (this.#known.has(actor.sessionId)) return;
    const known = this.#add(actor);
    const view = viewSnapshot(actor.getSnapshot(), this.#options.mask);
    this.#writeNow({ time: this.#time(), event: { type: ATTACHED }, source: null }, known, view);
    known.state = view.state;
    this.#write();
  }

  #writeSettled({ path, src, snapshot, data }: SettledActor): void {
    const view = viewSnapshot(snapshot, this.#options.mask);
    const event = { ...data, type: ATTACHED };
    const actor = { path, src, state: null, received: [], transition: null };
    this.#writeNow({ time: this.#time(), event, source: null }, actor, view);
    this.#write();
  }

  #add(actor: AnyActorRef): KnownActor {
    const { src } = actor;
    const known: KnownActor = {
      path: this.#pathOf(actor),
      src: typeof src === 'string' ? src : this.#options.rootName,
      state: null,
      received: [],
      transition: null,
    };
    this.#known.set(actor.sessionId, known);
    return known;
  }

  #forget(actor: AnyActorRef, { received, path }: KnownActor): void {
    drop(received);
    this.#ended?.add(path);
    this.#known.delete(actor.sessionId);
  }

  #pathOf(actor: AnyActorRef): string {
    const known = this.#known.get(actor.sessionId);
    if (known !== undefined) return known.path;
    // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for the parent
    const parent = actor._parent;
    return parent === undefined ? this.#options.rootName : `${this.#pathOf(parent)}/${actor.id}`;
  }

  #writeNow(draft: Draft, known: KnownActor, view: ActorView): void {
    this.#drafts.push(draft);
    this.#complete(draft, known, view);
  }

  #complete(draft: Draft | undefined, known: KnownActor, view: ActorView): void {
    if (draft === undefined) return;
    const { path, src, state } = known;
    const { time, event, source } = draft;
    const isStart = event.type === START;
    const result = {
      time,
      actor: path,
      src,
      event: isStart ? CREATED : event.type,
      data: isStart ? null : readEventData(event, this.#options.mask),
      source,
      from: state,
      transition: isStart
        ? idOfFirstTransition(src, view.state)
        : (known.transition ?? idOfLogicTransition(src, state, event.type, view.state)),
      ...view,
    };
    draft.result = result;
    if (draft.isLate) this.#options.write(result);
  }

  /** Writes what was handled, up to the first that was not. */
  #write(): void {
    const drafts = this.#drafts;
    for (; this.#first < drafts.length; this.#first++) {
      const draft = drafts[this.#first] as Draft;
      if (draft.result === undefined) {
        if (drafts.length - this.#first <= MAX_DRAFTS) break;
        draft.isLate = true;
      } else if (draft.result !== 'dropped') this.#options.write(draft.result);
    }
    if (this.#first < drafts.length && this.#first < MAX_DRAFTS) return;
    this.#drafts = drafts.slice(this.#first);
    this.#first = 0;
  }

  #time(): string {
    return toIsoTime(this.#options.now());
  }
}

function drop(drafts: readonly Draft[]): void {
  for (const draft of drafts) draft.result = 'dropped';
}
