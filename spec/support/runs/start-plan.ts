import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { LocalExecutorOptions } from '../../../lib/execution/executor-options.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PlanInputs } from '../../../lib/execution/prepare/run-inputs.js';
import type { PlanRun } from '../../../lib/execution/plan/plan-run.js';
import { type RunRecord, toRunRecord } from '../../../lib/runs/record.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { settle } from '../deferred.js';
import { ManualClock } from '../manual-clock.js';
import { parsePlan, planText } from '../definitions/parse-plan.js';
import { type PendingCall, ControlledTool } from '../controlled-tool.js';

export interface TestPlanRunOptions extends Omit<PlanInputs, 'plan'> {
  readonly tools?: readonly Tool[];
  readonly executor?: LocalExecutorOptions;
  readonly onEvent?: (event: LiveEvent) => void;
  /** Further fields of the plan, each followed by a comma. */
  readonly head?: string;
}

/** A plan run with a manual clock. Tasks of the tool `controlled` wait until the spec settles them. */
export class TestPlanRun {
  readonly clock = new ManualClock();
  readonly controlled = new ControlledTool();
  readonly executor: LocalExecutor;
  readonly run: PlanRun;
  readonly events: LiveEvent[] = [];

  /** Creates the run, which is queued until `begin`. */
  constructor(subPipelines: readonly string[], options: TestPlanRunOptions = {}) {
    const { tools = [], executor, onEvent, head = '', ...inputs } = options;
    const values = { inputs: inputs.inputs ?? {}, session: inputs.session ?? {} };
    const plan = parsePlan(planText(subPipelines, head), {
      tools: [this.controlled.tool, ...tools],
      ...values,
    });
    this.executor = new LocalExecutor({ clock: this.clock, random: () => 0.5, ...executor });
    this.run = this.executor.createPlanRun({ plan, ...inputs });
    this.run.journal.subscribe(onEvent ?? ((event) => void this.events.push(event)));
  }

  async begin(): Promise<this> {
    void this.run.begin();
    await settle();
    return this;
  }

  record(): RunRecord {
    return toRunRecord(this.run);
  }

  /** Calls of the tool `controlled`, as `sub-pipeline/task`, in order. */
  get order(): string[] {
    return this.controlled.calls.map(formatCall);
  }

  call(name: string): PendingCall {
    const call = this.controlled.calls[this.order.lastIndexOf(name)];
    if (call === undefined) throw new Error(`${name} was not called, but ${this.order.join(', ')}`);
    return call;
  }

  async returns(name: string, value: unknown = null): Promise<void> {
    await this.controlled.returns(value, this.call(name));
  }

  async rejects(name: string, message: string): Promise<void> {
    await this.controlled.rejects(new Error(message), this.call(name));
  }

  async cancel(force = false): Promise<void> {
    await this.executor.cancel(this.run.id, { force });
    await settle();
  }

  /** The statuses of the run and its sub-pipelines, in order of their events. */
  get statuses(): string[] {
    return this.events.flatMap((event) => {
      if (event.kind === 'run') return [event.status];
      return event.kind === 'sub_pipeline' ? [`${event.sub_pipeline} ${event.status}`] : [];
    });
  }
}

/** Creates and begins a plan run. */
export function startPlan(
  subPipelines: readonly string[],
  options: TestPlanRunOptions = {},
): Promise<TestPlanRun> {
  return new TestPlanRun(subPipelines, options).begin();
}

/** Declares a task that the spec settles by the name `sub-pipeline/task`. */
export function controlledTask(subPipelineId: string, taskId = 't', more = ''): string {
  return `{id: ${taskId}, tool: controlled, ${more} inputs: {of: ${subPipelineId}}}`;
}

/** Declares a task that stores a value on the blackboard. */
export function storeTask(key: string, value: string, taskId = 's'): string {
  return `{id: ${taskId}, tool: store, inputs: {key: ${key}, value: ${value}}}`;
}

/** Formats a call as `sub-pipeline/task`. */
export function formatCall({ inputs, context }: PendingCall): string {
  const { of } = inputs;
  return `${typeof of === 'string' ? of : '?'}/${context.task_id}`;
}
