import { type Actor, createActor, type InspectionEvent } from 'xstate';
import { bindWork } from '../../../machines/work-binding.js';
import { runMachine } from '../../../machines/run.js';
import { FakeWork } from './fake-work.js';

export interface StartedRun {
  readonly actor: Actor<typeof runMachine>;
  readonly work: FakeWork;
}

/** A run machine over these waves, bound to work that the spec holds, and begun unless told otherwise. */
export function startedRun(
  waves: readonly (readonly string[])[],
  options: {
    readonly begin?: boolean;
    readonly work?: FakeWork;
    readonly inspect?: (event: InspectionEvent) => void;
  } = {},
): StartedRun {
  const work = options.work ?? new FakeWork();
  const inspection = options.inspect === undefined ? {} : { inspect: options.inspect };
  const actor = createActor(runMachine, { input: { waves }, ...inspection });
  bindWork(actor, work);
  actor.start();
  if (options.begin ?? true) actor.send({ type: 'begin' });
  return { actor, work };
}
