import { systemClock } from '../../common/clock.js';
import { errorMessage, type TaskFailure, ToolError, WavetrainError } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import { PIPELINE_TEST_LIMITS } from '../../definition/schema/fields.js';
import type { TestCaseDefinition } from '../../definition/schema/test-schema.js';
import { withPlaceholders } from '../../definition/secrets/sources.js';
import { type AnyRun, LocalExecutor } from '../../execution/local-executor.js';
import { MemoryBlackboard } from '../../execution/session/memory-blackboard.js';
import type { ModelAccess } from '../../models/models.js';
import { withoutPrograms } from '../../tools/commands/command-access.js';
import type { NetworkAccess } from '../../tools/fetching/network.js';
import type { FileAccess } from '../../tools/files/access.js';
import type { AnsweringTools, MissingAnswer } from './answers.js';
import type { ReceivedCalls } from './calls.js';
import type { JumpClock } from './jump-clock.js';
import type { TestedDefinition } from './tested-definition.js';

/** The outcome of the run of a case, with tasks by the names that tests use. */
export interface CaseOutcome {
  readonly status: string;
  readonly error: string | null;
  readonly outputs: ReadonlyMap<string, Json>;
  readonly handlers: ReadonlyMap<string, Json>;
  readonly blackboard: ReadonlyMap<string, Json>;
  /** With the reasons. */
  readonly skipped: ReadonlyMap<string, string>;
  readonly failed: readonly {
    readonly task: string;
    readonly item: number | undefined;
    readonly error: string;
  }[];
  readonly waves: number;
  /** The tasks that have begun, and were not skipped. */
  readonly ran: ReadonlySet<string>;
  readonly missing: readonly MissingAnswer[];
  /** By the names of the tasks whose calls the case expects. */
  readonly calls: ReadonlyMap<string, ReceivedCalls>;
  /** Set when the case took longer than it may. */
  readonly isOverdue: boolean;
}

/** The outcome, or the reason why the run was refused. */
export type CaseRun = { readonly outcome: CaseOutcome } | { readonly refusal: string };

export interface CaseSetup {
  readonly tested: TestedDefinition;
  readonly tools: AnsweringTools;
  readonly clock: JumpClock;
  readonly files: FileAccess;
  readonly tenantId: string;
  readonly memory?: MemoryPool | undefined;
}

const refuseNetwork = (): Promise<never> =>
  Promise.reject(ToolError.nonRetryable('tests of pipelines reach no network'));

const NO_NETWORK: NetworkAccess = { fetch: refuseNetwork, connect: refuseNetwork, authorities: [] };

const NO_MODELS: ModelAccess = {
  assertConfigured: () => undefined,
  generate: () => Promise.reject(ToolError.nonRetryable('tests of pipelines ask no language model')),
};

/** A task may have as many places of its pool as it wants. */
const POOL_PLACES = 10_000;

/** Runs the cases of one definition, which share nothing but the definition: no cache, no store, no network, no secret. */
export class CaseRunner {
  readonly #setup: CaseSetup;
  readonly #executor: LocalExecutor;

