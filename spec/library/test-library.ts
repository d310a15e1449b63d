import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PipelineLibrary } from '../../lib/library/library.js';
import { type NamedPipeline, toNamedPipeline } from '../../lib/library/named-pipeline.js';
import type { LibraryLog } from '../../lib/library/pipeline-folder.js';
import { Scheduler } from '../../lib/library/schedules/scheduler.js';
import { readSource, type Source } from '../../lib/definition/text/source.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import type { RegistryOptions } from '../../lib/runs/registry-options.js';
import type { RunSummary } from '../../lib/common/wire/run-summary.js';
import { SqliteStore } from '../../lib/runs/store/sqlite/sqlite-store.js';
import { DefinitionChecker } from '../../lib/submission/definition-checker.js';
import { Submitter } from '../../lib/submission/submitter.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { ControlledTool } from '../support/controlled-tool.js';
import { type Deferred, deferred, settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { ROOT } from '../project/files.js';
import { useTemporaryFolder } from '../support/temporary-folder.js';

export interface TestLibraryOptions extends Pick<RegistryOptions, 'store' | 'admission'> {
  readonly clock?: ManualClock;
  readonly isWritable?: boolean;
  readonly scheduleFile?: string;
}

/** Parses texts, and holds those that the spec wants to be hard. */
class HeldParser {
  /** The texts that were parsed, or are being parsed. */
  texts: string[] = [];
  readonly #held = new Map<string, Deferred<void>>();

  /** Texts with this mark wait until the returned function is called. */
  hold(mark: string): () => void {
    const held = deferred<void>();
    this.#held.set(mark, held);
    return () => {
      this.#held.delete(mark);
      held.resolve();
    };
  }

  /** How many of the texts have a mark. */
  count(mark: string): number {
    return this.texts.filter((text) => text.includes(mark)).length;
  }

  readonly parse = async (text: string): Promise<Source> => {
    this.texts.push(text);
    for (const [mark, { promise }] of this.#held) if (text.includes(mark)) await promise;
    return readSource(text);
  };
}

/** Steps that are shorter than what a scheduler waits for. */
const STEP_MS = 15_000;

/** The folder `pipelines` as one process has it, with the tool `wait`, which the spec ends. */
export class TestLibrary {
  readonly log: string[] = [];
  readonly #libraryLog: LibraryLog = {
    info: (_facts, message) => void this.log.push(message),
    warn: (facts, message) => void this.log.push(`warning: ${message} ${JSON.stringify(facts)}`),
  };
  readonly controlled = new ControlledTool('wait');
  /** The sources that have started no run because others of the definition were at work. */
  readonly skipped: string[] = [];
  readonly parser = new HeldParser();
  readonly clock: ManualClock;
  readonly registry: RunRegistry;
  readonly #catalog = builtinCatalog().with([this.controlled.tool]);
  readonly #options: TestLibraryOptions;
  #library: PipelineLibrary | undefined;
  #scheduler: Scheduler | undefined;
  readonly #submitter: Submitter;
  readonly #checker: DefinitionChecker;

  private constructor(options: TestLibraryOptions) {
    this.#options = options;
    const { clock = new ManualClock(), store, admission } = options;
    this.clock = clock;
    this.registry = new RunRegistry({
      clock,
      store,
      parseText: this.parser.parse,
      ...(admission && { admission }),
      onSettled: (run) => this.#scheduler?.onSettled(run),
    });
    this.#checker = new DefinitionChecker(this.registry.stepRunner, this.#catalog);
    this.#submitter = new Submitter(this.registry, this.#checker);
  }

  /** Opens the folder, and waits until its files were read. */
  static async open(
    folder: { readonly path: string },
    options: TestLibraryOptions = {},
  ): Promise<TestLibrary> {
    const opened = new TestLibrary(options);
    await opened.#open(join(folder.path, 'pipelines'));
    return opened;
  }

  async #open(folder: string): Promise<void> {
    mkdirSync(folder, { recursive: true });
    const { registry, clock } = this;
    let ids = 0;
    this.#library = await PipelineLibrary.open({
      folder,
      isWritable: this.#options.isWritable ?? false,
      limitBytes: 2 ** 20,
      isTenant: (name) => /^[a-z]+$/.test(name),
      registry,
      catalog: () => this.#catalog,
      clock,
      log: this.#libraryLog,
      newId: () => `id${++ids}`,
    });
    await this.#library.loaded;
  }

  get library(): PipelineLibrary {
    if (this.#library === undefined) throw new Error('the library is not open');
    return this.#library;
  }

  get scheduler(): Scheduler {
    if (this.#scheduler === undefined) throw new Error('the schedules are not at work');
    return this.#scheduler;
  }

  /** Restores the runs of the store, then lets schedules start others. */
  async startSchedules(): Promise<void> {
    const { library, registry, clock } = this;
    const submitter = this.#submitter;
    await registry.restore(this.#checker.revive);
    const log = this.#libraryLog;
    const file = this.#options.scheduleFile;
    this.#scheduler = new Scheduler({
      library,
      registry,
      submitter,
      clock,
      log,
      file,
      onSkipped: (by) => this.skipped.push(by),
    });
    await this.#scheduler.start();
    await settle(10);
  }

  /** Lets time pass in short steps, as it does. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.clock.advance(Math.min(left, STEP_MS));
      await settle(3);
      await this.#scheduler?.idle();
    }
  }

  /** Looks at the folder so often that changes count. */
  async look(): Promise<void> {
    // The timers of the library may look at the folder too; each look comes after the others.
    for (let times = 0; times < 3; times++) {
      this.clock.advance(2000);
      await this.library.lookAgain();
    }
    await settle(5);
  }

  async show(id: string, tenantId = 'default'): Promise<NamedPipeline> {
    const entry = await this.library.entry(tenantId, id);
    const schedule = this.#scheduler;
    const shown = await this.library.look(entry, () => ({
      schedule: schedule === undefined ? null : schedule.show(entry),
      isWebhookReady: false,
    }));
    return toNamedPipeline(shown);
  }

  /** Submits a run of a definition, as a request does. */
  async submit(id: string): Promise<string> {
    const entry = await this.library.entry('default', id);
    const startedBy = { kind: 'anonymous', name: null } as const;
    return this.#submitter.submit({ ...this.library.toSubmission(entry), startedBy });
  }

  /** All runs of this process, the oldest first. */
  get runs(): readonly RunSummary[] {
    return this.registry.list({ limit: 500 }).runs.toReversed();
  }

  /** All runs, with those that have settled in an earlier process, the oldest first. */
  async listKeptRuns(): Promise<readonly RunSummary[]> {
    const { runs } = await this.registry.queries.listInTurns({ limit: 500 }, 'default');
    return runs.toReversed();
  }

  /** When the runs were created, the oldest first, as `06:00`. */
  get creationTimes(): string[] {
    return this.runs.map(({ created_at: time }) => time.slice(11, 16));
  }

  /** Ends the process without letting it do anything more, as far as that can be done here. */
  async close(): Promise<void> {
    const isKept = this.#scheduler?.close();
    this.#library?.close();
    const closed = this.registry.close(0);
    // The end of the time that running runs have.
    this.clock.advance(1);
    await settle();
    for (const call of this.controlled.calls) call.resolve('ended');
    await closed;
    await isKept;
  }
}

