import { ToolError, WavetrainError } from '../common/errors.js';
import { fairYield } from '../common/scheduling/run-in-slices.js';
import type { RunQueries } from '../runs/views/run-queries.js';
import type { Clock } from '../common/clock.js';
import type { Steps } from '../common/scheduling/steps.js';
import { assertDefined } from '../definition/assert.js';
import { detectKind } from '../definition/schema/root.js';
import { requestSource, type Source } from '../definition/text/source.js';
import type { PipelineInput } from '../plans/plan.js';
import type { Graph } from '../pipelines/drawing/graph.js';
import type { PlanGraph } from '../plans/graph.js';
import type { RunRegistry } from '../runs/registry.js';
import { toDefinitionSource } from '../submission/definition-checker.js';
import type { SubmissionContent, SubmittedValues } from '../submission/submitter.js';
import type { Catalog } from '../tools/catalog.js';
import { LIBRARY_LIMITS } from './limits.js';
import { ROOT_TENANT } from './list-files.js';
import { measureShown, type ShownEntry, type ShownStart, toLastRun } from './named-pipeline.js';
import { comparePlace, type FolderEntry, type EntryPlace, toPlace } from './folder-entries.js';
import { type LibraryLog, PipelineFolder } from './pipeline-folder.js';
import { drawGraphInSteps, pipelineNotFound, type FileReading } from './read-definition.js';
import { FileSaving } from './save-file.js';
import { readTestsBeside, type TestsFile } from './plan-files.js';
import { findPipelinesInUse } from './unsaved-plan.js';
import { type FolderFile, readFileContent } from './write-file.js';

export interface LibraryOptions {
  /** Absolute. */
  readonly folder: string;
  readonly isWritable: boolean;
  /** Of one file. */
  readonly limitBytes: number;
  readonly isTenant: (name: string) => boolean;
  readonly registry: Pick<RunRegistry, 'queries' | 'stepRunner'>;
  /** Returns the tools, which may be others after {@link PipelineLibrary.readAgain} was called. */
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly log: LibraryLog;
  /** Makes names of unfinished files. */
  readonly newId: () => string;
}

