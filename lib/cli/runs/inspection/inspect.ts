import type { WavetrainClient } from '../../../client/client.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { distFile, readStatecharts } from '../../package-info.js';
import { StopSignals } from '../../process-events.js';
import { callServer, resolveRunId, type ServerFlags } from '../server-client.js';
import { readClientConfig } from '../../../common/config.js';
import { readRecording } from './read-recording.js';

interface InspectFlags extends ServerFlags {
  /** A file, or the id of a run. */
  readonly what: string;
  readonly open: boolean;
}

/** A recording is a file: anything that does not look like the id of a run. */
const RUN_ID = /^[0-9a-f][0-9a-f-]{3,35}$/;

/** Shows a recording, or prints where the server shows a run. */
export async function inspect(flags: InspectFlags, context: CliContext): Promise<ExitStatus> {
  if (!RUN_ID.test(flags.what)) return inspectFile(flags, context);
  const url = await callServer(flags, context, async (client: WavetrainClient) => {
    const runId = await resolveRunId(client, flags.what);
    const base = flags.server ?? readClientConfig(context.env).url ?? 'http://127.0.0.1:8000';
    return `${base.replace(/\/+$/, '')}/inspect/${runId}`;
  });
  context.stdout.write(`${url}\n`);
  if (flags.open) context.openUrl(url);
  return EXIT.done;
}

/** Serves the page over a file until Ctrl-C. */
async function inspectFile({ what, open }: InspectFlags, context: CliContext): Promise<ExitStatus> {
  const { head, entries, dropped } = await readRecording(what, context.cwd);
  const { serveShownRun } = await import('../../lazy/server.js');
  const { run: record, origin } = head;
  // Those of the version that recorded it, which may have had other machines.
  const statecharts = head.statecharts.length > 0 ? head.statecharts : await readStatecharts();
  const signals = new StopSignals(context.processEvents);
  const lastSeq = entries.at(-1)?.seq ?? 0;
  const firstSeq = entries[0]?.seq ?? 1;
  const log = {
    lastSeq,
    isClosed: true,
    readAfter: (seq: number, limit: number) => {
      const found = findAfter(entries, seq);
      return { events: entries.slice(found, found + limit), gap: dropped > 0 && seq < firstSeq - 1 };
    },
    subscribe: () => () => undefined,
  };
  const { version, recorded_at } = head;
  const run = Promise.resolve({
    record: () => record,
    log,
    origin,
    describe: () => ({ version, recorded_at }),
  });
  const server = await serveShownRun({ run, statecharts, webFolder: distFile('web') });
  const url = `${server.url}/${record.run_id}`;
  try {
    context.stdout.write(`${url}\n`);
    context.stderr.write(
      `run ${record.run_id} ${record.status}, ${entries.length} entries; Ctrl-C ends this\n`,
    );
    if (open) context.openUrl(url);
    await signals.first;
  } finally {
    await server.close();
    signals.close();
  }
  return EXIT.done;
}

/** Index of the first entry after number `seq`, by halves: there may be a million. */
function findAfter(entries: readonly { readonly seq: number }[], seq: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.seq ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
