import type { EventLoopBudget } from '../../../machines/ports.js';
import type { Timeline } from '../../common/clock.js';
import type { JsonObject } from '../../common/json/json.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import { Journal } from '../events/journal.js';
import type { PlacedHistory } from '../history/run-history.js';
import { WaitingCalls } from '../invocation/waiting-calls.js';
import type { MemoryBudget } from '../memory-budget.js';
import { type CreateNestedRun, NestedRuns } from '../nested/nested-runs.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import type { InvocationServices, ParentRunContext, RunDependencies } from '../run-context.js';
import { MemoryBlackboard } from '../session/memory-blackboard.js';
import { Session } from '../session/session.js';
import { SessionOverrides } from '../session/session-overrides.js';
import type { RunHandlers } from './end/run-handlers.js';
import { eventLoopBudget } from './event-loop-budget.js';
import { createRunNamespace, type RootRun, type EndOfTasks } from './run-namespace.js';

/** The run whose invocations are served. */
interface ServedRun extends RootRun, EndOfTasks {
  readonly prepared: PreparedRun;
}

interface ServiceParts {
  readonly dependencies: RunDependencies;
  readonly timeline: Timeline;
  readonly budget: MemoryBudget;
  readonly parent: ParentRunContext | undefined;
  readonly history: PlacedHistory | undefined;
  /** Undefined for a pipeline without handlers. */
  readonly handlers: RunHandlers | undefined;
  readonly createNestedRun: CreateNestedRun;
}

/** The services that the invocations of one run share. A sub-run or nested run takes some from its outer run. */
export class RunServices implements InvocationServices {
  readonly prepared: PreparedRun;
  readonly origin: RootRun;
  readonly dependencies: RunDependencies;
  readonly parent: ParentRunContext | undefined;
  readonly history: PlacedHistory | undefined;
  readonly journal: Journal;
  readonly session: Session;
  readonly budget: MemoryBudget;
  invocations = 0;
  readonly keyPath: string;
  readonly #run: ServedRun;
  readonly #handlers: RunHandlers | undefined;
  readonly #createNestedRun: CreateNestedRun;
  #calls: Map<string, number> | undefined;
  #memory: Map<string, unknown> | undefined;
  #cancellable: CancellableWork | undefined;
  #namespace: JsonObject | undefined;

  constructor(
    run: ServedRun,
    { dependencies, timeline, budget, parent, history, handlers, createNestedRun }: ServiceParts,
  ) {
    this.#createNestedRun = createNestedRun;
    const { prepared } = run;
    this.#run = run;
    this.#handlers = handlers;
    this.origin = parent?.origin ?? run;
    this.prepared = prepared;
    this.dependencies = dependencies;
    this.parent = parent;
    this.history = history;
    this.keyPath = parent?.keyPath ?? '';
    this.journal = parent?.journal ?? new Journal(prepared.id, timeline, prepared.collectEvents, budget);
    if (parent === undefined && history !== undefined)
      this.journal.keepIn(history.run, history.run.past.facts);
    this.session = new Session(
      prepared.blackboard ?? new MemoryBlackboard(),
      prepared.ownsBlackboard,
      prepared.tenantId,
      parent?.overrides ?? new SessionOverrides(prepared.session),
      prepared.pipeline.contract,
      budget,
    );
    this.budget = budget;
  }

  get stopReason(): string | undefined {
    return this.#handlers?.stopReason;
  }

  get runNamespace(): JsonObject | undefined {
    return (this.#namespace ??= this.#createNamespace());
  }

  /** Templates may read it very often: it is made once for the tasks, and once for each list of handlers. */
  #createNamespace(): JsonObject | undefined {
    if (this.prepared.pipeline.allTasks.has('run')) return undefined;
    const end = this.#handlers?.list === undefined ? undefined : (this.parent?.handledPlan?.end ?? this.#run);
    return createRunNamespace(this.origin, this.dependencies.urlOfRun(this.origin.id), end);
  }

  countCalls(tool: string, calls: number): number {
    this.#calls ??= new Map();
    const count = (this.#calls.get(tool) ?? 0) + calls;
    this.#calls.set(tool, count);
    return count;
  }

  /** Created when first used: most tools share nothing. */
  get memory(): Map<string, unknown> {
    return (this.#memory ??= new Map());
  }

  get nestedRuns(): NestedRuns {
    return this.#work.nestedRuns(() => new NestedRuns(this, this.#createNestedRun));
  }

  get waitingCalls(): WaitingCalls {
    return this.#work.waitingCalls;
  }

  get waitingFor(): WaitingFor | null {
    return this.#cancellable?.waitingFor ?? null;
  }

  /** Created when first used: most runs have no nested runs, and no tasks that wait. */
  get #work(): CancellableWork {
    return (this.#cancellable ??= new CancellableWork());
  }

  /** Returns a function that cancels what tasks, or handlers, have at work now besides their calls. */
  get cancelWork(): (force: boolean) => void {
    const work = this.#work;
    return (force) => work.cancel(force, eventLoopBudget.forTenant(this.prepared.tenantId));
  }

  /** Lets handlers begin after a cancel or a timeout (D80): all that tasks had at work has ended. */
  beginHandlers(): void {
    this.#cancellable?.close();
    this.#cancellable = undefined;
    this.#namespace = undefined;
  }

  /** Releases the services that only tasks need. */
  close(): void {
    this.session.close();
    this.#cancellable?.close();
  }
}

/** The nested runs and the waits for places of pools of the tasks of a run, or of its handlers: a cancel ends both. */
class CancellableWork {
  #nestedRuns: NestedRuns | undefined;
  #waitingCalls: WaitingCalls | undefined;
  #isCancelled = false;
  #isForced = false;

  /** Created when first used: most runs have no nested runs. */
  nestedRuns(create: () => NestedRuns): NestedRuns {
    this.#nestedRuns ??= create();
    if (this.#isCancelled) void this.#nestedRuns.cancel(this.#isForced);
    return this.#nestedRuns;
  }

  /** Created when first used: most runs have no tasks that wait. */
  get waitingCalls(): WaitingCalls {
    this.#waitingCalls ??= new WaitingCalls();
    if (this.#isCancelled) this.#waitingCalls.isCancelled = true;
    return this.#waitingCalls;
  }

  /** The wait of its calls for a place of a pool; null when none waits. */
  get waitingFor(): WaitingFor | null {
    return this.#waitingCalls?.waitingFor ?? null;
  }

  /** Cancels what there is, and prevents more. */
  cancel(force: boolean, budget: EventLoopBudget): void {
    this.#isCancelled = true;
    if (force) this.#isForced = true;
    void this.#nestedRuns?.cancel(force);
    void this.#waitingCalls?.cancel(budget);
  }

  close(): void {
    this.#nestedRuns?.close();
  }
}