/** The text of a pipeline with one task, which waits for the spec. @param fields further ones, as `schedule: …` */
export function pipelineText(id: string, fields: string, goal = 'wait'): string {
  return `pipeline: {id: ${id}, goal: ${goal}, ${fields === '' ? '' : `${fields}, `}tasks: [{id: a, tool: wait}]}\n`;
}

/** Gives each spec of a suite a folder, and closes the libraries that the spec has opened there. */
export function useLibraries() {
  const opened = new Set<TestLibrary>();
  afterEach(async () => {
    for (const each of opened) await each.close();
    opened.clear();
  });
  const folder = useTemporaryFolder();
  const open = async (options?: TestLibraryOptions): Promise<TestLibrary> => {
    const library = await TestLibrary.open(folder, options);
    opened.add(library);
    return library;
  };
  const start = async (options?: TestLibraryOptions): Promise<TestLibrary> => {
    const library = await open(options);
    await library.startSchedules();
    return library;
  };
  /** Starts schedules that the next process goes on with. */
  const startStored = async (clock?: ManualClock): Promise<TestLibrary> =>
    start({
      ...(clock && { clock }),
      store: await SqliteStore.open(folder.at('runs.db'), join(ROOT, 'dist', 'store-thread.cjs')),
      scheduleFile: folder.at('runs.db.schedules.json'),
    });
  const close = async (library: TestLibrary): Promise<void> => {
    opened.delete(library);
    await library.close();
  };
  const write = (file: string, text: string): string => folder.write(`pipelines/${file}`, text);
  const read = (file: string): string => readFileSync(folder.at(`pipelines/${file}`), 'utf8');
  return { folder, open, start, startStored, close, write, read };
}

export function clockAt(time: string): ManualClock {
  return new ManualClock(Date.parse(time));
}
