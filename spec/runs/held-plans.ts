import type { PlanInputs } from '../../lib/execution/run-inputs.js';
import type { Plan } from '../../lib/plans/plan.js';
import type { RunRecord } from '../../lib/runs/record.js';
import type { RegistryOptions, SubmissionOptions } from '../../lib/runs/registry.js';
import { parsePlan, planText, type PlanEnvironment } from '../support/definitions/parse-plan.js';
import type { PendingCall } from '../support/controlled-tool.js';
import { formatCall } from '../support/runs/running-plan.js';
import { HeldRuns } from './held-runs.js';

/** A registry of plans whose tool `puppet` runs until a spec ends it. The input `of` of a task names its sub-pipeline. */
export class HeldPlans extends HeldRuns {
  readonly plan: Plan;

  constructor(subPipelines: readonly string[], options: RegistryOptions = {}, known: PlanEnvironment = {}) {
    super(options);
    const tools = [this.puppet.tool, ...(known.tools ?? [])];
    this.plan = parsePlan(planText(subPipelines), { ...known, tools });
  }

  async submitPlan(
    inputs: Omit<PlanInputs, 'plan'> = {},
    submission: SubmissionOptions = {},
  ): Promise<string> {
    const runId = await this.registry.submitPlan({ plan: this.plan, ...inputs }, submission);
    await this.filled();
    return runId;
  }

  /** All calls, as `sub-pipeline/task`. */
  get called(): string[] {
    return this.puppet.calls.map(formatCall);
  }

  /** The latest call of a task. */
  call(name: string): PendingCall {
    const call = this.puppet.calls.findLast((one) => formatCall(one) === name);
    if (call === undefined) throw new Error(`${name} was not called, but ${this.called.join(', ')}`);
    return call;
  }

  async returns(name: string, value: unknown = name): Promise<void> {
    this.call(name).resolve(value);
    await this.filled();
  }

  async rejects(name: string, message = 'boom'): Promise<void> {
    this.call(name).reject(new Error(message));
    await this.filled();
  }

  /** Runs a plan to its end: every task returns its name; those in `failing` reject. */
  async ended(runId: string, failing: readonly string[] = []): Promise<RunRecord> {
    const open = new Set<PendingCall>();
    while (!this.registry.record(runId).settled) {
      const next = this.puppet.calls.find((call) => call.context.run_id === runId && !open.has(call));
      if (next === undefined) throw new Error('no tool is running');
      open.add(next);
      const name = formatCall(next);
      if (failing.includes(name)) next.reject(new Error('boom'));
      else next.resolve(name);
      await this.filled();
    }
    return this.registry.record(runId);
  }
}
