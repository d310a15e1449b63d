import { MemoryBlackboard } from '../../blackboard/memory.js';
import type { Clock } from '../../common/clock.js';
import type { PipelineCall, PipelineOutcome } from '../../tools/pipeline-call.js';
import type { FileAccess } from '../../tools/tool.js';
import { Journal } from '../events/journal.js';
import type { AttemptObserver } from '../invocation/attempt-observer.js';
import { OutputBudget } from '../memory-budget.js';
import { type MakeNested, NestedRuns } from '../nested/nested-runs.js';
import type { Options } from '../prepare/options.js';
import type { PreparedRun, RunSurroundings } from '../prepare/prepared-run.js';
import {
  ArtifactFolder,
  type CallingAttempt,
  type InvocationServices,
  type RunSetting,
} from '../run-context.js';
import { Session } from '../session/session.js';

/** What the invocations of one run share. */
export class RunServices implements InvocationServices {
  readonly runId: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly options: Options;
  readonly journal: Journal;
  readonly session: Session;
  readonly memory = new Map<string, unknown>();
  readonly files: FileAccess;
  readonly outputLimitBytes: number;
  readonly budget: OutputBudget;
  readonly onAttempt: AttemptObserver | undefined;
  readonly onFailure: InvocationServices['onFailure'];
  readonly stores: InvocationServices['stores'];
  readonly way: readonly string[];
  readonly onFinal: (() => void) | undefined;
  /** Tool invocations started (D20). */
  invocations = 0;
  readonly #artifacts: ArtifactFolder;
  readonly #makeNestedRuns: () => NestedRuns;
  #nested: NestedRuns | undefined;

  /** @param makeNested makes a run inside a task */
  constructor(
    prepared: PreparedRun,
    surroundings: RunSurroundings,
    setting: RunSetting | undefined,
    makeNested: MakeNested,
  ) {
    const { clock, random, files, outputLimitBytes, onAttempt } = surroundings;
    this.runId = prepared.id;
    this.clock = clock;
    this.random = random;
    this.options = prepared.options;
    this.journal = setting?.journal ?? new Journal(prepared.id, clock, prepared.collectEvents);
    this.session = new Session(
      prepared.blackboard ?? new MemoryBlackboard(),
      prepared.isOurs,
      prepared.tenantId,
      prepared.session,
      prepared.pipeline.contract,
    );
    this.files = files;
    this.outputLimitBytes = outputLimitBytes;
    this.budget = setting?.budget ?? new OutputBudget(surroundings.runOutputLimitBytes);
    this.onAttempt = onAttempt;
    this.onFailure = setting?.onFailure;
    this.stores = setting?.stores;
    this.way = setting?.way ?? [prepared.pipeline.definition.id];
    this.onFinal = setting?.onFinal;
    this.#artifacts = setting?.artifacts ?? new ArtifactFolder(surroundings.artifactFolder, prepared.id);
    this.#makeNestedRuns = () => new NestedRuns(this, prepared, this.#artifacts, makeNested);
  }

  /** The runs inside its tasks, which most runs have none of. */
  get nested(): NestedRuns {
    this.#nested ??= this.#makeNestedRuns();
    return this.#nested;
  }

  artifactPath(taskId: string): string {
    return this.#artifacts.next(taskId);
  }

  countInvocation(): void {
    this.invocations++;
  }

  runPipeline(call: PipelineCall, attempt: CallingAttempt): Promise<PipelineOutcome> {
    return this.nested.run(call, attempt);
  }
}
