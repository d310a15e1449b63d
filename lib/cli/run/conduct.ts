import { stripVTControlCharacters } from 'node:util';
import type { LiveEvent } from '../../execution/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { Submission } from '../../runs/registry-options.js';
import type { CliContext } from '../context.js';
import { printable } from '../printable.js';
import type { Display } from '../progress/display.js';
import type { RunDoor } from '../services.js';
import { terminalOf } from '../terminal.js';
import { screenLines } from '../wrap.js';
import { divertWrites } from './diversion.js';
import type { EventFile } from './event-file.js';
import { type InterruptedRun, Interrupts } from './interrupts.js';

/** A run before it has begun. */
export interface Conducted {
  readonly submit: Submit;
  /** Waves of several sub-pipelines may be at work at once (D45). */
  readonly hasSeveralWaves: boolean;
}

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
  { submit, hasSeveralWaves }: Conducted,
  audience: Audience,
  context: CliContext,
): Promise<RunRecord> {
  const { display } = audience;
  const restore = divertWrites(context.stdout, (line) =>
    display.say(printable(stripVTControlCharacters(line))),
  );
  try {
    const runId = await submit(registry, { onEvent: listenerOf(audience) });
    const record = await settledOrStopped(registry, { runId, hasSeveralWaves }, display, context);
    registry.forget(runId);
    return record;
  } finally {
    restore();
    display.close();
  }
}

async function settledOrStopped(
  registry: RunDoor,
  run: InterruptedRun,
  display: Display,
  { processEvents, stderr, env }: CliContext,
): Promise<RunRecord> {
  const say = (words: string): void => {
    for (const line of screenLines(words, terminalOf(stderr, env))) display.say(line);
  };
  const interrupts = new Interrupts(registry, run, processEvents, say);
  try {
    return await Promise.race([registry.settled(run.runId), interrupts.stopped]);
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
