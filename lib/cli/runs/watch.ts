import type { WavetrainClient } from '../../client/client.js';
import type { Clock } from '../../common/clock.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, exitStatusForRun } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { type Display, type DisplayFlags, openDisplay } from '../progress/display.js';
import type { RunView } from '../progress/run-view.js';
import { serverFailureLines, serverFlag } from '../render/run-summary.js';
import { StopSignals } from '../input/process-events.js';
import { displayPipeline, displayPlan } from '../run/displayed-run.js';
import {
  type FormatFailures,
  type InspectedRun,
  printRunEnd,
  readRunEnd,
  wantsDetails,
} from '../run/run-end.js';
import { describePause } from '../run/task-reader.js';
import { filesOnServer, printWrittenFiles } from '../run/written-files.js';
import { assertOnServer } from './kept-run.js';
import { callServer, resolveRunId, type RunIdFlags, type ServerFlags } from './server-client.js';

type WatchFlags = DisplayFlags & Pick<ServerFlags, 'server'>;

/** Watches a run until it settles and returns the exit status of the run (D40). Ctrl-C stops watching only. */
export async function watchRun(flags: RunIdFlags & DisplayFlags, context: CliContext): Promise<ExitStatus> {
  await assertOnServer(flags, 'runs watch', (id) => `${PROGRAM} runs show ${id} shows it`, context);
  const run = await callServer(flags, context, async (client) =>
    followRun(client, await resolveRunId(client, flags.runId), flags, context),
  );
  return run === undefined ? EXIT.interrupted : printSettledRun(run, flags, context);
}

/** Prints a settled run of a server and returns its exit status. */
export function printSettledRun(run: InspectedRun, flags: WatchFlags, context: CliContext): ExitStatus {
  printRunEnd(run, flags, serverFailureFormatter(flags.server), context);
  printWrittenFiles(filesOnServer(run.record, flags.server), flags, {}, context);
  return exitStatusForRun(run.record.status);
}

/** @param waves the task ids of each wave of a pipeline, if they are known */
export function serverFailureFormatter(
  server: string | undefined,
  waves?: readonly (readonly string[])[],
): FormatFailures {
  return (record, terminal, details) => serverFailureLines(record, terminal, details, server, waves);
}

/** Displays a run until it settles. Resolves with what it leaves, or with undefined after Ctrl-C. */
export async function followRun(
  client: WavetrainClient,
  runId: string,
  flags: WatchFlags,
  context: CliContext,
): Promise<InspectedRun | undefined> {
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
    if (record === undefined) {
      await settled.catch(() => undefined);
      return undefined;
    }
    const { json } = flags;
    return await readRunEnd(record, client, { outputs: json, json, verbose: wantsDetails(flags, context) });
  } finally {
    signals.close();
  }
}

async function displayUntilSettled(
  client: WavetrainClient,
  runId: string,
  flags: WatchFlags,
  context: CliContext,
  signal: AbortSignal,
): Promise<RunRecord> {
  const clock = new ServerClock(context.clock);
  const view = await createRunView(await client.record(runId, { signal }));
  const display = openDisplay(flags, () => view, { ...context, clock });
  const listener: EventListener = {
    onEvent: (event) => {
      display.onEvent(event);
      if (event.kind === 'run' && event.paused) void printPause(client, runId, flags, display);
    },
    print: (line) => display.print(line),
    clock,
  };
  try {
    // Without a display, too, somebody wants to know that the run waits.
    if (display.wantsEvents || !(flags.json || flags.quiet))
      await followEvents(client, runId, listener, signal);
    return await client.settled(runId, { signal });
  } finally {
    if (signal.aborted) {
      const command = `${PROGRAM} runs cancel ${runId}${serverFlag(flags.server)}`;
      display.print(`the run continues; ${command} stops it`);
    }
    display.close();
  }
}

/** Says where a run waits, and how it goes on. Of a plan, the sub-pipelines that wait may be several. */
async function printPause(
  client: WavetrainClient,
  runId: string,
  { server }: WatchFlags,
  display: Pick<Display, 'print'>,
): Promise<void> {
  const command = `${PROGRAM} runs continue ${runId}${serverFlag(server)}`;
  const place = await describePause(client, runId);
  display.print(`paused ${place}; ${command} lets it go on, by one wave with --step`);
}

interface EventListener {
  readonly onEvent: (event: LiveEvent) => void;
  readonly print: (line: string) => void;
  /** Is set to the time of each event. */
  readonly clock: ServerClock;
}

/** Passes on the events of a run until it has settled. */
export async function followEvents(
  client: WavetrainClient,
  runId: string,
  { onEvent, print, clock }: EventListener,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of client.events(runId, { signal })) {
    if (event.kind === 'gap') {
      print(`events ${event.after + 1} to ${event.next - 1} have been dropped by the server`);
    } else {
      clock.set(event);
      onEvent(event);
    }
  }
}

/** A record has the number of waves and sub-pipelines, but not the ids of their tasks. */
async function createRunView({ progress }: RunRecord): Promise<RunView> {
  const { waves, sub_pipelines } = progress;
  const display =
    sub_pipelines === undefined
      ? displayPipeline(Array.from({ length: waves }, () => []))
      : await displayPlan(sub_pipelines, 1);
  return display.createView();
}

/**
 * Each event sets the monotonic time to its own, so that events of the past show their true durations. The events of
 * one run never go back (D27).
 */
export class ServerClock implements Clock {
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
