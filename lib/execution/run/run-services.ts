import { MemoryBlackboard } from '../../blackboard/memory-blackboard.js';
import { Journal } from '../events/journal.js';
import { MemoryBudget } from '../memory-budget.js';
import { type CreateNestedRun, NestedRuns } from '../nested/nested-runs.js';
import type { Options } from '../prepare/options.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import {
  ArtifactFolder,
  type InvocationServices,
  type ParentRunContext,
  type RunDependencies,
} from '../run-context.js';
import { Session } from '../session/session.js';

/** Creates what the invocations of one run share. */
export class RunServices implements InvocationServices {
  readonly runId: string;
  readonly dependencies: RunDependencies;
  readonly parent: ParentRunContext | undefined;
  readonly options: Options;
  readonly journal: Journal;
  readonly session: Session;
  readonly memory = new Map<string, unknown>();
  readonly budget: MemoryBudget;
  readonly artifacts: ArtifactFolder;
  invocations = 0;
  readonly #prepared: PreparedRun;
  readonly #createNestedRun: CreateNestedRun;
  #nestedRuns: NestedRuns | undefined;

  constructor(
    prepared: PreparedRun,
    dependencies: RunDependencies,
    parent: ParentRunContext | undefined,
    createNestedRun: CreateNestedRun,
  ) {
    this.runId = prepared.id;
    this.dependencies = dependencies;
    this.parent = parent;
    this.options = prepared.options;
    this.journal = parent?.journal ?? new Journal(prepared.id, dependencies.clock, prepared.collectEvents);
    this.session = new Session(
      prepared.blackboard ?? new MemoryBlackboard(),
      prepared.ownsBlackboard,
      prepared.tenantId,
      prepared.session,
      prepared.pipeline.contract,
    );
    this.budget = parent?.budget ?? new MemoryBudget(dependencies.runOutputLimitBytes);
    this.artifacts = parent?.artifacts ?? new ArtifactFolder(dependencies.artifactFolder, prepared.id);
    this.#prepared = prepared;
    this.#createNestedRun = createNestedRun;
  }

  /** Created when first used: most runs have no nested runs. */
  get nestedRuns(): NestedRuns {
    this.#nestedRuns ??= new NestedRuns(this, this.#prepared, this.#createNestedRun);
    return this.#nestedRuns;
  }
}
