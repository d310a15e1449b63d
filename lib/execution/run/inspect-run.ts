import type { AnyActorRef, InspectionEvent, Snapshot } from 'xstate';
import { walkActors } from '../../../machines/logic.js';
import { warnListenerRemoved } from '../../common/warnings.js';
import type { LocalExecutor } from '../local-executor.js';

/** Receives the events of an inspection. */
export interface InspectionObserver {
  readonly next?: ((event: InspectionEvent) => void) | undefined;
  /** Called when the run has ended, after its last event. */
  readonly complete?: (() => void) | undefined;
}

/** The inspection events of one run, as `createActor(machine, { inspect })` passes them on. */
export interface InspectedEvents extends AsyncIterable<InspectionEvent> {
  /**
   * Attaches an observer. It first receives `@xstate.actor` and `@xstate.snapshot` for every actor that exists, parents
   * first, and then each event when it happens. One that throws is removed, with a warning.
   */
  subscribe(observer: InspectionObserver | ((event: InspectionEvent) => void)): { unsubscribe(): void };
}

/**
 * Gives XState's own inspection events of a run at work, so that tools for XState can attach to it. Costs nothing until
 * somebody subscribes. Values are as the actors have them: a secret is masked in outputs and errors (D61). A run that has
 * ended gives its end, and no event.
 *
 * An iteration keeps the events that its reader has not taken: take them quickly, or subscribe.
 *
 * @throws WavetrainError `run_not_found`
 */
export function inspectRun(executor: Pick<LocalExecutor, 'getRun'>, runId: string): InspectedEvents {
  const run = executor.getRun(runId);
  const subscribe: InspectedEvents['subscribe'] = (receiver) => {
    const observer = typeof receiver === 'function' ? { next: receiver } : receiver;
    let isOpen = true;
    const end = (): void => {
      isOpen = false;
      attached?.detach();
    };
    const call = (notify: () => void): void => {
      try {
        if (isOpen) notify();
      } catch (thrown) {
        end();
        warnListenerRemoved(`an inspector of run ${runId}`, thrown);
      }
    };
    const attached = run.inspect((event) => call(() => observer.next?.(event)));
    if (attached !== undefined) {
      for (const event of describeActors(attached.root)) call(() => observer.next?.(event));
    }
    void run.settled.then(() => {
      call(() => observer.complete?.());
      end();
    });
    return { unsubscribe: end };
  };
  return { subscribe, [Symbol.asyncIterator]: () => iterate(subscribe) };
}

/** The events that an inspector would have received when the actors started. */
function* describeActors(root: AnyActorRef): Generator<InspectionEvent, void, undefined> {
  const rootId = root.sessionId;
  for (const actorRef of walkActors(root)) {
    const snapshot: Snapshot<unknown> = actorRef.getSnapshot();
    if (snapshot.status !== 'active') continue;
    yield { type: '@xstate.actor', actorRef, rootId };
    yield { type: '@xstate.snapshot', actorRef, rootId, event: { type: 'xstate.init' }, snapshot };
  }
}

async function* iterate(
  subscribe: InspectedEvents['subscribe'],
): AsyncGenerator<InspectionEvent, void, undefined> {
  const received = { events: [] as InspectionEvent[], isComplete: false };
  let wake = (): void => {};
  const subscription = subscribe({
    next: (event) => {
      received.events.push(event);
      wake();
    },
    complete: () => {
      received.isComplete = true;
      wake();
    },
  });
  try {
    while (!received.isComplete || received.events.length > 0) {
      if (received.events.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const { events } = received;
      received.events = [];
      yield* events;
    }
  } finally {
    subscription.unsubscribe();
  }
}