  constructor(setup: CaseSetup) {
    const { clock, files, tested, memory } = setup;
    this.#setup = setup;
    this.#executor = new LocalExecutor({
      clock,
      files,
      ...(memory && { memory }),
      random: () => 0.5,
      network: NO_NETWORK,
      models: NO_MODELS,
      commands: withoutPrograms('tests of pipelines start no programs'),
      secrets: withPlaceholders(undefined),
      pools: new Map(Array.from(tested.pools, (name) => [name, POOL_PLACES])),
    });
  }

  /** @param limitMs time that the case may take */
  async run(each: TestCaseDefinition, limitMs: number = PIPELINE_TEST_LIMITS.caseMs): Promise<CaseRun> {
    const { tools } = this.#setup;
    const blackboard = new MemoryBlackboard();
    let run: AnyRun;
    try {
      run = this.#create(each, blackboard);
    } catch (error) {
      if (error instanceof WavetrainError) return { refusal: errorMessage(error) };
      throw error;
    }
    const answers = tools.begin(run.id, each.answers ?? {}, each.expect?.calls ?? {});
    let isOverdue = false;
    const limit = systemClock.setTimeout(() => {
      isOverdue = true;
      run.cancel(true);
    }, limitMs);
    try {
      void run.begin();
      await run.settled;
      const values = await blackboard.getAll(run.tenantId);
      return {
        outcome: {
          ...describe(run, values),
          missing: answers.missing,
          calls: answers.calls.received,
          isOverdue,
        },
      };
    } finally {
      systemClock.clearTimeout(limit);
      tools.end(run.id);
      this.#executor.forget(run.id);
    }
  }

  async close(): Promise<void> {
    await this.#executor.close();
  }

  #create({ params, inputs, session }: TestCaseDefinition, blackboard: MemoryBlackboard): AnyRun {
    const { tested, tenantId } = this.#setup;
    const common = {
      inputs: inputs ?? {},
      session: session ?? {},
      options: { cache: false },
      tenant_id: tenantId,
    };
    const { checked } = tested;
    return checked.kind === 'plan'
      ? this.#executor.createPlanRun({ ...common, plan: checked.plan }, undefined, blackboard)
      : this.#executor.createRun(
          { ...common, params: params ?? {}, pipeline: checked.pipeline },
          undefined,
          blackboard,
        );
  }
}

type Described = Omit<CaseOutcome, 'missing' | 'calls' | 'isOverdue'>;

function describe(run: AnyRun, blackboard: Readonly<Record<string, Json>>): Described {
  const { status, error, failures, skipped, progress, handlerOutcome } = run;
  const works = listWorks(run);
  const outputs = works.flatMap(({ prefix, work }) => {
    const published: Partial<Record<string, Json>> = { ...work.outputs, ...work.handlerOutputs };
    return Object.entries(published).flatMap(([task, output]): [string, Json][] =>
      output === undefined ? [] : [[`${prefix}${task}`, output]],
    );
  });
  const skips = new Map(
    skipped.map(({ sub_pipeline: part, task_id: task, reason }) => [nameOf(part, task), reason]),
  );
  const ran = works.flatMap(({ prefix, work, tasks }) =>
    tasks.filter((task) => work.getTrace(task) !== undefined).map((task) => `${prefix}${task}`),
  );
  return {
    status,
    error,
    outputs: new Map(outputs),
    handlers: new Map(Object.entries(handlerOutcome?.outputs ?? {})),
    blackboard: new Map(Object.entries(blackboard)),
    skipped: skips,
    failed: [...failures, ...(handlerOutcome?.failures ?? [])].map(toFailed),
    waves: progress.waves_executed,
    ran: new Set(ran.filter((name) => !skips.has(name))),
  };
}

function toFailed({
  sub_pipeline: part,
  task_id: task,
  item,
  error,
}: TaskFailure): CaseOutcome['failed'][number] {
  return { task: nameOf(part, task), item, error };
}

function nameOf(part: string | undefined, task: string | undefined): string {
  return [part, task].filter((name) => name !== undefined).join('/');
}

/** The work of a pipeline, or of the sub-pipelines and handlers of a plan, with what comes before the ids of its tasks. */
function listWorks(run: AnyRun) {
  if (run.kind === 'pipeline')
    return [{ prefix: '', work: run.work, tasks: [...run.prepared.pipeline.allTasks.keys()] }];
  const { begun, handlers } = run.subRuns;
  const parts = Array.from(begun, ([id, { work, prepared }]) => ({
    prefix: `${id}/`,
    work,
    tasks: [...prepared.pipeline.allTasks.keys()],
  }));
  if (handlers === undefined) return parts;
  return [
    ...parts,
    { prefix: '', work: handlers.work, tasks: [...handlers.prepared.pipeline.allTasks.keys()] },
  ];
}
