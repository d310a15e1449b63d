import { stripVTControlCharacters } from 'node:util';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { Submission } from '../../runs/registry-options.js';
import type { CliContext, RunDoor } from '../context.js';
import { EXIT, type ExitStatus, statusOfRun } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { type Display, openDisplay } from '../progress/open-display.js';
import type { Picture } from '../progress/run-view.js';
import { tellEnd } from '../render/outputs.js';
import { drained } from '../render/stdout.js';
import { type Style, type Terminal, terminalOf } from '../render/terminal.js';
import { printable, screenLines } from '../render/text.js';
import { divertWrites, tellStrays } from '../render/tool-output.js';
import { type InterruptedRun, Interrupts } from './cancel-on-signal.js';
import { EventFile } from './event-file.js';
import type { RunFlags } from './options.js';

/** One run, of a pipeline or of a plan, and how it is shown. */
export interface ShownRun extends Conducted {
  readonly definitionFiles: readonly string[];
  readonly picture: () => Picture;
  /** What there is to say about a run that did not succeed. */
  readonly failures: (record: RunRecord, style: Style, terminal: Terminal) => string[];
}

/** Runs it, shows how it goes, and tells how it ended. */
export async function perform(
  shown: ShownRun,
  flags: RunFlags,
  fileRoots: readonly string[],
  context: CliContext,
): Promise<ExitStatus> {
  const { picture, failures } = shown;
  const eventFile =
    flags.events === undefined
      ? undefined
      : await EventFile.open(flags.events, shown.definitionFiles, context);
  const registry = await context.services.registry(fileRoots, context.clock);
  const display = openDisplay(flags, picture, context);
  // Until everything is printed: what a tool left behind must not cut the outputs off.
  const silence = tellStrays(context.processEvents, (line) => display.say(line));
  try {
    const record = await conduct(registry, shown, { display, eventFile }, context);
    tellEnd(record, failures, flags, context);
    await drained(context.stdout);
    return worse(statusOfRun(record.status), await closeEvents(eventFile, context));
  } finally {
    silence();
    await eventFile?.close();
  }
}

async function closeEvents(eventFile: EventFile | undefined, { stderr }: CliContext): Promise<ExitStatus> {
  const failure = await eventFile?.close();
  if (failure === undefined) return EXIT.done;
  stderr.write(`${PROGRAM}: ${failure}\n`);
  return EXIT.failed;
}

function worse(run: ExitStatus, events: ExitStatus): ExitStatus {
  return run === EXIT.done ? events : run;
}

/** A run before it has begun. */
interface Conducted {
  readonly submit: Submit;
  /** Waves of several sub-pipelines may be at work at once (D45). */
  readonly hasSeveralWaves: boolean;
}

/** Those who hear of a run's events; without any, none are made. */
interface Audience {
  readonly display: Display;
  readonly eventFile: EventFile | undefined;
}

/** Hands a run to the registry and answers its id. */
export type Submit = (registry: RunDoor, submission: Submission) => Promise<string>;

/** Submits a run, waits until it has settled or was stopped, and lets go of it: submit, await settled, forget (law L2). */
async function conduct(
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
