import { isDeepStrictEqual } from 'node:util';
import { WavetrainError } from '../common/errors.js';
import { isTestFile } from '../common/files.js';
import { requestSource } from '../definition/text/source.js';
import { PIPELINE_ID } from '../definition/schema/definition-fields.js';
import type { FolderEntry } from './folder-entries.js';
import { LIBRARY_LIMITS } from './limits.js';
import { ROOT_TENANT, TENANTS_FOLDER } from './list-files.js';
import type { LibraryLog, PipelineFolder } from './pipeline-folder.js';
import {
  checkDefinitionText,
  type FileReading,
  type GoodVersion,
  pickStart,
  pipelineNotFound,
  type ReadFile,
} from './read-definition.js';
import { writePause } from './schedules/write-pause.js';
import { assertVersion, createFile, FileChangedError, type FolderFile, replaceFile } from './write-file.js';
import type { SavedFileSchema } from '../common/wire/named-pipeline.js';
import type { Shape } from '../common/wire/shape.js';

export interface SaveRequest {
  readonly tenantId: string;
  readonly id: string;
  readonly text: string;
  /** The version that is replaced; null creates a file. */
  readonly expected: string | null;
  /** True when the caller may start runs, as a new or changed schedule or webhook does. */
  readonly mayRun: boolean;
  /** Aborts when the caller has left. */
  readonly signal?: AbortSignal | undefined;
}

/** A schedule that is to be paused, or resumed. */
export interface PauseRequest extends Pick<SaveRequest, 'tenantId' | 'id' | 'mayRun' | 'signal'> {
  readonly isPaused: boolean;
  /** Takes the memory that is needed until the file is saved, in bytes. */
  readonly hold: (bytes: number) => void;
}

export interface SavedFile extends Shape<typeof SavedFileSchema> {}

interface SavingOptions {
  readonly isWritable: boolean;
  readonly folder: PipelineFolder;
  readonly reading: FileReading;
  /** Resolves when all files have been read. */
  readonly loaded: Promise<void>;
  /** Reads a file, after it took the memory that it needs. */
  readonly readText: (entry: FolderEntry, hold: PauseRequest['hold']) => Promise<FolderFile>;
  readonly log: LibraryLog;
  /** Makes names of unfinished files. */
  readonly newId: () => string;
}

interface TenantSaves {
  count: number;
  /** The last save to write: saves write one after another, so that no file is created or replaced twice. */
  writing: Promise<unknown>;
}

/** Saves files of the folder (D72). No tenant waits for the saves of another. */
export class FileSaving {
  readonly isWritable: boolean;
  readonly #options: SavingOptions;
  readonly #saves = new Map<string, TenantSaves>();

  constructor(options: SavingOptions) {
    this.isWritable = options.isWritable;
    this.#options = options;
  }

  /** @throws WavetrainError `forbidden` */
  assertWritable(): void {
    if (this.isWritable) return;
    throw new WavetrainError(
      'forbidden',
      'this server only reads its folder: SERVICE_PIPELINES_WRITABLE=true lets keys with the scope "edit" save files',
    );
  }

  /**
   * Saves the text of a definition, also one with errors: then the last version without any stays in use (D72). Resolves with
   * undefined when the caller has left before it was written. Rejects with `queue_full`, `forbidden`, `invalid_request`,
   * `body_too_large`, `pipeline_not_found` or `file_changed`.
   */
  async save(request: SaveRequest): Promise<SavedFile | undefined> {
    return this.#withPlace(request.tenantId, (saves) => this.#save(request, saves));
  }

  /**
   * Writes into the file of a definition that its schedule is paused, or that it is not: a save of what the file has
   * now. A file with errors is refused with `invalid_request`, since its earlier version would stay in use; otherwise
   * as {@link save}.
   */
  async pause(request: PauseRequest): Promise<SavedFile | undefined> {
    return this.#withPlace(request.tenantId, (saves) => this.#pause(request, saves));
  }

