import type { WavetrainClient } from '../../client/client.js';
import type { Clock } from '../../common/clock.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, exitStatusForRun } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { type Display, type DisplayFlags, openDisplay } from '../progress/display.js';
import { PipelineRunView, type RunView } from '../progress/run-view.js';
import { printRunEnd } from '../render/outputs.js';
import { serverFailureLines } from '../render/run-summary.js';
import { detectTerminal } from '../render/terminal.js';
import { StopSignals } from '../process-events.js';
import { callServer, resolveRunId, type RunIdFlags } from './server-client.js';

/** Watches a run until it settles and returns the exit status of the run (D40). Ctrl-C stops watching only. */
export async function watchRun(flags: RunIdFlags & DisplayFlags, context: CliContext): Promise<ExitStatus> {
  const record = await callServer(flags, context, async (client) =>
    followRun(client, await resolveRunId(client, flags.runId), flags, context),
  );
  return record === undefined ? EXIT.interrupted : printSettledRun(record, flags, context);
}

/** Prints a settled run of a server and returns its exit status. */
export function printSettledRun(
  record: RunRecord,
  { json, quiet }: DisplayFlags,
  context: CliContext,
): ExitStatus {
  printRunEnd(record, { json, showSummary: !json && !quiet, formatFailures: serverFailureLines }, context);
  return exitStatusForRun(record.status);
}

/** Displays a run until it settles. Resolves with its record, or with undefined after Ctrl-C. */
export async function followRun(
  client: WavetrainClient,
  runId: string,
  flags: DisplayFlags,
  context: CliContext,
): Promise<RunRecord | undefined> {
  const abort = new AbortController();
  const signals = new StopSignals(context.processEvents);
  const interrupted = signals.first.then(() => {
    abort.abort();
    return undefined;
  });
  try {
    const settled = displayUntilSettled(client, runId, flags, context, abort.signal);
    const record = await Promise.race([settled, interrupted]);
    // The aborted display rejects once it has closed.
    if (record === undefined) await settled.catch(() => undefined);
    return record;
  } finally {
    signals.close();
  }
}

async function displayUntilSettled(
  client: WavetrainClient,
  runId: string,
  flags: DisplayFlags,
  context: CliContext,
  signal: AbortSignal,
): Promise<RunRecord> {
  const clock = new ServerClock(context.clock);
  const view = await createRunView(await client.record(runId, { signal }));
  const display = openServerDisplay(view, flags, { ...context, clock });
  try {
    for await (const event of client.events(runId, { signal })) {
      if (event.kind === 'gap') {
        display.print(`events ${event.after + 1} to ${event.next - 1} have been dropped by the server`);
      } else {
        clock.set(event);
        display.onEvent(event);
      }
    }
    return await client.settled(runId, { signal });
  } finally {
    if (signal.aborted) display.print(`the run continues; ${PROGRAM} runs cancel ${runId} stops it`);
    display.close();
  }
}

/** In a file or pipe the display prints every event even without `--verbose`, because watching is its purpose. */
function openServerDisplay(view: RunView, flags: DisplayFlags, context: CliContext): Display {
  const { canRedraw } = detectTerminal(context.stderr, context.env);
  const verbose = flags.verbose || !(canRedraw || flags.json || flags.quiet);
  return openDisplay({ ...flags, verbose }, () => view, context);
}

/** A record has the number of waves and sub-pipelines, but not the ids of their tasks. */
async function createRunView({ progress }: RunRecord): Promise<RunView> {
  const { waves, sub_pipelines } = progress;
  if (sub_pipelines === undefined) return new PipelineRunView(Array.from({ length: waves }, () => []));
  const { PlanRunView } = await import('../progress/plan-view.js');
  return new PlanRunView(sub_pipelines);
}

/**
 * Each event sets the monotonic time to its own, so that events of the past show their true durations. The events of
 * one run never go back (D27).
 */
class ServerClock implements Clock {
  readonly #clock: Clock;
  #offsetMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set({ time }: LiveEvent): void {
    this.#offsetMs = Date.parse(time) - this.#clock.monotonicNow();
  }

  now(): number {
    return this.#clock.now();
  }

  monotonicNow(): number {
    return this.#clock.monotonicNow() + this.#offsetMs;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    return this.#clock.setTimeout(run, delayMs);
  }

  clearTimeout(timer: unknown): void {
    this.#clock.clearTimeout(timer);
  }
}
