import type { WavetrainClient } from '../../client/client.js';
import type { Clock } from '../../common/clock.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import { type CliContext, EndSignals } from '../context.js';
import { EXIT, type ExitStatus, statusOfRun } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import { type Display, openDisplay } from '../progress/open-display.js';
import { type Picture, RunPicture } from '../progress/run-view.js';
import { outputOf, printOutcome } from '../render/outputs.js';
import { summaryLine, unsuccessfulLines } from '../render/run-summary.js';
import { printJson } from '../render/stdout.js';
import { styleOf, terminalOf } from '../render/terminal.js';
import { screenLines } from '../render/text.js';
import { ask, findRun, type ServerFlags } from './server.js';

interface WatchFlags extends ServerFlags, FollowFlags {
  readonly runId: string;
}

/** Watches a run until it has settled; the exit status is the run's. Ctrl-C leaves, and the run goes on. */
export async function watchRun(flags: WatchFlags, context: CliContext): Promise<ExitStatus> {
  const record = await ask(flags, context, async (client) =>
    followRun(client, await findRun(client, flags.runId), flags, context),
  );
  return record === undefined ? EXIT.interrupted : tellSettled(record, flags, context);
}

/** Tells how a run ended as `run` does: outputs on standard output, anything else on standard error. */
export function tellSettled(
  record: RunRecord,
  { json, quiet }: FollowFlags,
  context: CliContext,
): ExitStatus {
  const terminal = terminalOf(context.stderr, context.env);
  const style = styleOf(terminal);
  const { result } = record;
  const say = (lines: readonly string[]): unknown => context.stderr.write(`${lines.join('\n')}\n`);
  if (result === null) {
    say(unsuccessfulLines(record, style, terminal));
  } else {
    if (!json && !quiet) say(screenLines(summaryLine(record, style), terminal));
    if (json) printJson(outputOf(record), context);
    else printOutcome(result, context);
  }
  return statusOfRun(record.status);
}

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
  const { PlanPicture } = await import('../progress/plan-view.js');
  return new PlanPicture(sub_pipelines);
}

/** Time as the events of a server tell it: those that are told late took no longer for it. */
class ServerClock implements Clock {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It is now the time of an event, and goes on from there. */
  hear({ time }: LiveEvent): void {
    this.#aheadMs = Date.parse(time) - this.#clock.now();
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    return this.#clock.setTimeout(run, delayMs);
  }

  clearTimeout(timer: unknown): void {
    this.#clock.clearTimeout(timer);
  }
}