  async #withPlace<T>(tenantId: string, work: (saves: TenantSaves) => Promise<T>): Promise<T> {
    this.assertWritable();
    const saves = this.#saves.get(tenantId) ?? { count: 0, writing: Promise.resolve() };
    if (saves.count >= LIBRARY_LIMITS.tenantSaves) {
      const message = `tenant "${tenantId}" saves ${LIBRARY_LIMITS.tenantSaves} files already: try again when one of them is saved`;
      throw new WavetrainError('queue_full', message);
    }
    this.#saves.set(tenantId, saves);
    saves.count++;
    try {
      return await work(saves);
    } finally {
      if (--saves.count === 0) this.#saves.delete(tenantId);
    }
  }

  async #pause(request: PauseRequest, saves: TenantSaves): Promise<SavedFile | undefined> {
    const { folder, reading, loaded, readText } = this.#options;
    await loaded;
    const { tenantId, id, mayRun, signal, isPaused, hold } = request;
    const entry = folder.find(tenantId, id);
    if (entry === undefined) throw pipelineNotFound(id);
    if (!mayRun) throw new WavetrainError('forbidden', RUN_NEEDED_TO_PAUSE);
    const { file, text, version } = await readText(entry, hold);
    const source = await reading.check(requestSource(text), tenantId);
    if (source.value === undefined) throw hasErrors(id);
    const written = writePause(text, source, isPaused);
    if (written === text) return { file, version, ok: entry.isValid, problems: entry.problems };
    const saved = { tenantId, id, mayRun, signal, text: written, expected: version };
    return this.#save(saved, saves, { mustBeValid: true });
  }

  async #save(
    request: SaveRequest,
    saves: TenantSaves,
    { mustBeValid = false } = {},
  ): Promise<SavedFile | undefined> {
    const { folder, reading, loaded } = this.#options;
    await loaded;
    const { tenantId, id, text, mayRun } = request;
    const { entry, file } = await this.#assertReplaceable(request);
    const read = await checkDefinitionText(text, { file, tenantId }, folder.filesOf(tenantId), reading);
    if (read.id !== undefined && read.id !== id) {
      const message = `the id in the text is "${read.id}", not "${id}": save it under its own id`;
      throw new WavetrainError('invalid_request', message);
    }
    if (mustBeValid && read.good === undefined) throw hasErrors(id);
    if (!mayRun && startsMore(read, entry?.good)) throw new WavetrainError('forbidden', RUN_NEEDED);
    const written = saves.writing.then(() => this.#write(request, file, read));
    saves.writing = written.catch(() => undefined);
    const version = await written;
    if (version === undefined) return undefined;
    const now = folder.find(tenantId, id);
    const problems = now?.listed.file === file ? now.problems : read.problems;
    return { file, version, ok: read.good !== undefined && now?.isValid === true, problems };
  }

  /** Refuses, before the text is checked, what cannot be saved whatever is in it. */
  async #assertReplaceable(
    request: SaveRequest,
  ): Promise<{ readonly file: string; readonly entry: FolderEntry | undefined }> {
    const { tenantId, id, text, expected } = request;
    const { folder, reading } = this.#options;
    const { limitBytes } = reading;
    const bytes = Buffer.byteLength(text);
    if (bytes > limitBytes) {
      const message = `a file may have ${limitBytes.toLocaleString('en')} bytes`;
      throw new WavetrainError('body_too_large', message);
    }
    const entry = folder.find(tenantId, id);
    if (expected === null && !ID.test(id)) throw new WavetrainError('invalid_request', INVALID_ID);
    const file = expected === null ? newFile(tenantId, id) : entry?.listed.file;
    if (file === undefined) throw pipelineNotFound(id);
    if (isTestFile(file)) throw new WavetrainError('invalid_request', TEST_ID);
    if (expected === null && entry !== undefined) {
      const message = `${entry.listed.file} has the id "${id}" already: open it, or choose another id`;
      throw new FileChangedError(message, null);
    }
    if (entry?.listed.isLink === true) {
      const message = `${file} is a symbolic link, which is not written through: edit the file itself`;
      throw new WavetrainError('forbidden', message);
    }
    if (expected !== null && entry !== undefined) {
      await assertVersion(entry.listed.realPath, { file }, expected, limitBytes);
    }
    folder.room.assertRoom(file, tenantId, bytes);
    return { file, entry };
  }

  /** Writes a text that was checked. Resolves with its version; undefined when the caller has left. */
  async #write(
    { tenantId, text, expected, signal }: SaveRequest,
    file: string,
    read: ReadFile,
  ): Promise<string | undefined> {
    if (signal?.aborted === true) return undefined;
    const { folder, reading, log, newId } = this.#options;
    const { room, root } = folder;
    const { bytes } = read.used;
    room.assertRoom(file, tenantId, bytes);
    room.hold(file, tenantId, Math.max(bytes, room.heldBy(file)));
    const target = { root, file, text, id: newId() };
    let version: string;
    try {
      version = await (expected === null
        ? createFile(target)
        : replaceFile(target, expected, reading.limitBytes));
    } catch (error) {
      folder.holdRoom(file, tenantId);
      throw error;
    }
    log.info({ file, tenant: tenantId }, 'a file of SERVICE_PIPELINES was saved');
    await folder.use({ file, tenantId, version, read });
    return version;
  }
}

/** Returns true when a text has a schedule or a webhook that the version in use has not. */
function startsMore({ start, problems }: ReadFile, good: GoodVersion | undefined): boolean {
  // A parser that has more time, or is another one, may read it later.
  if (start === undefined) return problems.some(({ code }) => code === 'too_large');
  const { webhook, ...schedule } = start;
  const { webhook: usedWebhook, ...usedSchedule } = pickStart(good?.definition ?? {});
  if (webhook !== undefined && !isDeepStrictEqual(webhook, usedWebhook)) return true;
  return schedule.schedule !== undefined && !isDeepStrictEqual(schedule, usedSchedule);
}

const RUN_NEEDED =
  'this key lacks the scope "run", which a new or changed schedule or webhook needs: it starts runs';

const RUN_NEEDED_TO_PAUSE =
  'this key lacks the scope "run", which pausing and resuming a schedule needs: it decides which runs start';

function hasErrors(id: string): WavetrainError {
  const message = `the file has errors: fix them first, because the server goes on with the version before them; GET /pipelines/${id} lists them`;
  return new WavetrainError('invalid_request', message);
}

const ID = new RegExp(PIPELINE_ID);
const INVALID_ID =
  'an id has up to 128 letters, digits, _, - and dots, and does not begin with a dot or a hyphen';

const TEST_ID = 'an id may not end with .test: a file of that name has tests of the definition beside it';

function newFile(tenantId: string, id: string): string {
  return tenantId === ROOT_TENANT ? `${id}.yaml` : `${TENANTS_FOLDER}/${tenantId}/${id}.yaml`;
}
