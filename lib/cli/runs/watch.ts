import type { WavetrainClient } from '../../client/client.js';
import type { RunRecord } from '../../runs/record.js';
import {
  FULL_OPTION,
  VERBOSE_OPTION,
  RUN_ID_DETAILS,
  ServerRunCommand,
  flagOption,
} from '../input/shared-options.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, exitStatusForRun } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { type Display, type DisplayFlags, openDisplay } from '../progress/display.js';
import { RetriedCalls } from '../progress/retried-calls.js';
import type { RunView } from '../progress/run-view.js';
import { serverFlag } from '../render/run-summary.js';
import { StopSignals } from '../input/process-events.js';
import { displayPipeline, displaySubPipelines } from '../run/displayed-run.js';
import { type InspectedRun, printRunEnd, readRunEnd, wantsDetails } from '../run/run-end.js';
import { followEvents, ServerClock, type ServerEventListener } from '../run/server-backend.js';
import { serverFailureFormatter } from '../run/server-submission.js';
import { describePause } from '../run/task-reader.js';
import { filesOnServer, printWrittenFiles } from '../run/written-files.js';
import { assertOnServer } from './kept-run.js';
import { callServer, resolveRunId, type ServerFlags } from './server-client.js';

type WatchFlags = DisplayFlags & Pick<ServerFlags, 'server'> & { readonly full: boolean };

export class RunsWatchCommand extends ServerRunCommand {
  static override paths = [['runs', 'watch']];
  static override usage = ServerRunCommand.Usage({
    description: 'watches a run until it settles and exits with its status',
    details: `${RUN_ID_DETAILS}
      Ctrl-C stops watching; the run continues.`,
    examples: [['watch a run that was submitted elsewhere', '$0 runs watch 3f9c1a']],
  });

  json = flagOption`--json print the outputs (for a plan, the result) as one JSON document, and no progress`;
  full = flagOption`--full ${FULL_OPTION}`;
  verbose = flagOption`--verbose ${VERBOSE_OPTION}`;
  quiet = flagOption`--quiet show no progress`;

  /** Watches a run until it settles and returns the exit status of the run (D40). Ctrl-C stops watching only. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    await assertOnServer(this, 'runs watch', (id) => `${PROGRAM} runs show ${id} shows it`, context);
    const run = await callServer(this, context, async (client) =>
      followRun(client, await resolveRunId(client, this.runId), this, context),
    );
    return run === undefined ? EXIT.interrupted : printSettledRun(run, this, context);
  }
}

export function printSettledRun(run: InspectedRun, flags: WatchFlags, context: CliContext): ExitStatus {
  printRunEnd(run, flags, serverFailureFormatter(flags.server), context);
  printWrittenFiles(filesOnServer(run.record, flags.server), flags, {}, context);
  return exitStatusForRun(run.record.status);
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
  const retried = flags.json || flags.quiet ? undefined : new RetriedCalls();
  try {
    const settled = displayUntilSettled(client, runId, flags, context, abort.signal, retried);
    const record = await Promise.race([settled, interrupted]);
    // The aborted display rejects once it has closed.
    if (record === undefined) {
      await settled.catch(() => undefined);
      return undefined;
    }
    const { json } = flags;
    const wanted = { outputs: json, json, verbose: wantsDetails(flags, context) };
    const remains = await readRunEnd(record, client, wanted);
    return { ...remains, retried: retried?.describe() };
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
  retried: RetriedCalls | undefined,
): Promise<RunRecord> {
  const clock = new ServerClock(context.clock);
  const view = await createRunView(await client.record(runId, { signal }));
  const display = openDisplay(flags, () => view, { ...context, clock });
  const listener: ServerEventListener = {
    onEvent: (event) => {
      display.onEvent(event);
      retried?.onEvent(event);
      if (event.kind === 'run' && event.paused) void printPause(client, runId, flags, display);
    },
    print: (line) => display.print(line),
    clock,
  };
  try {
    if (display.wantsEvents) await followEvents(client, runId, listener, signal);
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

/** A record has the number of waves and sub-pipelines, but not the ids of their tasks. */
async function createRunView({ progress }: RunRecord): Promise<RunView> {
  const { waves, sub_pipelines } = progress;
  const display =
    sub_pipelines === undefined
      ? displayPipeline(Array.from({ length: waves }, () => []))
      : await displaySubPipelines(sub_pipelines, 1);
  return display.createView();
}
