import type { RunStatus } from '../../../machines/types.js';
import { type TaskFailure, ToolError, whoFailed } from '../../common/errors.js';
import type { JsonObject } from '../../common/json.js';
import { MOST_NESTED_PIPELINES } from '../../common/limits.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import { assertCall, type PipelineCall, type PipelineOutcome } from '../../tools/pipeline-call.js';
import { inTurn } from '../event-loop-budget.js';
import { InnerJournal } from '../events/journal.js';
import type { PreparedRun } from '../prepare/prepared-run.js';
import type { ArtifactFolder, CallingAttempt, InvocationServices, RunSetting } from '../run-context.js';
import type { Write } from '../session/given-values.js';
import { CalledPipelines } from './called-pipelines.js';
import { NestedBudget } from './nested-budget.js';
import { prepareNested } from './prepare-nested.js';

/** A run inside a task, as far as the run around it has to do with it. */
interface NestedRun {
  readonly status: RunStatus;
  readonly failures: readonly TaskFailure[];
  readonly error: string | null;
  readonly result: PipelineOutcome | null;
  /** What it stored, in order. */
  readonly writes: readonly Write[];
  readonly settled: Promise<void>;
  begin(): Promise<void>;
  cancel(force: boolean): void;
}

/** Makes one. */
export type MakeNested = (prepared: PreparedRun, setting: RunSetting) => NestedRun;

const CANCELLED = 'the pipeline was cancelled';

/**
 * The runs inside the tasks of one run (D49). Each has a blackboard of its own, under everything that the calling
 * run sees; what it stores is handed to the attempt that called it. None outlives that attempt.
 */
export class NestedRuns {
  readonly #services: InvocationServices;
  readonly #caller: PreparedRun;
  readonly #artifacts: ArtifactFolder;
  readonly #make: MakeNested;
  readonly #pipelines: CalledPipelines;
  readonly #living = new Set<NestedRun>();
  #isCancelled = false;
  #count = 0;

  /** @param artifacts of the calling run; those of its runs are made below */
  constructor(
    services: InvocationServices,
    caller: PreparedRun,
    artifacts: ArtifactFolder,
    make: MakeNested,
  ) {
    this.#services = services;
    this.#caller = caller;
    this.#artifacts = artifacts;
    this.#make = make;
    const { budget, files } = services;
    this.#pipelines =
      budget instanceof NestedBudget
        ? budget.pipelines
        : new CalledPipelines(files, caller.pipeline.checkAnother);
  }

  /** Rejects with a ToolError when it cannot be run, fails or is cancelled. */
  async run(call: PipelineCall, attempt: CallingAttempt): Promise<PipelineOutcome> {
    assertCall(call);
    const budget = new NestedBudget(this.#services.budget, this.#pipelines);
    try {
      return await this.#runWithin(budget, call, attempt);
    } finally {
      budget.close();
    }
  }

  /** No run begins any more; those at work end when their wave has settled (rule 12). */
  cancel(): void {
    this.#isCancelled = true;
    for (const run of this.#living) run.cancel(false);
  }

  async #runWithin(
    budget: NestedBudget,
    call: PipelineCall,
    attempt: CallingAttempt,
  ): Promise<PipelineOutcome> {
    const pipeline = await this.#pipelines.of(call);
    const way = [...this.#services.way, call.file ?? pipeline.definition.id];
    refuseDepth(way);
    const seen = await this.#seenBy(pipeline);
    let goesNoBetter = false;
    const onFinal = (): void => {
      goesNoBetter = true;
    };
    const run = await inTurn(() => {
      this.#refuseLate(attempt);
      const { prepared, givenBytes } = prepareNested(
        pipeline,
        call,
        seen,
        this.#caller,
        this.#services.clock,
      );
      budget.admit(pipeline, givenBytes);
      return this.#begun(this.#make(prepared, this.#settingOf(attempt, { budget, way, onFinal })));
    });
    const release = attempt.whenOver(() => run.cancel(true));
    await run.settled;
    this.#living.delete(run);
    release();
    if (run.result === null) throw failureOf(run, pipeline, !goesNoBetter);
    attempt.take(run.writes);
    return run.result;
  }

  #begun(run: NestedRun): NestedRun {
    this.#living.add(run);
    void run.begin();
    return run;
  }

  #refuseLate(attempt: CallingAttempt): void {
    if (this.#isCancelled) throw final(CANCELLED);
    if (attempt.isOver) throw final('the attempt is over: no pipeline is run for it any more');
  }

  /** What the tasks of the calling run see, or those keys of it that the pipeline `reads` (D3). */
  async #seenBy({ definition: { reads }, contract }: Pipeline): Promise<JsonObject> {
    const { session } = this.#services;
    if (reads !== undefined) return session.readMany(reads);
    if (contract.readsUnknownKey) return session.readAll();
    // The items of a fan-out would copy it again and again.
    const wanted = [...contract.reads.keys()];
    const seen = await session.readMany(wanted);
    return wanted.every((key) => Object.hasOwn(seen, key)) ? seen : session.readAll();
  }

  #settingOf(
    { task_id: taskId, item_index: item }: CallingAttempt,
    own: Pick<RunSetting, 'budget' | 'way' | 'onFinal'>,
  ): RunSetting {
    const { journal, clock, stores } = this.#services;
    const within = [item === null ? taskId : `${taskId}[${item}]`];
    return {
      ...own,
      actor: undefined,
      journal: new InnerJournal(journal, { within }, clock),
      artifacts: this.#artifacts.within(`${taskId}-run-${++this.#count}`),
      onFailure: undefined,
      stores,
    };
  }
}

function refuseDepth(way: readonly string[]): void {
  if (way.length - 1 <= MOST_NESTED_PIPELINES) return;
  throw final(
    `pipelines may run each other ${MOST_NESTED_PIPELINES} deep, and this goes deeper: ${way.join(' > ')}`,
  );
}

function failureOf(run: NestedRun, { definition }: Pipeline, retryable: boolean): ToolError {
  if (run.status === 'cancelled') return final(CANCELLED);
  const [first] = run.failures;
  const what = first === undefined ? (run.error ?? 'stopped') : `${whoFailed(first)}: ${first.error}`;
  return new ToolError(`pipeline "${definition.id}": ${what}`, { retryable });
}

function final(message: string): ToolError {
  return new ToolError(message, { retryable: false });
}
