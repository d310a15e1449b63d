import type { HandlerLists } from '../../../machines/handlers.js';
import { type Actor, createActor, type InspectionEvent } from 'xstate';
import { runPorts } from '../../../machines/ports.js';
import { type RunBreakpoints, runMachine } from '../../../machines/run.js';
import { FakeRunPorts } from './fake-ports.js';

export interface StartedRunMachine {
  readonly actor: Actor<typeof runMachine>;
  readonly ports: FakeRunPorts;
}

/** Creates a run machine with ports that the spec controls, and begins it unless `begin` is false. */
export function startRunMachine(
  waves: readonly (readonly string[])[],
  options: {
    readonly begin?: boolean;
    readonly breakpoints?: RunBreakpoints;
    readonly handlers?: HandlerLists;
    readonly ports?: FakeRunPorts;
    readonly inspect?: (event: InspectionEvent) => void;
  } = {},
): StartedRunMachine {
  const ports = options.ports ?? new FakeRunPorts();
  const inspection = options.inspect === undefined ? {} : { inspect: options.inspect };
  const actor = createActor(runMachine, {
    input: { waves, breakpoints: options.breakpoints, handlers: options.handlers },
    ...inspection,
  });
  runPorts.bind(actor, ports);
  actor.start();
  if (options.begin ?? true) actor.send({ type: 'begin' });
  return { actor, ports };
}
