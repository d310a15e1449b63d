import { stripVTControlCharacters } from 'node:util';
import { errorCode, errorMessage } from '../../common/errors.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, exitStatusForRun } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { reportUncaughtToolErrors, type StopSignals } from '../process-events.js';
import { type Display, openDisplay } from '../progress/display.js';
import type { RunView } from '../progress/run-view.js';
import { describeCurrentWaves } from '../render/run-summary.js';
import { captureStdout, drain } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { escapeControlCharacters, wrapLine } from '../render/text.js';
import { BreakpointPrompt } from './breakpoint-prompt.js';
import { EventFile } from './event-file.js';
import { type InspectedRun, readRunEnd } from './inspect-run.js';
import { LiveInspector } from './live-inspector.js';
import { RecordingFile } from './recording-file.js';
import { printTransitions, wantsTransitions } from '../runs/inspection/transitions.js';
import { assertOutputName, type FormatFailures, printRunEnd, wantsDetails } from './print-run-end.js';
import type { RunBackend, StartOptions } from './run-backend.js';
import type { RunFlags } from './run-flags.js';
import { printWrittenFiles, type WrittenFiles } from './written-files.js';

/** A run of a pipeline or a plan, ready to be submitted, and how the terminal displays it. */
export interface DisplayedRun {
  readonly backend: RunBackend;
  /** Several sub-pipelines, and so several waves, may run at once (D45). */
  readonly hasParallelWaves: boolean;
  /** The files that it was read from, which `--events` must not overwrite. */
  readonly filesRead: readonly string[];
  readonly createView: () => RunView;
  /** Replaces the secrets that the run has used, in what tools print and throw outside of their tasks (D61). */
  readonly mask?: ((text: string) => string) | undefined;
  readonly formatFailures: FormatFailures;
  /** The folder of this machine for the files of the run; undefined when they stay on a server. */
  readonly outputFolder: string | undefined;
  /** It may pause at breakpoints. */
  readonly mayPause?: boolean | undefined;
  /** The names that `--output` takes; undefined if they are not known before the run. */
  readonly listOutputs: (() => string[]) | undefined;
}

/** The receivers of a run's events. */
interface RunListeners {
  readonly display: Display;
  readonly eventFile: EventFile | undefined;
  readonly recording: RecordingFile | undefined;
  readonly inspector: LiveInspector | undefined;
}

/**
 * Executes a run, displays its progress and prints its result. Returns the exit status of the run (D40).
 *
 * @param signals cancel the run, also when they came before it began
 */
export async function executeRun(
  run: DisplayedRun,
  flags: RunFlags,
  signals: StopSignals,
  context: CliContext,
): Promise<ExitStatus> {
  if (flags.output !== undefined && run.listOutputs) assertOutputName(flags.output, run.listOutputs());
  const eventFile =
    flags.events === undefined ? undefined : await EventFile.open(flags.events, run.filesRead, context.cwd);
  const recording =
    flags.record === undefined ? undefined : await RecordingFile.open(flags.record, run.filesRead, context);
  const inspector =
    flags.inspect === undefined || flags.inspect === false
      ? undefined
      : await LiveInspector.open(flags.inspect, context);
  await inspector?.announce(signals);
  const display = openDisplay(flags, run.createView, context);
  // Stops after the outputs are printed: otherwise a late error of a tool would end the process and truncate them.
  const stopReporting = reportUncaughtToolErrors(
    context.processEvents,
    (line) => display.print(line),
    run.mask,
  );
  try {
    const { inspected, files, release } = await submitAndWait(
      run,
      flags,
      { display, eventFile, recording, inspector },
      signals,
      context,
    );
    printRunEnd(inspected, flags, run.formatFailures, context);
    const filesStatus = printWrittenFiles(files, flags, run.outputFolder, context);
    await drain(context.stdout);
    await inspector?.linger(signals);
    await release?.();
    const eventsStatus = await closeFile(eventFile, context);
    const recordingStatus = await closeFile(recording, context);
    const runStatus = exitStatusForRun(inspected.record.status);
    if (runStatus !== EXIT.done) return runStatus;
    return [filesStatus, eventsStatus, recordingStatus].find((status) => status !== EXIT.done) ?? EXIT.done;
  } finally {
    stopReporting();
    await eventFile?.close();
    await recording?.close();
    await inspector?.close();
  }
}