export interface NamedQuery {
  /** Undefined: of all tenants. */
  readonly tenants: readonly string[] | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface ShownPage {
  readonly shown: readonly ShownEntry[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** A text that was parsed, and the pipelines that it has beside it. */
interface DefinitionOfText {
  readonly source: Source;
  readonly pipelines: ReadonlyMap<string, PipelineInput>;
}

/** A page ends early rather than being larger than this. */
const MAX_PAGE_BYTES = 2 ** 20;

const MAX_LAST_RUNS = 5;

/** Memory that a file takes for each of its bytes while it is read: as bytes, and as text. */
const READ_FACTOR = 3;

/** The pipelines and plans that a server has in its folder (D69). */
export class PipelineLibrary {
  readonly saving: FileSaving;
  /** Resolves when all files have been read for the first time. */
  readonly loaded: Promise<void>;
  readonly #folder: PipelineFolder;
  readonly #options: LibraryOptions;
  readonly #reading: FileReading;
  readonly #listeners: (() => void)[] = [];
  /** The last file that each tenant reads. */
  readonly #reads = new Map<string, Promise<unknown>>();

  private constructor(options: LibraryOptions, folder: PipelineFolder, reading: FileReading) {
    this.#options = options;
    this.#folder = folder;
    this.#reading = reading;
    this.loaded = folder.watch(() => {
      for (const listener of this.#listeners) listener();
    });
    const readText = this.read.bind(this);
    this.saving = new FileSaving({ ...options, folder, reading, loaded: this.loaded, readText });
  }

  /** Opens the folder, and begins to read it. Rejects with `bad_usage` when there is none. */
  static async open(options: LibraryOptions): Promise<PipelineLibrary> {
    const { catalog, registry, limitBytes } = options;
    const reading: FileReading = {
      get catalog() {
        return catalog();
      },
      limitBytes: Math.min(limitBytes, LIBRARY_LIMITS.fileBytes),
      check: (steps, tenantId) => registry.stepRunner.check(steps, tenantId),
    };
    const folder = await PipelineFolder.open({ ...options, path: options.folder, reading });
    return new PipelineLibrary(options, folder, reading);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Looks at the folder now, as it does by itself every 2 seconds. */
  lookAgain(): Promise<void> {
    return this.#folder.look();
  }

  /** Reads all files again, because there are other tools. */
  readAgain(): void {
    this.#folder.readAgain();
  }

  get entries(): readonly FolderEntry[] {
    return this.#folder.entries;
  }

  /** How many definitions there are, and how many of them have problems. */
  get counts(): { readonly pipelines: number; readonly broken: number } {
    const { entries } = this.#folder;
    return { pipelines: entries.length, broken: entries.filter(({ isValid }) => !isValid).length };
  }

  /** One page, by tenant, id and file. Rejects with `invalid_request` for a malformed cursor. */
  async list({ tenants, limit, cursor }: NamedQuery, showStart: ShowStart): Promise<ShownPage> {
    await this.loaded;
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const seen = this.entries.filter(
      (entry) =>
        (tenants === undefined || tenants.includes(entry.listed.tenantId)) &&
        (after === undefined || comparePlace(toPlace(entry), after) > 0),
    );
    const entries = seen.slice(0, limit);
    const shown = await this.#look(entries, showStart);
    let bytes = 0;
    let count = 0;
    for (const pipeline of shown) {
      bytes += measureShown(pipeline);
      if (bytes > MAX_PAGE_BYTES && count > 0) break;
      count++;
    }
    const last = entries[count - 1];
    const hasMore = count < seen.length && last !== undefined;
    return { shown: shown.slice(0, count), nextCursor: hasMore ? encodeCursor(toPlace(last)) : null };
  }

  async look(entry: FolderEntry, showStart: ShowStart): Promise<ShownEntry> {
    const [shown] = await this.#look([entry], showStart);
    return assertDefined(shown, 'the entry that was given');
  }

  async #look(entries: readonly FolderEntry[], showStart: ShowStart): Promise<ShownEntry[]> {
    const { registry } = this.#options;
    const payer = entries[0]?.listed.tenantId ?? ROOT_TENANT;
    const definitions = entries.map(({ listed: { tenantId }, id }) => ({ tenantId, id }));
    const runs = await registry.queries.lastRuns(definitions, MAX_LAST_RUNS, payer);
    return registry.stepRunner.run(lookInSteps(entries, showStart, runs), payer);
  }

  /** The entry of an id, as far as files have been read. */
  find(tenantId: string, id: string): FolderEntry | undefined {
    return this.#folder.find(tenantId, id);
  }

  /** Rejects with `pipeline_not_found`. */
  async entry(tenantId: string, id: string): Promise<FolderEntry> {
    await this.loaded;
    const entry = this.#folder.find(tenantId, id);
    if (entry === undefined) throw pipelineNotFound(id);
    return entry;
  }

  /** The pipelines that a changed text of a plan has, in steps; it is not saved yet. @param entry the plan that it is to replace */
  pipelinesOf({ listed: { file, tenantId } }: FolderEntry, text: Pick<Source, 'value'>) {
    return findPipelinesInUse(text, file, {
      files: this.#folder.filesOf(tenantId),
      find: (path) => this.#folder.goodVersion(tenantId, path),
    });
  }

  /** The tests beside a definition (D91); undefined when there are none. Rejects as {@link read}. */
  async readTests(entry: FolderEntry, hold: (bytes: number) => void): Promise<TestsFile | undefined> {
    hold(READ_FACTOR * this.#reading.limitBytes);
    try {
      return await readTestsBeside(entry.listed, this.#folder.root, this.#reading.limitBytes);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      throw new WavetrainError('pipeline_not_found', error.message, { cause: error });
    }
  }

  /** A text of a definition with the pipelines that it has: those of files that are in use, if it is a plan. */
  async sourcesOf(entry: FolderEntry, text: string): Promise<DefinitionOfText> {
    const { check } = this.#reading;
    const { tenantId } = entry.listed;
    const source = await check(requestSource(text), tenantId);
    const isPlan = detectKind(source.value) === 'plan';
    return { source, pipelines: isPlan ? await check(this.pipelinesOf(entry, source), tenantId) : new Map() };
  }

  /** The graph of the definition that is in use; null when there is none. Rejects with its problems when a tool has gone. */
  async graph({ good, listed }: FolderEntry): Promise<Graph | PlanGraph | null> {
    const { catalog, check } = this.#reading;
    return good === undefined ? null : check(drawGraphInSteps(good, catalog), listed.tenantId);
  }

  /** A run of the definition that is in use, for its tenant. Throws `pipeline_not_found` when no version was without errors. */
  toSubmission(
    { good, id, listed: { tenantId } }: FolderEntry,
    values: SubmittedValues = {},
  ): SubmissionContent {
    if (good === undefined) {
      const message = `"${id}" has errors, and no version without any is known: GET /pipelines/${id} lists them`;
      throw new WavetrainError('pipeline_not_found', message);
    }
    const definition = toDefinitionSource(good);
    return { definition, values, tenantId, submittedText: good.text, isOfFolder: true };
  }

  /**
   * The text of a file. Rejects with `pipeline_not_found` when it cannot be read, and as `hold` throws. A tenant reads one
   * file after another: each takes some milliseconds of the event loop.
   *
   * @param hold takes the memory that is needed until it was read, in bytes
   */
  async read(entry: FolderEntry, hold: (bytes: number) => void): Promise<FolderFile> {
    const { tenantId, bytes } = entry.listed;
    hold(READ_FACTOR * bytes);
    const reading = (this.#reads.get(tenantId) ?? Promise.resolve()).then(() => this.#read(entry));
    const last = reading.catch(() => undefined);
    this.#reads.set(tenantId, last);
    try {
      return await reading;
    } finally {
      if (this.#reads.get(tenantId) === last) this.#reads.delete(tenantId);
    }
  }

  async #read({ listed: { file, realPath, tenantId } }: FolderEntry): Promise<FolderFile> {
    await fairYield(tenantId);
    try {
      return { file, ...(await readFileContent(realPath, file, this.#reading.limitBytes)) };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      throw new WavetrainError('pipeline_not_found', error.message, { cause: error });
    }
  }

  close(): void {
    this.#folder.close();
  }
}

function* lookInSteps(
  entries: readonly FolderEntry[],
  showStart: ShowStart,
  runs: Awaited<ReturnType<RunQueries['lastRuns']>>,
): Steps<ShownEntry[]> {
  const shown: ShownEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    yield;
    shown.push({ entry, start: showStart(entry), lastRuns: (runs[index] ?? []).map(toLastRun) });
  }
  return shown;
}

export type ShowStart = (entry: FolderEntry) => ShownStart;

function encodeCursor(place: EntryPlace): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function decodeCursor(cursor: string): EntryPlace {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(place) && place.length === 3 && place.every((part) => typeof part === 'string')) {
      return place as unknown as EntryPlace;
    }
  } catch {
    // The text is no cursor of ours.
  }
  throw new WavetrainError('invalid_request', 'cursor must be the next_cursor of an earlier page');
}
