import type { AnyActorRef, InspectionEvent } from 'xstate';
import { walkActors } from '../../../machines/logic.js';
import type { Clock } from '../../common/clock.js';
import type { Json } from '../../common/json/json.js';
import type { AnyRun } from '../../execution/local-executor.js';
import { summarize } from './summarize.js';

/** The version of `@statelyai/inspect` whose messages these are. Its receivers ignore messages without a version. */
const FORMAT_VERSION = '0.7.2';

/** The viewer shows no more actors at once; what happens to further ones is left out. */
const MAX_ACTORS = 2000;

/** Maximum size of a snapshot, and of an event, as JSON text in characters, about. */
const MAX_SNAPSHOT_LENGTH = 4000;
const MAX_EVENT_LENGTH = 2000;
const MAX_DEFINITION_LENGTH = 100_000;

interface Message {
  /** Milliseconds since 1970, as text. */
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
  readonly rootId: string;
  readonly sessionId: string;
}

/** A message in the format of `@statelyai/inspect`, whose names these are. */
export type StatelyMessage =
  | (Message & {
      readonly type: '@xstate.actor';
      readonly name: string;
      readonly parentId: string | undefined;
      /** The configuration of the machine, as JSON text; of a hand-written logic only its name. */
      readonly definition: string;
      readonly snapshot: Json;
    })
  | (Message & {
      readonly type: '@xstate.event';
      readonly event: Json;
      readonly sourceId: string | undefined;
    })
  | (Message & { readonly type: '@xstate.snapshot'; readonly event: Json; readonly snapshot: Json });

/**
 * Informs the official Stately inspector about the actors of a run, from now until it is closed. Nothing costs anything
 * before it is created.
 *
 * The package's own `createInspector` writes every context whole, which is quadratic for a wide run, and does so later
 * than the event, so these messages are written here: their values are cut, and each is of the moment of its event. The
 * machines hold ids, statuses and messages of errors, in which secrets are replaced already (D61).
 */
export class StatelyFeed {
  readonly #root: AnyActorRef;
  readonly #clock: Clock;
  readonly #send: (message: StatelyMessage) => void;
  readonly #subscription: { unsubscribe(): void };
  /** Session ids of the actors that the viewer knows. */
  readonly #known = new Set<string>();
  /** By logic: all runs of a plan share theirs. */
  readonly #definitions = new Map<unknown, string>();
  readonly #onClose: () => void;
  #isClosed = false;

  /** @param send must not throw @param onClose is called when the actors are not needed any more, perhaps several times */
  constructor(
    { actor }: Pick<AnyRun, 'actor'>,
    clock: Clock,
    send: (message: StatelyMessage) => void,
    onClose: () => void,
  ) {
    this.#onClose = onClose;
    this.#root = actor;
    this.#clock = clock;
    this.#send = send;
    this.#subscription = actor.system.inspect((event: InspectionEvent) => this.#onInspection(event));
  }

  /** Reports the actors that exist already, one in each step; parents come before their children. */
  *announce(): Generator<undefined, void, unknown> {
    for (const actor of walkActors(this.#root)) {
      if (this.#isClosed || this.isFull) return;
      this.#introduce(actor);
      yield;
    }
  }

  get isFull(): boolean {
    return this.#known.size >= MAX_ACTORS;
  }

  close(): void {
    this.#isClosed = true;
    this.#subscription.unsubscribe();
    this.#onClose();
  }

  #onInspection(inspected: InspectionEvent): void {
    if (this.#isClosed) return;
    // XState declares less of the actor than there is.
    const actor = inspected.actorRef as AnyActorRef;
    if (!this.#introduce(actor) || inspected.type === '@xstate.actor') return;
    if (inspected.type === '@xstate.event') {
      const { event, sourceRef } = inspected;
      this.#send({
        ...this.#head(actor),
        type: '@xstate.event',
        event: summarize(event, MAX_EVENT_LENGTH),
        sourceId: sourceRef?.sessionId,
      });
    } else if (inspected.type === '@xstate.snapshot') {
      this.#send({
        ...this.#head(actor),
        type: '@xstate.snapshot',
        event: summarize(inspected.event, MAX_EVENT_LENGTH),
        snapshot: summarize(inspected.snapshot, MAX_SNAPSHOT_LENGTH),
      });
    }
  }

  /** Reports an actor, and its parents first, unless the viewer knows them. Returns false when there are too many. */
  #introduce(actor: AnyActorRef): boolean {
    if (this.#known.has(actor.sessionId)) return true;
    // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for the parent
    const parent = actor._parent;
    if (parent !== undefined && !this.#introduce(parent)) return false;
    if (this.isFull) return false;
    this.#known.add(actor.sessionId);
    this.#send({
      ...this.#head(actor),
      type: '@xstate.actor',
      name: nameOf(actor),
      parentId: parent?.sessionId,
      definition: this.#describe(actor),
      snapshot: summarize(actor.getSnapshot(), MAX_SNAPSHOT_LENGTH),
    });
    return true;
  }

  #head({ sessionId }: AnyActorRef): Message {
    const createdAt = String(this.#clock.now());
    return { createdAt, id: null, _version: FORMAT_VERSION, rootId: this.#root.sessionId, sessionId };
  }

  #describe(actor: AnyActorRef): string {
    const { logic } = actor as AnyActorRef & { readonly logic?: { readonly config?: unknown } };
    let definition = this.#definitions.get(logic);
    if (definition === undefined) {
      const config = logic?.config ?? { id: typeof actor.src === 'string' ? actor.src : actor.id };
      definition = JSON.stringify(summarize(config, MAX_DEFINITION_LENGTH));
      this.#definitions.set(logic, definition);
    }
    return definition;
  }
}

/** The root has an id that XState made up. */
function nameOf(actor: AnyActorRef): string {
  const { logic } = actor as AnyActorRef & { readonly logic?: { readonly id?: unknown } };
  return actor.id === actor.sessionId && typeof logic?.id === 'string' ? logic.id : actor.id;
}
