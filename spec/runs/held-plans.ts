import type { PlanInputs } from '../../lib/execution/run-inputs.js';
import type { Plan } from '../../lib/plans/plan.js';
import type { RunRecord } from '../../lib/runs/record.js';
import type { RegistryOptions, Submission } from '../../lib/runs/registry.js';
import { planOf, planText, type PlanKnown } from '../support/definitions/plan-of.js';
import type { HeldCall } from '../support/puppet.js';
import { nameOf } from '../support/runs/running-plan.js';
import { HeldRuns } from './held-runs.js';

/** A registry of plans whose tool `puppet` waits until a spec lets it end. Its tasks say in `of` whose they are. */
export class HeldPlans extends HeldRuns {
  readonly plan: Plan;

  constructor(subPipelines: readonly string[], options: RegistryOptions = {}, known: PlanKnown = {}) {
    super(options);
    const tools = [this.puppet.tool, ...(known.tools ?? [])];
    this.plan = planOf(planText(subPipelines), { ...known, tools });
  }

  async submitPlan(inputs: Omit<PlanInputs, 'plan'> = {}, submission: Submission = {}): Promise<string> {
    const runId = await this.registry.submitPlan({ plan: this.plan, ...inputs }, submission);
    await this.filled();
    return runId;
  }

  /** Calls since the last look, as `sub-pipeline/task`. */
  get called(): string[] {
    return this.puppet.calls.map(nameOf);
  }

  /** The last call of a task. */
  call(name: string): HeldCall {
    const call = this.puppet.calls.findLast((one) => nameOf(one) === name);
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

  /** Runs a plan to its end: every task answers its name, but those that break reject. */
  async ended(runId: string, breaks: readonly string[] = []): Promise<RunRecord> {
    const open = new Set<HeldCall>();
    while (!this.registry.record(runId).settled) {
      const next = this.puppet.calls.find((call) => call.context.run_id === runId && !open.has(call));
      if (next === undefined) throw new Error('nothing is at work');
      open.add(next);
      const name = nameOf(next);
      if (breaks.includes(name)) next.reject(new Error('boom'));
      else next.resolve(name);
      await this.filled();
    }
    return this.registry.record(runId);
  }
}
