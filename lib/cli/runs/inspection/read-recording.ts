import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describeErrno } from '../../../common/files.js';
import { isObject } from '../../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../../common/limits.js';
import { formatMebibytes, formatNumber } from '../../../common/text.js';
import type { InspectionEntry } from '../../../runs/inspection/entry.js';
import type { RecordingEnd, RecordingHead } from '../../../runs/inspection/recording.js';
import type { FailedCall } from '../../../runs/tasks/task-record.js';
import { PROGRAM, readPackageJson } from '../../package-info.js';
import { toSingleLine } from '../../render/text.js';
import { UsageError } from '../../input/usage-errors.js';

/** The content of a recording: everything, or what there is of one whose program was ended. */
export interface ReadRecording {
  readonly head: RecordingHead & { readonly failed_calls: readonly FailedCall[] };
  /** The entries as JSON, in order; their numbers grow. */
  readonly entries: readonly { readonly seq: number; readonly json: string }[];
  /** Number of entries that the writer left out, or has dropped. */
  readonly dropped: number;
  /** True when the recording has the line of its end; without the line, nobody knows how many entries are missing. */
  readonly isWhole: boolean;
}

const VERSION: RecordingHead['wavetrain_recording'] = 1;

/** Characters of a line: an entry has far fewer, and the head some hundred thousand. */
const MAX_LINE_LENGTH = 16 * 2 ** 20;

/** Reads and checks a recording: it may come from anybody. @throws UsageError that says in one sentence what is wrong */
export async function readRecording(name: string, cwd: string): Promise<ReadRecording> {
  const path = resolve(cwd, name);
  const refuse: Refuse = (problem, hint) => new UsageError(`${name} ${problem}`, hint);
  const size = await stat(path).then(
    (stats) => (stats.isFile() ? stats.size : undefined),
    (error: unknown) => {
      const meant = `${name}${EXTENSION}`;
      const hint = existsSync(resolve(cwd, meant)) ? `did you mean ${meant}?` : undefined;
      throw new UsageError(`cannot read ${name}: ${describeErrno(error)}`, hint);
    },
  );
  if (size === undefined) throw refuse('is not a file', NOT_ONE_HINT);
  if (size > INSPECTION_LIMITS.recordingBytes) {
    throw refuse(
      `has ${formatMebibytes(size)}, more than a recording may have`,
      `the most is ${formatMebibytes(INSPECTION_LIMITS.recordingBytes)}`,
    );
  }
  const input = createReadStream(path, { encoding: 'utf8' });
  try {
    return await readEntries(input, refuse);
  } finally {
    input.destroy();
  }
}

type Refuse = (problem: string, hint: string) => UsageError;

/** Reads the recording of a run. @param name of the run, for messages */
export function readRecordingOf(name: string, input: Readable): Promise<ReadRecording> {
  return readEntries(input, (problem, hint) => new UsageError(`the recording of ${name} ${problem}`, hint));
}

async function readEntries(input: Readable, refuse: Refuse): Promise<ReadRecording> {
  const reader = new RecordingReader(refuse);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  // The last line may be half written: it is added when there is another one, or by `end`.
  for await (const line of lines) reader.add(line);
  return reader.end();
}

const EXTENSION = '.wtrec';

const NOT_ONE_HINT = `${PROGRAM} run FILE --record out.wtrec writes a recording`;
const FORGED_HINT = 'it was damaged or changed: record the run again';

/** Files are often packed before they are mailed: gzip and zip begin so, the first as it is read as text. */
function hintFor(text: string): string {
  const isPacked = text.startsWith('\u001f') || text.startsWith('PK');
  return isPacked ? 'it is packed: unpack it first' : NOT_ONE_HINT;
}

