import { stripVTControlCharacters } from 'node:util';
import type { LiveEvent } from '../../execution/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { Submission } from '../../runs/registry-options.js';
import type { CliContext, ProcessEvents } from '../context.js';
import { printable } from '../printable.js';
import type { Display } from '../progress/display.js';
import type { RunDoor } from '../services.js';
import { divertWrites } from './diversion.js';
import type { EventFile } from './event-file.js';
import { Interrupts } from './interrupts.js';

/** Those who hear of a run's events; without any, none are made. */
export interface Audience {
  readonly display: Display;
  readonly eventFile: EventFile | undefined;
}

/** Hands a run to the registry and answers its id. */
export type Submit = (registry: RunDoor, submission: Submission) => Promise<string>;

/** Submits a run, waits until it has settled or was stopped, and lets go of it: submit, await settled, forget (law L2). */
export async function conduct(
  registry: RunDoor,
  submit: Submit,
  audience: Audience,
  { processEvents, stdout }: CliContext,
): Promise<RunRecord> {
  const { display } = audience;
  const restore = divertWrites(stdout, (line) => display.say(printable(stripVTControlCharacters(line))));
  try {
    const runId = await submit(registry, { onEvent: listenerOf(audience) });
    const record = await settledOrStopped(registry, runId, display, processEvents);
    registry.forget(runId);
    return record;
  } finally {
    restore();
    display.close();
  }
}

async function settledOrStopped(
  registry: RunDoor,
  runId: string,
  display: Display,
  events: ProcessEvents,
): Promise<RunRecord> {
  const interrupts = new Interrupts(registry, runId, events, (line) => display.say(line));
  try {
    return await Promise.race([registry.settled(runId), interrupts.stopped]);
  } finally {
    interrupts.close();
  }
}

function listenerOf({ display, eventFile }: Audience): ((event: LiveEvent) => void) | undefined {
  if (eventFile === undefined && !display.listens) return undefined;
  return (event) => {
    eventFile?.write(event);
    display.event(event);
  };
}