interface EndedRun {
  readonly inspected: InspectedRun;
  readonly files: WrittenFiles;
  /** Forgets the run; undefined when it is forgotten already. While its page is open, its values can be read. */
  readonly release: (() => Promise<void>) | undefined;
}

/** Starts a run, waits until it settles or a second signal stops it, and forgets it (law L2). */
async function submitAndWait(
  { backend, hasParallelWaves, mayPause = false, mask = String }: DisplayedRun,
  flags: RunFlags,
  listeners: RunListeners,
  signals: StopSignals,
  context: CliContext,
): Promise<EndedRun> {
  const { display, recording, inspector } = listeners;
  const releaseStdout = captureStdout(context.stdout, (line) =>
    display.print(escapeControlCharacters(stripVTControlCharacters(mask(line)))),
  );
  const print = (text: string): void => {
    const terminal = detectTerminal(context.stderr, context.env);
    for (const line of text.split('\n')) {
      for (const part of wrapLine(escapeControlCharacters(line), terminal)) display.print(part);
    }
  };
  const screen = { print, hold: () => display.hold(), release: () => display.release() };
  const prompt = mayPause ? new BreakpointPrompt(backend, context.stdin, screen, inspector?.url) : undefined;
  try {
    const runId = await backend.start({
      onEvent: createEventListener(listeners, prompt),
      onInspection: createInspectionListener(listeners, backend, context),
      print: (line) => display.print(line),
    });
    prompt?.begin(runId);
    const stopped = cancelOnSignal(signals, backend, runId, hasParallelWaves, print);
    const record = await Promise.race([backend.settled(runId), stopped]);
    prompt?.close();
    display.release();
    const { json, partial, output } = flags;
    const outputs = json || partial || output !== undefined;
    const wanted = { outputs, json, verbose: wantsDetails(flags, context) };
    const inspected = await readRunEnd(record, backend, wanted);
    recording?.end(record);
    inspector?.end(record);
    const files = await backend.writtenFiles(record, signals);
    const release = (): Promise<void> => backend.release(runId);
    if (inspector !== undefined) return { inspected, files, release };
    await release();
    return { inspected, files, release: undefined };
  } finally {
    prompt?.close();
    releaseStdout();
    display.close();
  }
}

/** Without a listener the actors of the run are not recorded. */
function createInspectionListener(
  { display, recording, inspector }: RunListeners,
  backend: RunBackend,
  { env }: CliContext,
): StartOptions['onInspection'] {
  const prints = wantsTransitions(env);
  if (recording === undefined && inspector === undefined && !prints) return undefined;
  return (inspection, record) => {
    recording?.begin(inspection, record);
    inspector?.begin(inspection, record, backend);
    if (prints) printTransitions(inspection, (line) => display.print(line));
  };
}

/** Without a listener the run creates no events. */
function createEventListener(
  { display, eventFile }: RunListeners,
  prompt: BreakpointPrompt | undefined,
): ((event: LiveEvent) => void) | undefined {
  if (eventFile === undefined && prompt === undefined && !display.wantsEvents) return undefined;
  return (event) => {
    eventFile?.write(event);
    prompt?.onEvent(event);
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
  backend: RunBackend,
  runId: string,
  hasParallelWaves: boolean,
  print: (text: string) => void,
): Promise<RunRecord> {
  await signals.first;
  print(`cancelling: ${describeCurrentWaves(hasParallelWaves)} first; Ctrl-C again stops at once`);
  cancelUnlessSettled(backend, runId, false).catch((error: unknown) => {
    print(`the run could not be cancelled: ${errorMessage(error)}`);
  });
  await signals.second;
  print('stopping at once');
  const record = await cancelUnlessSettled(backend, runId, true);
  return record ?? new Promise(() => undefined);
}

/** Returns undefined for a run that has settled in the meantime: it keeps its status. */
async function cancelUnlessSettled(
  backend: RunBackend,
  runId: string,
  force: boolean,
): Promise<RunRecord | undefined> {
  try {
    return await backend.cancel(runId, { force });
  } catch (error) {
    if (errorCode(error) === 'run_already_terminal') return undefined;
    throw error;
  }
}

async function closeFile(
  file: Pick<EventFile, 'close'> | undefined,
  { stderr }: CliContext,
): Promise<ExitStatus> {
  const problem = await file?.close();
  if (problem === undefined) return EXIT.done;
  stderr.write(`${PROGRAM}: ${problem}\n`);
  return EXIT.failed;
}
