import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openBody } from '../files/download.js';
import { Option } from 'clipanion';
import { HistoryCommand, flagOption } from '../../input/shared-options.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { distFile } from '../../../common/files.js';
import { readStatecharts } from '../../package-info.js';
import { StopSignals } from '../../input/process-events.js';
import { toSingleLine } from '../../render/text.js';
import { type FoundRun, withRun } from '../kept-run.js';
import { readClientConfig } from '../../../common/config/config.js';
import { cutText, formatNumber, nameCall } from '../../../common/text.js';
import type { RunRecord } from '../../../runs/record.js';
import type { FailedCall } from '../../../runs/tasks/task-record.js';
import { type ReadRecording, readRecording, readRecordingOf } from './read-recording.js';

/** The shape of the id of a run, or of a part of one. A file of that name comes first. */
const RUN_ID = /^[0-9a-f][0-9a-f-]{3,35}$/i;

export class InspectCommand extends HistoryCommand {
  static override paths = [['inspect']];
  static override usage = HistoryCommand.Usage({
    description: 'shows what the actors of a run have done, in a browser',
    details: `
      WHAT is a recording, as run --record writes it, or the id of a run, or 4 or more characters of its end or beginning. Of a recording,
      and of a run that wavetrain run has kept in the folder .wavetrain, the command serves the page on a free port of this
      machine, prints its address, and ends with Ctrl-C; no server is needed. Of a run of a server, which --server or
      WAVETRAIN_SERVER names, it prints the address of the page there.
    `,
    examples: [
      ['a recording from another machine', '$0 inspect out.wtrec'],
      ['a run of this folder, by the end of its id', '$0 inspect 3f9c1a --open'],
      ['a run of a server', '$0 inspect 3f9c1a --server http://127.0.0.1:8000'],
    ],
  });

  what = Option.String({ name: 'WHAT', required: true });
  open = flagOption`--open open the page in the browser of this machine`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const { what, server, store, envFile, open } = this;
    if (!RUN_ID.test(what) || existsSync(resolve(context.cwd, what))) {
      return showRecording(await readRecording(what, context.cwd), this, context);
    }
    const found = await withRun({ server, store, envFile, runId: what }, context, async (run) => {
      if (run.isKept) return { ...run, recording: await recordKept(run) };
      const named = server ?? readClientConfig(context.env).url;
      // Nobody has said that there is one.
      if (named === undefined) await run.client.record(run.runId);
      const base = named ?? 'http://127.0.0.1:8000';
      return `${base.replace(/\/+$/, '')}/inspect/${run.runId}`;
    });
    if (typeof found !== 'string')
      return showRecording(found.recording, { open, state: found.state }, context);
    context.stdout.write(`${found}\n`);
    if (open) context.openUrl(found);
    return EXIT.done;
  }
}

async function recordKept({ client, runId }: FoundRun): Promise<ReadRecording> {
  return readRecordingOf(`run ${runId}`, openBody(await client.recording(runId)));
}

async function showRecording(
  { head, entries, dropped, isWhole }: ReadRecording,
  { open, state }: Pick<InspectCommand, 'open'> & Partial<Pick<FoundRun, 'state'>>,
  context: CliContext,
): Promise<ExitStatus> {
  const { serveShownRun } = await import('../../lazy/server.js');
  const { run: record, origin, failed_calls: failedCalls } = head;
  // A recording brings the charts of the version that wrote it, which may have had other machines.
  const statecharts = head.statecharts.length > 0 ? head.statecharts : await readStatecharts();
  const signals = new StopSignals(context.processEvents);
  const total = isWhole ? entries.length + dropped : (entries.at(-1)?.seq ?? 0) + 1;
  const log = {
    lastSeq: total,
    isClosed: true,
    readAfter: (seq: number, limit: number) => readAfter(entries, seq, { limit, total }),
    subscribe: () => () => undefined,
  };
  const { version, recorded_at } = head;
  const run = Promise.resolve({
    record: () => record,
    log,
    origin,
    failedCalls: () => Promise.resolve(failedCalls),
    describe: () => ({ version, recorded_at }),
  });
  const server = await serveShownRun({ run, statecharts, webFolder: distFile('web') });
  const url = `${server.url}/${record.run_id}`;
  try {
    context.stdout.write(`${url}\n`);
    const status = isWhole ? describeStatus(record, state) : `was ${record.status} when its recording began`;
    context.stderr.write(
      `run ${record.run_id} ${status}, ${formatNumber(entries.length)} entries; Ctrl-C ends this\n`,
    );
    for (const line of failedCallLines(failedCalls)) context.stderr.write(`${line}\n`);
    if (!isWhole)
      context.stderr.write(`the recording ends after entry ${total - 1}, without its end: ${ENDED}\n`);
    else if (dropped > 0)
      context.stderr.write(`${formatNumber(dropped)} of its ${formatNumber(total)} ${LEFT_OUT}\n`);
    if (open) context.openUrl(url);
    await signals.first;
  } finally {
    await server.close();
    signals.close();
  }
  return EXIT.done;
}

/** Work of an unsettled run has no end yet, so it is rebuilt as stopped. */
function describeStatus({ status }: RunRecord, state: FoundRun['state']): string {
  if (state === undefined) return status;
  return state === 'running'
    ? 'is running in another shell (what is at work is shown as stopped)'
    : 'was interrupted (what was at work is shown as stopped)';
}

const MAX_LINE_LENGTH = 400;

/** Says why the run failed, and with which inputs: the first thing that the reader of a report wants to know. */
function failedCallLines([first, ...others]: readonly FailedCall[]): string[] {
  if (first === undefined) return [];
  const { inputs, error } = first;
  const line = (indent: string, text: string): string =>
    indent + cutText(toSingleLine(text), MAX_LINE_LENGTH);
  return [
    line('  ', `${nameCall(first)} failed${error === null ? '' : `: ${error.message}`}`),
    ...(inputs === null ? [] : [line('    ', `inputs: ${JSON.stringify(inputs)}`)]),
    ...(others.length === 0 ? [] : [line('  ', `and ${others.length} more; the page shows their values`)]),
  ];
}

const ENDED = 'the program that wrote it was ended, or the file was not copied whole';
const LEFT_OUT = 'entries are not in the recording: there were too many';

type Entries = readonly { readonly seq: number; readonly json: string }[];

/** Returns the entries after number `seq`, up to the next of the `total` that is missing, and whether some before them are. */
function readAfter(
  entries: Entries,
  seq: number,
  { limit, total }: { readonly limit: number; readonly total: number },
): { readonly events: Entries; readonly gap: boolean } {
  const found = findAfter(entries, seq);
  const first = entries[found]?.seq ?? total + 1;
  let count = 0;
  while (count < limit && entries[found + count]?.seq === first + count) count++;
  return { events: entries.slice(found, found + count), gap: seq < total && first > seq + 1 };
}

/** Index of the first entry after number `seq`, by halves: there may be a million. */
function findAfter(entries: Entries, seq: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.seq ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
