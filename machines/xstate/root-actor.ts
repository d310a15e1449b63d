import type { ActorRef, AnyActorRef, AnyMachineSnapshot, EventObject, InspectionEvent } from 'xstate';
import type { PortBinding } from '../ports.js';
import { createEndedActor, detachSnapshot } from './ended.js';

/** The root actor of a run while it works, and its last snapshot once it has ended. */
export class RootActor<S extends AnyMachineSnapshot, E extends EventObject> {
  /** Undefined once the actor has ended. */
  #actor: ActorRef<S, E> | undefined;
  #lastSnapshot: S | undefined;

  /** Binds the ports and starts the actor. @param onEnd is called with the bug that has crashed it; undefined when none has */
  start<P extends object>(
    actor: ActorRef<S, E>,
    binding: PortBinding<P>,
    ports: P,
    onEnd: (fault: unknown) => void,
  ): void {
    this.#actor = actor;
    binding.bind(actor, ports);
    const complete = (): void => {
      // The parts that only the actor needs, such as its mailbox and its system, take more memory than its snapshot.
      this.#lastSnapshot = detachSnapshot(actor.getSnapshot());
      this.#actor = undefined;
      binding.release(actor);
      onEnd(undefined);
    };
    // Without an error observer, an error of the root actor would end the process.
    actor.subscribe({ complete, error: onEnd });
    actor.start();
  }

  get snapshot(): S {
    return this.#lastSnapshot ?? (this.#actor?.getSnapshot() as S);
  }

  /** The actor; once it has ended, an actor that has ended with the same snapshot. */
  get ref(): ActorRef<S, E> {
    return this.#actor ?? createEndedActor(this.snapshot);
  }

  /**
   * Passes the inspection events of all actors to an observer, which must not throw. Costs nothing before. Returns the
   * actor, and a function that detaches the observer; undefined when the actor has ended.
   */
  inspect(
    observer: (event: InspectionEvent) => void,
  ): { readonly root: AnyActorRef; readonly detach: () => void } | undefined {
    const root = this.#actor;
    if (root === undefined) return undefined;
    const subscription = root.system.inspect(observer);
    return { root, detach: () => subscription.unsubscribe() };
  }

  send(event: E): void {
    this.#actor?.send(event);
  }

  stop(): void {
    this.#actor?.stop();
  }
}
