import { join } from 'node:path';
import type { MemoryPool } from '../../../../lib/common/memory/memory-pool.js';
import { builtinCatalog } from '../../../../lib/tools/catalog.js';
import type { PlanInputs, RunInputs } from '../../../../lib/execution/prepare/run-inputs.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { checkPlan } from '../../../../lib/plans/check.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import type { RerunRequest } from '../../../../lib/runs/rerun/rerun.js';
import type { ReviveDefinition } from '../../../../lib/runs/store/restore/stored-run-reader.js';
import type { RunStore } from '../../../../lib/runs/store/run-store.js';
import { SqliteStore } from '../../../../lib/runs/store/sqlite/sqlite-store.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { ROOT } from '../../../project/files.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { createDisk, MemoryStore } from '../memory/memory-store.js';

/** Where registries of the specs keep their runs, one after another. */
export interface Keeping {
  readonly open: () => Promise<RunStore>;
  /** For the files of runs. */
  readonly folder: TemporaryFolder;
  /** Name of the folder in it for the files of runs. */
  readonly files: string;
}

export const KEEPINGS: Readonly<Record<string, () => Keeping>> = {
  memory() {
    const folder = new TemporaryFolder();
    const disk = createDisk(folder.at('files'));
    return { open: async () => new MemoryStore(disk), folder, files: 'files' };
  },
  SQLite() {
    const folder = new TemporaryFolder();
    const program = join(ROOT, 'dist', 'store-thread.cjs');
    return { open: () => SqliteStore.open(folder.at('runs.db'), program), folder, files: 'runs.db.files' };
  },
};

export interface Surroundings {
  readonly secrets?: Record<string, string>;
  /** Name of the folder for the files of runs. */
  readonly files?: string;
  readonly memory?: MemoryPool;
}

/** A registry of a process, with one tool, `work`, which returns its `text`, stores it under its `key` and writes its `file`. */
export class KeptReruns {
  readonly calls: string[] = [];
  /** Tasks and items, as `task[item]`, whose tool throws. */
  readonly broken = new Set<string>();
  /** Tasks whose tool waits until it is aborted. */
  readonly stuck = new Set<string>();
  readonly store: RunStore;
  readonly registry: RunRegistry;
  readonly work = defineTool({
    name: 'work',
    description: 'returns its text',
    inputs: {
      text: { required: true, description: 'the text to return' },
      key: { type: 'string', description: 'where it is stored' },
      file: { type: 'string', description: 'what it writes' },
    },
    run: async ({ text, key, file }, { task_id, item_index, artifacts, blackboard, signal }) => {
      const call = item_index === null ? task_id : `${task_id}[${item_index}]`;
      this.calls.push(call);
      if (this.broken.has(task_id) || this.broken.has(call)) throw new Error(`${call} is broken`);
      if (this.stuck.has(task_id)) await new Promise((_, reject) => signal.addEventListener('abort', reject));
      if (key !== undefined) blackboard.write(key, text, true);
      if (file !== undefined)
        await artifacts.write({ name: file, bytes: JSON.stringify(text), media_type: 'text/plain' });
      return text;
    },
  });

  private constructor(
    store: RunStore,
    folder: TemporaryFolder,
    { secrets = {}, files, memory }: Surroundings,
  ) {
    this.store = store;
    this.registry = new RunRegistry({
      store,
      eventBuffer: 10_000,
      ...(memory && { memory }),
      secrets: { find: (_, name) => secrets[name] },
      storedArtifactFolder: files === undefined ? store.filesFolder : folder.at(files),
    });
  }

  static async open(keeping: Keeping, surroundings: Surroundings = {}): Promise<KeptReruns> {
    const runs = new KeptReruns(await keeping.open(), keeping.folder, surroundings);
    await runs.registry.restore(runs.#revive);
    return runs;
  }

  get #revive(): ReviveDefinition {
    return async ({ kind, definition, pipelines = {} }) => {
      if (kind === 'pipeline') return { kind, pipeline: this.parse(JSON.stringify(definition)) };
      const { sub_pipelines: parts, ...plan } = definition;
      const whole = (parts as { readonly id: string }[]).map((part) => ({
        ...part,
        pipeline: pipelines[part.id],
      }));
      return { kind, plan: this.parsePlan(JSON.stringify({ ...plan, sub_pipelines: whole })) };
    };
  }

  parse(text: string): RunInputs['pipeline'] {
    return parsePipeline(text, { tools: [this.work] });
  }

  parsePlan(text: string): PlanInputs['plan'] {
    const check = checkPlan(text, { catalog: builtinCatalog().with([this.work]), inputs: {}, session: {} });
    if (check.ok && check.plan !== undefined) return check.plan;
    throw new Error(check.problems.map(({ message }) => message).join('; '));
  }

  async run(tasks: string, values: Omit<RunInputs, 'pipeline'> = {}): Promise<string> {
    const inputs = JSON.stringify(values.inputs ?? {});
    const pipeline = this.parse(`{id: spec, goal: be kept, inputs: ${inputs}, tasks: [${tasks}]}`);
    const runId = await this.registry.submit({ pipeline, collect_events: true, ...values });
    await this.registry.settled(runId);
    return runId;
  }

  async runPlan(text: string, values: Omit<PlanInputs, 'plan'> = {}): Promise<string> {
    const runId = await this.registry.submitPlan({ plan: this.parsePlan(text), ...values });
    await this.registry.settled(runId);
    return runId;
  }

  async rerun(runId: string, request: RerunRequest = { from: 'failed' }): Promise<string> {
    this.calls.length = 0;
    const id = await this.registry.rerun(runId, request);
    await this.registry.settled(id);
    return id;
  }

  /** Returns what everybody can see of a run. */
  async show(runId: string): Promise<unknown> {
    const close = await this.registry.queries.open(runId, null);
    const { events } = this.registry.queries.events(runId).readAfter(0, 10_000);
    const report = await this.registry.rerunReport(runId);
    // Warnings name the places in the text of a definition.
    const shown = { record: this.registry.record(runId), report: { ...report, warnings: [] }, events };
    close();
    return shown;
  }

  /** Lists the runs in the store after everything so far. */
  async keptRuns(): Promise<string[]> {
    await this.store.idle();
    const ids: string[] = [];
    for await (const { id } of this.store.heads()) ids.push(id);
    const { runs } = await this.registry.queries.listInTurns({ limit: 500 }, 'default');
    return [...new Set([...ids, ...runs.map(({ run_id }) => run_id)])];
  }
}
