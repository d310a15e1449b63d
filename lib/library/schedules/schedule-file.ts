import { open, readFile, rename, rm } from 'node:fs/promises';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { describeErrno } from '../../common/files.js';
import { isObject } from '../../common/json/json.js';
import type { LastDue } from '../named-pipeline.js';
import type { LibraryLog } from '../pipeline-folder.js';

/** The state of a schedule, as it is kept for another process. */
export interface KeptSchedule {
  readonly tenant_id: string;
  readonly id: string;
  /** The schedule that this state is about: of another schedule, other times were due. */
  readonly schedule: string;
  /** Up to here, every time has been looked at: milliseconds since 1970, UTC. */
  readonly handled_at: number;
  readonly last: LastDue | null;
  readonly run_id: string | null;
  /** The time whose run waits for the last run to settle. */
  readonly waiting: number | null;
  /** The end of the last run that has succeeded, as a time; earlier versions have kept none. */
  readonly succeeded_at?: number | null;
}

const FORMAT = 1;

/**
 * A JSON file beside the store of runs, which says how far each schedule has come (D70). It is written as a whole, after what
 * it says is true: a crash in between is made up for by the key of the run.
 */
export class ScheduleFile {
  readonly #path: string;
  readonly #log: LibraryLog;
  readonly #collect: () => Iterable<KeptSchedule>;
  #isDirty = false;
  #isWriting = false;
  #written: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(path: string, log: LibraryLog, collect: () => Iterable<KeptSchedule>) {
    this.#path = path;
    this.#log = log;
    this.#collect = collect;
  }

  /** Reads what another process has kept; nothing when there is no file. Rejects with `bad_usage` for one of another kind. */
  static async read(path: string): Promise<readonly KeptSchedule[]> {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return [];
      const message = `cannot read the schedules in ${path}: ${describeErrno(cause)}`;
      throw new WavetrainError('bad_usage', message, { cause });
    }
    const kept = parse(text);
    if (kept !== undefined) return kept;
    const message = `${path} does not say how far schedules have come, or a newer Wavetrain has written it: remove it, and they begin anew`;
    throw new WavetrainError('bad_usage', message);
  }

  /** Writes the file, again if something changes meanwhile. */
  save(): void {
    this.#isDirty = true;
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#written = this.#write();
  }

  /** Resolves when nothing is left to write. */
  async idle(): Promise<void> {
    while (this.#isWriting) await this.#written;
  }

  async #write(): Promise<void> {
    while (this.#isDirty) {
      this.#isDirty = false;
      try {
        await this.#replace(JSON.stringify({ format: FORMAT, schedules: [...this.#collect()] }));
        this.#hasFailed = false;
      } catch (error) {
        // The runs themselves are kept: a restart may make up for times again that it cannot know of.
        if (!this.#hasFailed)
          this.#log.warn({}, `cannot keep how far schedules have come: ${errorMessage(error)}`);
        this.#hasFailed = true;
      }
    }
    this.#isWriting = false;
  }

  async #replace(text: string): Promise<void> {
    const unfinished = `${this.#path}.tmp`;
    try {
      const handle = await open(unfinished, 'w', 0o600);
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, this.#path);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw error;
    }
  }
}

/** Undefined for what this version has not written. */
function parse(text: string): readonly KeptSchedule[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value['format'] !== FORMAT || !Array.isArray(value['schedules'])) return undefined;
  const isOurs = (kept: unknown): kept is KeptSchedule =>
    isObject(kept) &&
    ['tenant_id', 'id', 'schedule'].every((field) => typeof kept[field] === 'string') &&
    Number.isFinite(kept['handled_at']);
  return value['schedules'].every(isOurs) ? value['schedules'] : undefined;
}
