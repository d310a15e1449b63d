import { toIsoTime } from '../../../common/clock.js';
import { INSPECTION_LIMITS } from '../../../common/limits.js';
import type { InspectionEntry } from '../../../runs/inspection/entry.js';
import type { OpenInspection } from '../../../runs/inspection/inspection.js';
import type { RunRecord } from '../../../runs/record.js';
import type { FailedCall } from '../../../runs/tasks/task-record.js';
import type { CliContext } from '../../context.js';
import { readPackageJson, readStatecharts } from '../../package-info.js';
import type { LineFile } from './line-file.js';
import type { RunBackend } from '../displayed-run.js';

/** Writes the lines of a recording, which know nothing of files. */
type RecordingFormat = typeof import('../../lazy/execution.js').recordingFormat;

type RecordedLines = Pick<LineFile, 'writeText' | 'close'>;

interface RecordingParts extends Pick<CliContext, 'clock'> {
  readonly format: RecordingFormat;
  readonly limits: RecordingLimits;
  readonly statecharts: Awaited<ReturnType<typeof readStatecharts>>;
}

/** The file of `--record`: what the actors of a run do, written as it happens (D42). */
export class RecordingFile {
  readonly #file: RecordedLines;
  readonly #parts: RecordingParts;
  #inspection: OpenInspection | undefined;
  #backend: Pick<RunBackend, 'queries'> = {};
  #lastSeq = 0;
  #entries = 0;
  /** Size of the entries in the file. */
  #bytes = 0;

  /** @param file is closed with the recording */
  static async create(
    file: RecordedLines,
    { clock }: Pick<CliContext, 'clock'>,
    limits: RecordingLimits = LIMITS,
  ): Promise<RecordingFile> {
    const { recordingFormat: format } = await import('../../lazy/execution.js');
    return new RecordingFile(file, { format, limits, clock, statecharts: await readStatecharts() });
  }

  private constructor(file: RecordedLines, parts: RecordingParts) {
    this.#file = file;
    this.#parts = parts;
  }

  /** Writes the entries that there are, and each further one. */
  begin(inspection: OpenInspection, record: RunRecord, backend: Pick<RunBackend, 'queries'>): void {
    this.#inspection = inspection;
    this.#backend = backend;
    const { format, clock, statecharts } = this.#parts;
    const about = { version: readPackageJson().version, recorded_at: toIsoTime(clock.now()) };
    const { origin } = inspection;
    this.#file.writeText(format.formatHead({ ...about, run: record, statecharts, origin }));
    inspection.log.subscribe(() => this.#writeNew(inspection));
    this.#writeNew(inspection);
  }

  /** Call when the run has settled, or is not waited for any more. */
  async end(record: RunRecord): Promise<void> {
    const inspection = this.#inspection;
    if (inspection === undefined) return;
    this.#inspection = undefined;
    const [entries, dropped] = [this.#entries, inspection.log.lastSeq - this.#entries];
    let failedCalls: readonly FailedCall[] = [];
    try {
      failedCalls =
        (await this.#backend.queries?.failedCalls(record.run_id, this.#parts.format.failedCalls)) ?? [];
    } finally {
      const end = { entries, dropped, run: record, failed_calls: failedCalls };
      this.#file.writeText(this.#parts.format.formatEnd(end));
      inspection.close();
    }
  }

  /** Waits until everything is written. Returns what went wrong, for example that the disk is full. */
  close(): Promise<string | undefined> {
    return this.#file.close();
  }

  /** Leaves out what a reader would refuse: when there is no room for everything, all but how the run goes on, ends and fails. */
  #writeNew({ log }: OpenInspection): void {
    if (this.#inspection === undefined) return;
    const { events } = log.readAfter(this.#lastSeq, Number.POSITIVE_INFINITY);
    for (const { seq, json } of events) {
      this.#lastSeq = seq;
      const bytes = Buffer.byteLength(json) + 1;
      const { entries: maxEntries, bytes: maxBytes } = this.#parts.limits;
      const fits = this.#entries < maxEntries && this.#bytes + bytes <= maxBytes;
      const hasRoom =
        fits && this.#entries < ROOM_FOR_ALL * maxEntries && this.#bytes + bytes <= ROOM_FOR_ALL * maxBytes;
      if (!hasRoom && !(fits && showsOutcome(JSON.parse(json) as InspectionEntry))) continue;
      this.#bytes += bytes;
      this.#file.writeText(`${json}\n`);
      this.#entries++;
    }
  }
}

interface RecordingLimits {
  readonly entries: number;
  readonly bytes: number;
}

/** The head and the end have room besides. */
const LIMITS: RecordingLimits = {
  entries: INSPECTION_LIMITS.recordingEntries,
  bytes: INSPECTION_LIMITS.recordingBytes - 4 * 2 ** 20,
};

/** The part of a recording that all entries fill, before the rest is kept for those that show the outcome. */
const ROOM_FOR_ALL = 0.8;

/** The actors that say how far a run is. */
const LEADING: readonly string[] = ['plan', 'run'];

/** The actors that get an event for each task and each sub-run: only what changes their state counts. */
const COLLECTING: readonly string[] = ['wave', 'sub-runs'];

function showsOutcome({ src, status, from, state }: InspectionEntry): boolean {
  if (LEADING.includes(src) || status === 'error' || state === 'failed') return true;
  return COLLECTING.includes(src) && from !== state;
}
