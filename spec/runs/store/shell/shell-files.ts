import type { Fact } from '../../../../lib/execution/history/fact.js';
import type { RunEnd } from '../../../../lib/runs/store/run-archive.js';
import type { StoredRun } from '../../../../lib/runs/store/run-store.js';
import { HistoryWriter } from '../../../../lib/runs/store/shell/history-writer.js';
import { KeptRuns } from '../../../../lib/runs/store/shell/kept-runs.js';
import { closeFile, loadHistoryDriver, tryOpen } from '../../../../lib/runs/store/shell/shell-file.js';
import { ShellFolder } from '../../../../lib/runs/store/shell/shell-folder.js';
import { ShellStore } from '../../../../lib/runs/store/shell/shell-store.js';
import type { HistoryLimits } from '../../../../lib/runs/store/shell/tidy.js';
import { openReadOnly } from '../../../../lib/runs/store/sqlite/thread/connection.js';
import { packRuns } from '../../../../lib/runs/store/sqlite/thread/packing.js';
import { cancelFact, storedRun } from '../suites/store-suite.js';

const COMMAND = { pid: 7, cwd: '/home/ada', output_folder: '/home/ada/outputs' };
const SETTLED_AT = 9;

interface ShellOptions {
  readonly limits?: HistoryLimits;
  readonly runBytes?: number;
}

/** The folder of a project with shells that run in it. */
export class ShellFiles {
  readonly folder: ShellFolder;
  #runs = 0;

  constructor(path: string) {
    this.folder = new ShellFolder(path);
  }

  /** A shell that is at work until its store is closed. */
  open({ limits, runBytes }: ShellOptions = {}): ShellStore {
    const { path: place, runs: filesFolder } = this.folder;
    const writer = new HistoryWriter(this.folder, () => SETTLED_AT, limits);
    return new ShellStore({ place, filesFolder, writer, command: COMMAND, ...(runBytes && { runBytes }) });
  }

  /** Adds a run with a fact, which has not settled. */
  async begin(store: ShellStore, id: string, rerunOf?: string): Promise<StoredRun> {
    const run = storedRun(++this.#runs, id);
    const { submission } = run;
    const added =
      rerunOf === undefined ? run : { ...run, submission: { ...submission, rerun: { run_id: rerunOf } } };
    store.add(added);
    store.log(id, 'default').append(cancelFact(1));
    await store.idle();
    return run;
  }

  /** Ends a run. */
  async settle(
    store: ShellStore,
    id: string,
    rerunOf?: string,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    store.log(id, 'default').append({ kind: 'settled', at: SETTLED_AT });
    store.archive?.end(toEnd(id, this.#runs, rerunOf, labels));
    await store.idle();
  }

  /** Packs the settled runs of a file, as a server would that opens it. */
  pack(file: number): void {
    const owned = tryOpen(this.folder, file, loadHistoryDriver());
    if (owned === undefined) throw new Error('a shell has the file');
    packRuns(owned.database, () => true);
    closeFile(owned);
  }

  /** Rows of the first file. */
  rows(sql: string): unknown[] {
    const database = openReadOnly(this.folder.file(1), loadHistoryDriver());
    try {
      return database?.prepare(sql).all() ?? [];
    } finally {
      database?.close();
    }
  }

  /** Runs a whole run in a shell of its own. */
  async run(id: string, rerunOf?: string, options?: ShellOptions): Promise<void> {
    const store = this.open(options);
    await this.begin(store, id, rerunOf);
    await this.settle(store, id, rerunOf);
    await store.close();
  }

  read(): KeptRuns {
    return KeptRuns.open(this.folder.path, { pid: 1, bootedAt: 0, isAlive: () => false }, SETTLED_AT);
  }

  /** The ids of the runs, the newest first. */
  get ids(): string[] {
    return this.read().ids();
  }

  /** The facts of a run as they are read. */
  facts(id: string): readonly unknown[] | undefined {
    const kept = this.read();
    const run = kept.read(id);
    return run && kept.withFacts(run).facts;
  }
}

/** The facts with which a run ends that was at work when its process ended. */
export const STOPPED: readonly Fact[] = [
  { kind: 'cancel', at: 1, force: true },
  { kind: 'settled', at: 1 },
];

function toEnd(
  id: string,
  createdAt: number,
  rerunOf: string | undefined,
  labels: Readonly<Record<string, string>>,
): RunEnd {
  return {
    summary: {
      run_id: id,
      kind: 'pipeline',
      status: 'succeeded',
      paused: false,
      pipeline_id: 'p',
      tenant_id: 'default',
      goal: 'g',
      settled: true,
      created_at: new Date(createdAt).toISOString(),
      started_at: null,
      finished_at: new Date(SETTLED_AT).toISOString(),
      progress: { waves: 1, waves_executed: 1, tasks: 1, tasks_settled: 1, invocations: 1 },
      error: null,
      error_code: null,
      failed_task: null,
      rerun_of: rerunOf ?? null,
      trigger: null,
      started_by: { kind: 'cli', name: null },
      labels,
      priority: 0,
      waiting_for: null,
    },
    cost: undefined,
    artifactCount: 1,
    artifactBytes: 0,
  };
}
