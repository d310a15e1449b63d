import { stripVTControlCharacters } from 'node:util';
import { errorCode } from '../../common/errors.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { SubmissionOptions } from '../../runs/registry.js';
import type { CliContext, RegistryApi } from '../context.js';
import { EXIT, type ExitStatus, exitStatusForRun } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { reportUncaughtToolErrors, type StopSignals } from '../process-events.js';
import { type Display, openDisplay } from '../progress/display.js';
import type { RunView } from '../progress/run-view.js';
import { printRunEnd } from '../render/outputs.js';
import { describeCurrentWaves } from '../render/run-summary.js';
import { captureStdout, drain } from '../render/stdout.js';
import { detectTerminal, type Terminal } from '../render/terminal.js';
import { escapeControlCharacters, wrapLine } from '../render/text.js';
import { EventFile } from './event-file.js';
import type { RunFlags } from './run-flags.js';

/** A run of a pipeline or a plan, ready to be submitted, and how the terminal displays it. */
export interface DisplayedRun {
  /** Resolves with the run id. */
  readonly submit: (registry: RegistryApi, options: SubmissionOptions) => Promise<string>;
  /** Several sub-pipelines, and so several waves, may run at once (D45). */
  readonly hasParallelWaves: boolean;
  /** The files that it was read from, which `--events` must not overwrite. */
  readonly filesRead: readonly string[];
  readonly createView: () => RunView;
  /** Describes a run that failed or was cancelled. */
  readonly formatFailures: (record: RunRecord, terminal: Terminal) => string[];
}

/** The receivers of a run's events. */
interface RunListeners {
  readonly display: Display;
  readonly eventFile: EventFile | undefined;
}

/**
 * Executes a run, displays its progress and prints its result. Returns the exit status of the run (D40).
 *
 * @param signals cancel the run, also when they came before it began
 */
export async function executeRun(
  run: DisplayedRun,
  flags: RunFlags,
  fileRoots: readonly string[],
  signals: StopSignals,
  context: CliContext,
): Promise<ExitStatus> {
  const eventFile =
    flags.events === undefined ? undefined : await EventFile.open(flags.events, run.filesRead, context.cwd);
  const registry = await context.openRegistry(fileRoots, context.clock);
  const display = openDisplay(flags, run.createView, context);
  // Stops after the outputs are printed: otherwise a late error of a tool would end the process and truncate them.
  const stopReporting = reportUncaughtToolErrors(context.processEvents, (line) => display.print(line));
  try {
    const record = await submitAndWait(registry, run, { display, eventFile }, signals, context);
    const { canRedraw } = detectTerminal(context.stderr, context.env);
    const showSummary = flags.verbose || (canRedraw && !flags.json && !flags.quiet);
    printRunEnd(record, { json: flags.json, showSummary, formatFailures: run.formatFailures }, context);
    await drain(context.stdout);
    const eventsStatus = await closeEventFile(eventFile, context);
    const runStatus = exitStatusForRun(record.status);
    return runStatus === EXIT.done ? eventsStatus : runStatus;
  } finally {
    stopReporting();
    await eventFile?.close();
  }
}

/** Submits a run, waits until it settles or a second signal stops it, and forgets it (law L2). */
async function submitAndWait(
  registry: RegistryApi,
  { submit, hasParallelWaves }: DisplayedRun,
  listeners: RunListeners,
  signals: StopSignals,
  context: CliContext,
): Promise<RunRecord> {
  const { display } = listeners;
  const releaseStdout = captureStdout(context.stdout, (line) =>
    display.print(escapeControlCharacters(stripVTControlCharacters(line))),
  );
  try {
    const runId = await submit(registry, { onEvent: createEventListener(listeners) });
    const print = (text: string): void => {
      for (const line of wrapLine(text, detectTerminal(context.stderr, context.env))) display.print(line);
    };
    const stopped = cancelOnSignal(signals, registry, runId, hasParallelWaves, print);
    const record = await Promise.race([registry.settled(runId), stopped]);
    registry.forget(runId);
    return record;
  } finally {
    releaseStdout();
    display.close();
  }
}

/** Without a listener the run creates no events. */
function createEventListener({ display, eventFile }: RunListeners): ((event: LiveEvent) => void) | undefined {
  if (eventFile === undefined && !display.wantsEvents) return undefined;
  return (event) => {
    eventFile?.write(event);
    display.onEvent(event);
  };
}

/**
 * Cancels a run on Ctrl-C or SIGTERM: the first signal cancels it cooperatively (rule 12), the second one also stops
 * the tools in flight and does not wait for them (D21, D40).
 *
 * @returns the record of a run that the second signal stopped; otherwise never resolves
 */
async function cancelOnSignal(
  signals: StopSignals,
  registry: RegistryApi,
  runId: string,
  hasParallelWaves: boolean,
  print: (text: string) => void,
): Promise<RunRecord> {
  await signals.first;
  print(`cancelling: ${describeCurrentWaves(hasParallelWaves)} first; Ctrl-C again stops at once`);
  void cancelUnlessSettled(registry, runId, false);
  await signals.second;
  print('stopping at once');
  const record = await cancelUnlessSettled(registry, runId, true);
  return record ?? new Promise(() => undefined);
}

/** Returns undefined for a run that has settled in the meantime: it keeps its status. */
async function cancelUnlessSettled(
  registry: RegistryApi,
  runId: string,
  force: boolean,
): Promise<RunRecord | undefined> {
  try {
    return await registry.cancel(runId, { force });
  } catch (error) {
    if (errorCode(error) === 'run_already_terminal') return undefined;
    throw error;
  }
}

async function closeEventFile(eventFile: EventFile | undefined, { stderr }: CliContext): Promise<ExitStatus> {
  const problem = await eventFile?.close();
  if (problem === undefined) return EXIT.done;
  stderr.write(`${PROGRAM}: ${problem}\n`);
  return EXIT.failed;
}
