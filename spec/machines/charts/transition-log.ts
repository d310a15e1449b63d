import type { AnyActor, InspectionEvent } from 'xstate';

/** Writes down the transitions of actors as XState's inspection shows them, such as `wave: idle --wave.begin--> settling`. */
export class TransitionLog {
  readonly #sources: readonly string[];
  readonly #seen = new Set<string>();
  readonly #states = new Map<string, string>();

  /** @param sources the `src` of the actors whose transitions count */
  constructor(sources: readonly string[]) {
    this.#sources = sources;
  }

  get transitions(): string[] {
    return [...this.#seen];
  }

  readonly inspect = (inspected: InspectionEvent): void => {
    if (inspected.type !== '@xstate.snapshot') return;
    const { src, sessionId } = inspected.actorRef as AnyActor;
    if (typeof src !== 'string' || !this.#sources.includes(src)) return;
    const { value } = inspected.snapshot as unknown as { readonly value: string };
    const from = this.#states.get(sessionId) ?? '(none)';
    this.#states.set(sessionId, value);
    this.#seen.add(`${src}: ${from} --${inspected.event.type}--> ${value}`);
  };
}
