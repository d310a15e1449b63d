import type { PlanInputs } from '../../lib/execution/prepare/run-inputs.js';
import type { Plan } from '../../lib/plans/plan.js';
import type { RunRecord } from '../../lib/runs/record.js';
import type { RegistryOptions, SubmissionOptions } from '../../lib/runs/registry-options.js';
import { parsePlan, planText, type PlanEnvironment } from '../support/definitions/parse-plan.js';
import type { PendingCall } from '../support/controlled-tool.js';
import { formatCall } from '../support/runs/start-plan.js';
import { ControlledRuns } from './controlled-runs.js';

/** A registry of plans whose tool `controlled` runs until a spec ends it. The input `of` of a task names its sub-pipeline. */
export class ControlledPlans extends ControlledRuns {
  readonly plan: Plan;

  constructor(
    subPipelines: readonly string[],
    options: RegistryOptions = {},
    environment: PlanEnvironment & { readonly head?: string } = {},
  ) {
    super(options);
    const tools = [this.controlled.tool, ...(environment.tools ?? [])];
    this.plan = parsePlan(planText(subPipelines, environment.head), { ...environment, tools });
  }

  async submitPlan(
    inputs: Omit<PlanInputs, 'plan'> = {},
    submission: SubmissionOptions = {},
  ): Promise<string> {
    const runId = await this.registry.submitPlan({ plan: this.plan, ...inputs }, submission);
    await this.waitUntilIdle();
    return runId;
  }

  /** All calls, as `sub-pipeline/task`. */
  get callNames(): string[] {
    return this.controlled.calls.map(formatCall);
  }

  /** The latest call of a task. */
  findTaskCall(name: string): PendingCall {
    const call = this.controlled.calls.findLast((one) => formatCall(one) === name);
    if (call === undefined) throw new Error(`${name} was not called, but ${this.callNames.join(', ')}`);
    return call;
  }

  async completeTask(name: string, value: unknown = name): Promise<void> {
    this.findTaskCall(name).resolve(value);
    await this.waitUntilIdle();
  }

  async failTask(name: string, message = 'boom'): Promise<void> {
    this.findTaskCall(name).reject(new Error(message));
    await this.waitUntilIdle();
  }

  /** Runs a plan to its end: every task returns its name; those in `failing` reject. */
  async runToEnd(runId: string, failing: readonly string[] = []): Promise<RunRecord> {
    const open = new Set<PendingCall>();
    while (!this.registry.record(runId).settled) {
      const next = this.controlled.calls.find((call) => call.context.run_id === runId && !open.has(call));
      if (next === undefined) throw new Error('no tool is running');
      open.add(next);
      const name = formatCall(next);
      if (failing.includes(name)) next.reject(new Error('boom'));
      else next.resolve(name);
      await this.waitUntilIdle();
    }
    return this.registry.record(runId);
  }
}
