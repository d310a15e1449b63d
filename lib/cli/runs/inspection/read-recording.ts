import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describeErrno } from '../../../common/files.js';
import { isObject } from '../../../common/json.js';
import { INSPECTION_LIMITS } from '../../../common/limits.js';
import { formatMebibytes } from '../../../common/text.js';
import type { InspectionEntry } from '../../../runs/inspection/entry.js';
import type { RecordingEnd, RecordingHead } from '../../../runs/inspection/recording.js';
import { PROGRAM } from '../../package-info.js';
import { UsageError } from '../../usage-errors.js';

/** A recording that was read whole. */
export interface ReadRecording {
  readonly head: RecordingHead;
  /** The entries as JSON, in order; their numbers grow. */
  readonly entries: readonly { readonly seq: number; readonly json: string }[];
  readonly dropped: number;
}

const VERSION = 1;

/** Characters of a line: an entry has far fewer, and the head some hundred thousand. */
const MAX_LINE_LENGTH = 16 * 2 ** 20;

/**
 * Reads and checks a recording: it may come from anybody.
 *
 * @throws UsageError that says in one sentence what is wrong with the file
 */
export async function readRecording(name: string, cwd: string): Promise<ReadRecording> {
  const path = resolve(cwd, name);
  const refuse = (problem: string, hint: string): UsageError => new UsageError(`${name} ${problem}`, hint);
  const size = await stat(path).then(
    (stats) => (stats.isFile() ? stats.size : undefined),
    (error: unknown) => {
      throw new UsageError(`cannot read ${name}: ${describeErrno(error)}`);
    },
  );
  if (size === undefined) throw refuse('is not a file', NOT_ONE_HINT);
  if (size > INSPECTION_LIMITS.recordingBytes) {
    throw refuse(
      `has ${formatMebibytes(size)}, more than a recording may have`,
      `the most is ${formatMebibytes(INSPECTION_LIMITS.recordingBytes)}`,
    );
  }
  const reader = new RecordingReader(refuse);
  const input = createReadStream(path, { encoding: 'utf8' });
  try {
    const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) reader.add(line);
  } finally {
    input.destroy();
  }
  return reader.end();
}

const NOT_ONE_HINT = `${PROGRAM} run FILE --record out.wtrec writes a recording`;
const FORGED_HINT = 'it was damaged or changed: record the run again';
const CUT_HINT =
  'the program that wrote it was ended, or the file was not copied whole: record the run again';

class RecordingReader {
  readonly #refuse: (problem: string, hint: string) => UsageError;
  readonly #entries: { readonly seq: number; readonly json: string }[] = [];
  #head: RecordingHead | undefined;
  #end: RecordingEnd | undefined;
  #line = 0;

  constructor(refuse: (problem: string, hint: string) => UsageError) {
    this.#refuse = refuse;
  }

  add(text: string): void {
    this.#line++;
    if (this.#line > 1 && text === '') return;
    if (this.#end !== undefined)
      throw this.#refuse(`goes on after its end, in line ${this.#line}`, FORGED_HINT);
    const value = this.#parse(text);
    if (this.#head === undefined) this.#head = this.#readHead(value);
    else if (isObject(value) && value['end'] === true) this.#end = this.#readEnd(value);
    else this.#addEntry(value, text);
  }

  end(): ReadRecording {
    if (this.#head === undefined) throw this.#refuse('is empty', NOT_ONE_HINT);
    if (this.#end === undefined) {
      throw this.#refuse(`is cut: it ends after line ${this.#line}, without the line of its end`, CUT_HINT);
    }
    const run = this.#end.run ?? this.#head.run;
    return { head: { ...this.#head, run }, entries: this.#entries, dropped: this.#end.dropped };
  }

  #parse(text: string): unknown {
    if (text.length <= MAX_LINE_LENGTH) {
      try {
        return JSON.parse(text);
      } catch {
        // Reported below, where it is known what was read before.
      }
    }
    if (this.#head === undefined) throw this.#refuse('is not a recording', NOT_ONE_HINT);
    throw this.#refuse(`is cut or damaged: line ${this.#line} is not JSON`, CUT_HINT);
  }

  #readHead(value: unknown): RecordingHead {
    if (!isObject(value) || !Object.hasOwn(value, 'wavetrain_recording')) {
      throw this.#refuse('is not a recording', NOT_ONE_HINT);
    }
    const { wavetrain_recording: version, run, statecharts, origin } = value;
    if (typeof version === 'number' && version > VERSION) {
      const writer = typeof value['version'] === 'string' ? ` ${value['version'].slice(0, 40)}` : '';
      throw this.#refuse(
        `was recorded by a newer version of ${PROGRAM}${writer}`,
        `update ${PROGRAM} to open it`,
      );
    }
    const isHead =
      version === VERSION &&
      isObject(run) &&
      typeof run['run_id'] === 'string' &&
      RUN_ID.test(run['run_id']) &&
      Array.isArray(statecharts) &&
      (origin === 'live' || origin === 'events');
    if (!isHead) throw this.#refuse('has a head that no recording has', FORGED_HINT);
    return value as unknown as RecordingHead;
  }

  #readEnd(value: Record<string, unknown>): RecordingEnd {
    const { entries, dropped, run } = value;
    const isEnd =
      entries === this.#entries.length &&
      Number.isSafeInteger(dropped) &&
      (run === undefined || (isObject(run) && run['run_id'] === this.#head?.run.run_id));
    if (isEnd) return value as unknown as RecordingEnd;
    throw this.#refuse(
      `says that it has ${String(entries).slice(0, 20)} entries and has ${this.#entries.length}`,
      FORGED_HINT,
    );
  }

  #addEntry(value: unknown, json: string): void {
    const seq = isEntry(value) && value.seq > (this.#entries.at(-1)?.seq ?? 0) ? value.seq : undefined;
    if (seq === undefined) {
      throw this.#refuse(`has no entry of an inspection in line ${this.#line}`, FORGED_HINT);
    }
    if (this.#entries.length >= INSPECTION_LIMITS.recordingEntries) {
      const most = INSPECTION_LIMITS.recordingEntries.toLocaleString('en');
      throw this.#refuse(`has more than ${most} entries`, 'record a smaller run');
    }
    this.#entries.push({ seq, json });
  }
}

const RUN_ID = /^[0-9a-f-]{36}$/;
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
    STATUSES.includes(value['status']) &&
    value['data'] !== undefined &&
    value['snapshot'] !== undefined
  );
}
