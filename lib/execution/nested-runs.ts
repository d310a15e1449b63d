import { join } from 'node:path';
import type { RunStatus } from '../../machines/vocabulary.js';
import { messageOf, type TaskFailure, ToolError, whoFailed } from '../errors.js';
import type { JsonObject } from '../json.js';
import { MOST_NESTED_PIPELINES } from '../limits.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { PipelineCall, PipelineOutcome } from '../tools/pipeline-call.js';
import { CalledPipelines } from './called-pipelines.js';
import type { CallingAttempt, InvocationServices } from './invocation-services.js';
import { NestedBudget } from './nested-budget.js';
import { InnerJournal } from './inner-journal.js';
import { prepare } from './prepare.js';
import type { PreparedRun } from './prepared-run.js';
import type { RunSetting } from './run-setting.js';
import type { Write } from './session.js';

/** A run inside a task, as far as the run around it has to do with it. */
export interface NestedRun {
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
  readonly #artifactFolder: string;
  readonly #make: MakeNested;
  readonly #pipelines: CalledPipelines;
  readonly #living = new Set<NestedRun>();
  #isCancelled = false;
  #count = 0;

  /** @param artifactFolder of the calling run; those of its runs are made below */
  constructor(services: InvocationServices, caller: PreparedRun, artifactFolder: string, make: MakeNested) {
    this.#services = services;
    this.#caller = caller;
    this.#artifactFolder = artifactFolder;
    this.#make = make;
    this.#pipelines = new CalledPipelines(services.files, caller.pipeline.checkAnother);
  }

  /** Rejects with a ToolError when it cannot be run, fails or is cancelled. */
  async run(call: PipelineCall, attempt: CallingAttempt): Promise<PipelineOutcome> {
    const pipeline = await this.#pipelines.of(call);
    const way = [...this.#services.way, call.file ?? pipeline.definition.id];
    this.#refuseDepth(way);
    const prepared = this.#prepare(pipeline, call, await this.#sessionFor(pipeline, call));
    if (this.#isCancelled) throw final(CANCELLED);
    if (attempt.isOver) throw final('the attempt is over: no pipeline is run for it any more');
    return this.#conduct(prepared, way, attempt);
  }

  /** No run begins any more; those at work end when their wave has settled (rule 12). */
  cancel(): void {
    this.#isCancelled = true;
    for (const run of this.#living) run.cancel(false);
  }

  async #conduct(
    prepared: PreparedRun,
    way: readonly string[],
    attempt: CallingAttempt,
  ): Promise<PipelineOutcome> {
    const budget = new NestedBudget(this.#services.budget);
    let wentTooDeep = false;
    const onTooDeep = (): void => {
      wentTooDeep = true;
      this.#services.onTooDeep?.();
    };
    const run = this.#make(prepared, this.#settingOf(attempt, { budget, way, onTooDeep }));
    const release = attempt.whenOver(() => run.cancel(true));
    this.#living.add(run);
    void run.begin();
    await run.settled;
    this.#living.delete(run);
    release();
    budget.close();
    if (run.result === null) throw failureOf(run, prepared.pipeline, !wentTooDeep);
    attempt.take(run.writes);
    return run.result;
  }

  #refuseDepth(way: readonly string[]): void {
    if (way.length - 1 <= MOST_NESTED_PIPELINES) return;
    this.#services.onTooDeep?.();
    throw final(
      `pipelines may run each other ${MOST_NESTED_PIPELINES} deep, and this goes deeper: ${way.join(' > ')}`,
    );
  }

  /** What the tasks of the calling run see, or those keys of it that the pipeline `reads` (D3). */
  async #sessionFor({ definition: { reads }, contract }: Pipeline, call: PipelineCall): Promise<JsonObject> {
    const { session } = this.#services;
    if (reads !== undefined) return { ...(await session.readMany(reads)), ...call.session };
    // The items of a fan-out would copy it again and again.
    const wanted = [...contract.reads.keys()];
    const seen = contract.readsUnknownKey ? undefined : await session.readMany(wanted);
    const isMissing = (key: string): boolean => seen === undefined || !Object.hasOwn(seen, key);
    return {
      ...(wanted.some(isMissing) || seen === undefined ? await session.readAll() : seen),
      ...call.session,
    };
  }

  #prepare(pipeline: Pipeline, { params = {}, inputs = {} }: PipelineCall, session: JsonObject): PreparedRun {
    const { id, tenantId, options, given } = this.#caller;
    const { clock } = this.#services;
    try {
      const run = { pipeline, params, inputs, session, tenant_id: tenantId };
      return { ...prepare(run, undefined, undefined, clock), id, options, given };
    } catch (cause) {
      throw final(`pipeline "${pipeline.definition.id}": ${messageOf(cause)}`, cause);
    }
  }

  #settingOf(
    { task_id: taskId, item_index: item }: CallingAttempt,
    own: Pick<RunSetting, 'budget' | 'way' | 'onTooDeep'>,
  ): RunSetting {
    const { journal, clock, stores } = this.#services;
    const within = [item === null ? taskId : `${taskId}[${item}]`];
    return {
      ...own,
      actor: undefined,
      journal: new InnerJournal(journal, { within }, clock),
      artifactFolder: join(this.#artifactFolder, `${taskId}-run-${++this.#count}`),
      onFailure: undefined,
      stores,
    };
  }
}

function failureOf(run: NestedRun, { definition }: Pipeline, retryable: boolean): ToolError {
  if (run.status === 'cancelled') return final(CANCELLED);
  const [first] = run.failures;
  const what = first === undefined ? (run.error ?? 'stopped') : `${whoFailed(first)}: ${first.error}`;
  return new ToolError(`pipeline "${definition.id}": ${what}`, { retryable });
}

function final(message: string, cause?: unknown): ToolError {
  return new ToolError(message, { retryable: false, cause });
}
