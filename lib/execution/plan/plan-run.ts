import { type Actor, createActor } from 'xstate';
import { bindPlanWork } from '../../../machines/sub-runs.js';
import { planMachine } from '../../../machines/plan.js';
import { messageOf, type TaskFailure, whoFailed } from '../../common/errors.js';
import type { TaskEvent } from '../events/event.js';
import { Journal, RunNotes } from '../events/journal.js';
import type { PreparedPlan } from '../prepare/prepare-plan.js';
import type { RunSurroundings } from '../prepare/prepared-run.js';
import {
  outcomeOf,
  type PlanOutcome,
  type RunProgress,
  type RunResult,
  type SubPipelineStatuses,
} from '../results.js';
import { ActorRun } from '../run/base-run.js';
import { SubRuns } from './sub-runs.js';

/** One run of a plan in this process: its actor, the runs of its sub-pipelines, their one journal. */
export class PlanRun extends ActorRun {
  readonly kind = 'plan';
  readonly prepared: PreparedPlan;
  readonly actor: Actor<typeof planMachine>;
  readonly subRuns: SubRuns;
  readonly journal: Journal;
  protected readonly notes: RunNotes;

  constructor(prepared: PreparedPlan, surroundings: RunSurroundings) {
    const { clock } = surroundings;
    super(clock);
    this.prepared = prepared;
    this.journal = new Journal(prepared.id, clock, prepared.collectEvents);
    this.notes = new RunNotes(this.journal, []);
    this.subRuns = new SubRuns(prepared, surroundings, this.journal, () => this.announce());
    const subPipelines = [...prepared.plan.subPipelines.values()].map(({ id, needs }) => ({ id, needs }));
    this.actor = createActor(planMachine, { input: { subPipelines, concurrency: prepared.concurrency } });
    bindPlanWork(this.actor, this.subRuns);
    this.start();
  }

  get id(): string {
    return this.prepared.id;
  }

  get definitionId(): string {
    return this.prepared.plan.definition.id;
  }

  get tenantId(): string {
    return this.prepared.tenantId;
  }

  get goal(): string {
    return this.prepared.plan.definition.goal ?? '';
  }

  get rerunOf(): string | null {
    return this.prepared.origin?.runId ?? null;
  }

  get failures(): readonly TaskFailure[] {
    return this.subRuns.failures;
  }

  /** Names the sub-pipeline and the task of the first failure in time (D47). */
  get error(): string | null {
    if (this.status !== 'failed') return null;
    const [first] = this.failures;
    if (first !== undefined) return `${whoFailed(first)}: ${first.error}`;
    return this.subRuns.fault ?? this.#faultOfSubRun() ?? `internal error: ${messageOf(this.fault)}`;
  }

  get progress(): RunProgress {
    const { waves, tasks } = this.prepared;
    const progress = { waves_executed: 0, tasks_settled: 0, invocations: 0, sub_pipelines_settled: 0 };
    for (const run of this.subRuns.begun.values()) {
      progress.waves_executed += run.wavesExecuted;
      progress.tasks_settled += run.work.tasksSettled;
      progress.invocations += run.invocations;
      if (run.isSettled) progress.sub_pipelines_settled++;
    }
    return { waves, tasks, sub_pipelines: this.prepared.subRuns.size, ...progress };
  }

  get subPipelines(): SubPipelineStatuses {
    const { begun } = this.subRuns;
    const statuses = [...this.prepared.subRuns.keys()].map((id) => [id, begun.get(id)?.status ?? null]);
    return Object.fromEntries(statuses) as SubPipelineStatuses;
  }

  get result(): PlanOutcome | null {
    if (this.status !== 'succeeded') return null;
    return gatherOutcome(this.prepared, this.subRuns, this.progress, this.journal.events);
  }

  get weight(): number {
    const { budget, foreignWeight } = this.subRuns;
    return this.prepared.weight + budget.usedBytes + foreignWeight;
  }

  protected override cancelInside(): void {
    for (const run of this.subRuns.begun.values()) run.cancelledFromAbove();
  }

  #faultOfSubRun(): string | undefined {
    for (const [id, { error }] of this.subRuns.begun) {
      if (error !== null) return `sub-pipeline "${id}": ${error}`;
    }
    return undefined;
  }
}

/** What a plan that succeeded has produced (D47). */
function gatherOutcome(
  { plan, subRuns: prepared }: PreparedPlan,
  { begun, blackboard }: SubRuns,
  { waves_executed, invocations }: RunProgress,
  events: readonly TaskEvent[] | null,
): PlanOutcome {
  const found = events && eventsBySubPipeline(events);
  const results = [...prepared.keys()].flatMap((id): [string, RunResult][] => {
    const run = begun.get(id);
    return run === undefined ? [] : [[id, { ...outcomeOf(run), events: found && (found.get(id) ?? []) }]];
  });
  return {
    plan_id: plan.definition.id,
    sub_results: Object.fromEntries(results),
    blackboard,
    total_tasks_executed: invocations,
    total_waves: waves_executed,
  };
}

function eventsBySubPipeline(events: readonly TaskEvent[]): Map<string, TaskEvent[]> {
  const found = new Map<string, TaskEvent[]>();
  for (const event of events) {
    const { sub_pipeline: id = '' } = event;
    const known = found.get(id);
    if (known === undefined) found.set(id, [event]);
    else known.push(event);
  }
  return found;
}
