import { stripVTControlCharacters } from 'node:util';
import { errorCode, errorMessage } from '../../common/errors.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, exitStatusForRun } from '../exit-status.js';
import { reportUncaughtToolErrors, StopSignals } from '../input/process-events.js';
import { type Display, openDisplay } from '../progress/display.js';
import { RetriedCalls } from '../progress/retried-calls.js';
import { describeCurrentWaves } from '../render/run-summary.js';
import { captureStdout, drain } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { escapeControlCharacters, wrapLine } from '../render/text.js';
import { BreakpointPrompt } from './breakpoint-prompt.js';
import type { DisplayedRun, RunBackend } from './displayed-run.js';
import { assertOutputName, type InspectedRun, printRunEnd, readRunEnd, wantsDetails } from './run-end.js';
import { RunListeners } from './listeners/run-listeners.js';
import type { RunFlags } from './submission.js';
import { printWrittenFiles, type WrittenFiles } from './written-files.js';

/**
 * Prepares a run, displays its progress and prints its result. Returns its exit status (D40), or that of a definition which
 * cannot run. A signal while `prepare` reads and checks everything ends the command with the same status as a later one.
 */
export async function executeRun(
  prepare: (signals: StopSignals) => Promise<DisplayedRun | ExitStatus>,
  flags: RunFlags,
  context: CliContext,
): Promise<ExitStatus> {
  const signals = new StopSignals(context.processEvents);
  try {
    const run = await Promise.race([prepare(signals), signals.first.then(() => EXIT.interrupted)]);
    if (typeof run === 'number') return run;
    if (flags.output !== undefined && run.listOutputs) assertOutputName(flags.output, run.listOutputs());
    return await executeWithListeners(run, flags, signals, context);
  } finally {
    signals.close();
  }
}

async function executeWithListeners(
  run: DisplayedRun,
  flags: RunFlags,
  signals: StopSignals,
  context: CliContext,
): Promise<ExitStatus> {
  const listeners = await RunListeners.open(flags, run.filesRead, context);
  try {
    if (await listeners.waitForViewer(signals))
      return await executeAndPrint(run, flags, listeners, signals, context);
    context.stderr.write('nothing has run\n');
    return EXIT.interrupted;
  } finally {
    await listeners.close();
  }
}

async function executeAndPrint(
  run: DisplayedRun,
  flags: RunFlags,
  listeners: RunListeners,
  signals: StopSignals,
  context: CliContext,
): Promise<ExitStatus> {
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
      display,
      listeners,
      signals,
      context,
    );
    printRunEnd(inspected, flags, run.formatFailures, context);
    const filesStatus = printWrittenFiles(
      files,
      flags,
      { named: run.outputFolder, bytes: run.history?.bytesFolder },
      context,
    );
    await run.history?.printEnd(inspected.record, flags, context);
    await drain(context.stdout);
    await listeners.keepOpen(signals);
    await release();
    const closeStatus = await listeners.close();
    const runStatus = exitStatusForRun(inspected.record.status);
    if (runStatus !== EXIT.done) return runStatus;
    return filesStatus === EXIT.done ? closeStatus : filesStatus;
  } finally {
    stopReporting();
  }
}

interface EndedRun {
  readonly inspected: InspectedRun;
  readonly files: WrittenFiles;
  /** Forgets the run (law L2). While its page is open, its values can be read. */
  readonly release: () => Promise<void>;
}

async function submitAndWait(
  { backend, hasParallelWaves, mayPause = false, mask = String }: DisplayedRun,
  flags: RunFlags,
  display: Display,
  listeners: RunListeners,
  signals: StopSignals,
  context: CliContext,
): Promise<EndedRun> {
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
  const prompt = mayPause
    ? new BreakpointPrompt(backend, context.stdin, screen, { hasPage: listeners.hasPage })
    : undefined;
  const over = new AbortController();
  const retried = flags.json || flags.quiet ? undefined : new RetriedCalls();
  try {
    const printLine = (line: string): void => display.print(line);
    const runId = await backend.start({
      onEvent: createEventListener(display, listeners, prompt, retried),
      onInspection: listeners.onInspection(backend, printLine),
      print: printLine,
    });
    prompt?.begin(runId);
    const stopped = cancelOnSignal(signals, backend, runId, { hasParallelWaves, over: over.signal, print });
    const record = await Promise.race([backend.settled(runId), stopped]);
    over.abort();
    // Before anything else is read, so that what was recorded has an end whatever fails.
    await listeners.end(record);
    prompt?.close();
    display.release();
    const { json, partial, output } = flags;
    const outputs = json || partial || output !== undefined;
    const wanted = { outputs, json, verbose: wantsDetails(flags, context) };
    const remains = await readRunEnd(record, backend.reader, wanted);
    const inspected = { ...remains, retried: retried?.describe() };
    const files = await backend.writtenFiles(record, signals);
    return { inspected, files, release: () => backend.release(runId) };
  } finally {
    over.abort();
    prompt?.close();
    releaseStdout();
    display.close();
  }
}

/** Without a listener the run creates no events. */
function createEventListener(
  display: Display,
  { onEvent: write }: RunListeners,
  prompt: BreakpointPrompt | undefined,
  retried: RetriedCalls | undefined,
): ((event: LiveEvent) => void) | undefined {
  const listeners = [write, prompt, retried];
  if (listeners.every((listener) => listener === undefined) && !display.wantsEvents) return undefined;
  return (event) => {
    retried?.onEvent(event);
    write?.(event);
    prompt?.onEvent(event);
    display.onEvent(event);
  };
}

interface CancelOptions {
  readonly hasParallelWaves: boolean;
  /** Aborted when the run has settled: then a signal ends the command, and is no business of the run. */
  readonly over: AbortSignal;
  readonly print: (text: string) => void;
}

/**
 * Cancels a run on Ctrl-C or SIGTERM: the first signal cooperatively (rule 12), the second one also stops its tools, and does
 * not wait for them (D21, D40). Resolves only with the record of a run that the second signal stopped.
 */
async function cancelOnSignal(
  signals: StopSignals,
  backend: RunBackend,
  runId: string,
  { hasParallelWaves, over, print }: CancelOptions,
): Promise<RunRecord> {
  const never = new Promise<never>(() => undefined);
  await signals.first;
  if (over.aborted) return never;
  print(`cancelling: ${describeCurrentWaves(hasParallelWaves)} first; Ctrl-C again stops at once`);
  cancelUnlessSettled(backend, runId, false).catch((error: unknown) => {
    print(`the run could not be cancelled: ${errorMessage(error)}`);
  });
  await signals.second;
  if (over.aborted) return never;
  print('stopping at once');
  return (await cancelUnlessSettled(backend, runId, true)) ?? never;
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
