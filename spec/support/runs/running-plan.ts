import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { LocalExecutor, type LocalExecutorOptions } from '../../../lib/execution/local-executor.js';
import type { PlanInputs } from '../../../lib/execution/run-inputs.js';
import type { PlanRun } from '../../../lib/execution/plan/plan-run.js';
import { type RunRecord, recordOf } from '../../../lib/runs/record.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { settle } from '../deferred.js';
import { ManualClock } from '../manual-clock.js';
import { planOf, planText } from '../definitions/plan-of.js';
import { type HeldCall, Puppet } from '../puppet.js';

export interface RunningPlanOptions extends Omit<PlanInputs, 'plan'> {
  readonly tools?: readonly Tool[];
  readonly executor?: LocalExecutorOptions;
  readonly onEvent?: (event: LiveEvent) => void;
  /** Further fields of the plan, each with its comma. */
  readonly head?: string;
}

/** A plan at work on a clock that stands still. Tasks of the tool `puppet` wait until the spec lets them end. */
export class RunningPlan {
  readonly clock = new ManualClock();
  readonly puppet = new Puppet();
  readonly executor: LocalExecutor;
  readonly run: PlanRun;
  readonly events: LiveEvent[] = [];

  /** Makes it; it is queued until `begin`. */
  constructor(subPipelines: readonly string[], options: RunningPlanOptions = {}) {
    const { tools = [], executor, onEvent, head = '', ...inputs } = options;
    const known = { inputs: inputs.inputs ?? {}, session: inputs.session ?? {} };
    const plan = planOf(planText(subPipelines, head), { tools: [this.puppet.tool, ...tools], ...known });
    this.executor = new LocalExecutor({ clock: this.clock, random: () => 0.5, ...executor });
    this.run = this.executor.acceptPlan({ plan, ...inputs });
    this.run.journal.listen(onEvent ?? ((event) => void this.events.push(event)));
  }

  async begin(): Promise<this> {
    void this.run.begin();
    await settle();
    return this;
  }

  record(): RunRecord {
    return recordOf(this.run);
  }

  /** Tasks whose tool waits or was called, as `sub-pipeline/task`, in the order they were called. */
  get order(): string[] {
    return this.puppet.calls.map(nameOf);
  }

  call(name: string): HeldCall {
    const call = this.puppet.calls[this.order.lastIndexOf(name)];
    if (call === undefined) throw new Error(`${name} was not called, but ${this.order.join(', ')}`);
    return call;
  }

  async returns(name: string, value: unknown = null): Promise<void> {
    await this.puppet.returns(value, this.call(name));
  }

  async rejects(name: string, message: string): Promise<void> {
    await this.puppet.rejects(new Error(message), this.call(name));
  }

  async cancel(force = false): Promise<void> {
    await this.executor.cancel(this.run.id, { force });
    await settle();
  }

  /** What was told of the run and its sub-pipelines, as words. */
  get statuses(): string[] {
    return this.events.flatMap((event) => {
      if (event.kind === 'run') return [event.status];
      return event.kind === 'sub_pipeline' ? [`${event.sub_pipeline} ${event.status}`] : [];
    });
  }
}

/** A plan that has begun. */
export function runningPlan(
  subPipelines: readonly string[],
  options: RunningPlanOptions = {},
): Promise<RunningPlan> {
  return new RunningPlan(subPipelines, options).begin();
}

/** A task that is held by the hand, and known as `sub-pipeline/task`. */
export function held(subPipelineId: string, taskId = 't', more = ''): string {
  return `{id: ${taskId}, tool: puppet, ${more} inputs: {of: ${subPipelineId}}}`;
}

/** A task that puts a value on the blackboard. */
export function stores(key: string, value: string, taskId = 's'): string {
  return `{id: ${taskId}, tool: store, inputs: {key: ${key}, value: ${value}}}`;
}

/** The name of a call: `sub-pipeline/task`. */
export function nameOf({ inputs, context }: HeldCall): string {
  const { of } = inputs;
  return `${typeof of === 'string' ? of : '?'}/${context.task_id}`;
}