class RecordingReader {
  readonly #refuse: Refuse;
  readonly #entries: { readonly seq: number; readonly json: string }[] = [];
  #head: RecordingHead | undefined;
  #end: RecordingEnd | undefined;
  #line = 0;
  /** A line that is not JSON: refused unless it is the last one. */
  #cutLine: number | undefined;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  add(text: string): void {
    this.#line++;
    if (this.#line > 1 && text === '') return;
    if (this.#cutLine !== undefined) {
      throw this.#refuse(`is cut or damaged: line ${this.#cutLine} is not JSON`, FORGED_HINT);
    }
    if (this.#end !== undefined)
      throw this.#refuse(`goes on after its end, in line ${this.#line}`, FORGED_HINT);
    const value = this.#parse(text);
    if (value === undefined) return;
    if (this.#head === undefined) this.#head = this.#readHead(value);
    else if (isObject(value) && value['end'] === true) this.#end = this.#readEnd(value);
    else this.#addEntry(value, text);
  }

  end(): ReadRecording {
    if (this.#head === undefined) throw this.#refuse('is empty', NOT_ONE_HINT);
    const {
      run = this.#head.run,
      dropped = 0,
      failed_calls = this.#head.failed_calls ?? [],
    } = this.#end ?? {};
    const head = { ...this.#head, run, failed_calls };
    return { head, entries: this.#entries, dropped, isWhole: this.#end !== undefined };
  }

  /** Undefined for a line that is not JSON. */
  #parse(text: string): unknown {
    if (text.length <= MAX_LINE_LENGTH) {
      try {
        return JSON.parse(text);
      } catch {
        // Reported below, where it is known what was read before.
      }
    }
    if (this.#head === undefined) throw this.#refuse('is not a recording', hintFor(text));
    this.#cutLine = this.#line;
    return undefined;
  }

  #readHead(value: unknown): RecordingHead {
    if (!isObject(value) || !Object.hasOwn(value, 'wavetrain_recording')) {
      throw this.#refuse('is not a recording', NOT_ONE_HINT);
    }
    const { wavetrain_recording: version, run, statecharts, origin } = value;
    if (typeof version === 'number' && version > VERSION) {
      const writer =
        typeof value['version'] === 'string' ? ` ${toSingleLine(value['version']).slice(0, 40)}` : '';
      throw this.#refuse(
        `was recorded by ${PROGRAM}${writer}, in a format that is newer than this ${PROGRAM} ${readPackageJson().version}`,
        `update ${PROGRAM} to open it`,
      );
    }
    const isHead =
      version === VERSION &&
      isObject(run) &&
      typeof run['run_id'] === 'string' &&
      RUN_ID.test(run['run_id']) &&
      isRunStatus(run['status']) &&
      Array.isArray(statecharts) &&
      (origin === 'live' || origin === 'events') &&
      areFailedCalls(value['failed_calls']);
    if (!isHead) throw this.#refuse('has a head that no recording has', FORGED_HINT);
    if (isDeep(value, MAX_DEPTH))
      throw this.#refuse('is nested more deeply than a recording is', FORGED_HINT);
    return value as unknown as RecordingHead;
  }

  #readEnd(value: Record<string, unknown>): RecordingEnd {
    const { entries, dropped, run } = value;
    if (typeof entries === 'number' && entries !== this.#entries.length) {
      const found = this.#entries.length;
      throw this.#refuse(`says that it has ${entries} entries and has ${found}`, FORGED_HINT);
    }
    const isRun =
      run === undefined ||
      (isObject(run) && run['run_id'] === this.#head?.run.run_id && isRunStatus(run['status']));
    const isEnd =
      entries === this.#entries.length &&
      Number.isSafeInteger(dropped) &&
      Number(dropped) >= 0 &&
      isRun &&
      areFailedCalls(value['failed_calls']);
    if (isEnd && !isDeep(value, MAX_DEPTH)) return value as unknown as RecordingEnd;
    throw this.#refuse('has an end that no recording has', FORGED_HINT);
  }

  #addEntry(value: unknown, json: string): void {
    const seq = isEntry(value) && value.seq > (this.#entries.at(-1)?.seq ?? 0) ? value.seq : undefined;
    if (seq === undefined) {
      throw this.#refuse(`has no entry of an inspection in line ${this.#line}`, FORGED_HINT);
    }
    if (this.#entries.length >= INSPECTION_LIMITS.recordingEntries) {
      const most = formatNumber(INSPECTION_LIMITS.recordingEntries);
      throw this.#refuse(`has more than ${most} entries`, 'record a smaller run');
    }
    this.#entries.push({ seq, json });
  }
}

const RUN_ID = /^[0-9a-f-]{36}$/;
const RUN_STATUSES: readonly unknown[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

/** How deep lists and objects are inside each other: values are cut at 20, and the definition of a chart is flatter. */
const MAX_DEPTH = 100;

/** Checks the status, because it goes to the terminal. */
function isRunStatus(status: unknown): boolean {
  return RUN_STATUSES.includes(status);
}

/** Checks the parts of failed calls that a terminal and the page read. Older recordings have no failed calls. */
function areFailedCalls(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.length <= INSPECTION_LIMITS.failedCalls && value.every(isFailedCall);
}

function isFailedCall(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { task_id, sub_pipeline, item, status, inputs, inputs_error, error, attempts, cut } = value;
  return (
    typeof task_id === 'string' &&
    ['undefined', 'string'].includes(typeof sub_pipeline) &&
    (item === undefined || Number.isSafeInteger(item)) &&
    typeof status === 'string' &&
    (inputs === null || isObject(inputs)) &&
    (inputs_error === null || typeof inputs_error === 'string') &&
    (error === null || (isObject(error) && typeof error['message'] === 'string')) &&
    Array.isArray(attempts) &&
    Array.isArray(cut)
  );
}

/** Looks no deeper than that, so that no value overflows the stack. */
function isDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((member) => isDeep(member, left - 1));
}

const STATUSES: readonly unknown[] = ['active', 'done', 'error', 'stopped'];
const TEXTS = ['time', 'actor', 'src', 'event', 'state'] as const;

/** Longest of those texts. */
const MAX_TEXT_LENGTH = 10_000;

function isEntry(value: unknown): value is InspectionEntry {
  if (!isObject(value)) return false;
  const isText = (part: unknown): boolean => typeof part === 'string' && part.length <= MAX_TEXT_LENGTH;
  const isOptionalText = (part: unknown): boolean => part === null || isText(part);
  return (
    Number.isSafeInteger(value['seq']) &&
    TEXTS.every((name) => isText(value[name])) &&
    isOptionalText(value['source']) &&
    isOptionalText(value['from']) &&
    isOptionalText(value['transition'] ?? null) &&
    !isDeep(value, MAX_DEPTH) &&
    STATUSES.includes(value['status']) &&
    value['data'] !== undefined &&
    value['snapshot'] !== undefined
  );
}
