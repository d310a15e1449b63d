import type { WavetrainClient } from '../../client/client.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { PROGRAM } from '../program.js';
import type { Display } from '../progress/display.js';
import { openDisplay } from '../progress/open-display.js';
import type { Picture } from '../progress/picture.js';
import { RunPicture } from '../progress/run-picture.js';
import { EndSignals } from '../serve/end-signals.js';
import { terminalOf } from '../terminal.js';
import { ServerClock } from './server-clock.js';

export interface FollowFlags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/** Shows a run while it lasts. Answers its record once it has settled, undefined when Ctrl-C came before. */
export async function followRun(
  client: WavetrainClient,
  runId: string,
  flags: FollowFlags,
  context: CliContext,
): Promise<RunRecord | undefined> {
  const left = new AbortController();
  const signals = new EndSignals(context.processEvents);
  const leaving = signals.first.then(() => {
    left.abort();
    return undefined;
  });
  try {
    const settled = showUntilSettled(client, runId, flags, context, left.signal);
    const record = await Promise.race([settled, leaving]);
    // What it rejects with is that it was left; the screen is in order then.
    if (record === undefined) await settled.catch(() => undefined);
    return record;
  } finally {
    signals.close();
  }
}

async function showUntilSettled(
  client: WavetrainClient,
  runId: string,
  flags: FollowFlags,
  context: CliContext,
  signal: AbortSignal,
): Promise<RunRecord> {
  const clock = new ServerClock(context.clock);
  const picture = await pictureOf(await client.record(runId, { signal }));
  const display = openFor(picture, flags, { ...context, clock });
  try {
    for await (const event of client.events(runId, { signal })) {
      if (event.kind === 'gap') {
        display.say(`events ${event.after + 1} to ${event.next - 1} are kept no longer`);
      } else {
        clock.hear(event);
        display.event(event);
      }
    }
    return await client.settled(runId, { signal });
  } finally {
    if (signal.aborted) display.say(`the run goes on; ${PROGRAM} runs cancel ${runId} ends it`);
    display.close();
  }
}

/** On a terminal the run is drawn, anywhere else each event is a line: who watches wants to see something. */
function openFor(picture: Picture, flags: FollowFlags, context: CliContext): Display {
  const { redraws } = terminalOf(context.stderr, context.env);
  const verbose = flags.verbose || !(redraws || flags.json || flags.quiet);
  return openDisplay({ ...flags, verbose }, () => picture, context);
}

/** Only how many waves or sub-pipelines there are is known here; the rest is heard of as it starts. */
async function pictureOf({ progress }: RunRecord): Promise<Picture> {
  const { waves, sub_pipelines } = progress;
  if (sub_pipelines === undefined) return new RunPicture(Array.from({ length: waves }, () => []));
  const { PlanPicture } = await import('../progress/plan-picture.js');
  return new PlanPicture(sub_pipelines);
}
