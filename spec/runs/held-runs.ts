import { processPace } from '../../lib/execution/event-loop-budget.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { type RegistryOptions, RunRegistry, type Submission } from '../../lib/runs/registry.js';
import { settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { type HeldCall, Puppet } from '../support/puppet.js';

const ONE_TASK = '{id: held, goal: be held, tasks: [{id: a, tool: puppet}]}';

/** A registry whose runs stay at work until a spec lets them end. */
export class HeldRuns {
  readonly puppet = new Puppet();
  readonly clock = new ManualClock();
  readonly registry: RunRegistry;
  readonly pipeline: Pipeline;

  constructor(options: RegistryOptions = {}, pipeline = ONE_TASK) {
    this.registry = new RunRegistry({ clock: this.clock, random: () => 0.5, ...options });
    this.pipeline = parsePipeline(pipeline, { tools: [this.puppet.tool] });
  }

  async submit(tenantId = 'default', submission: Submission = {}): Promise<string> {
    const runId = await this.registry.submit({ pipeline: this.pipeline, tenant_id: tenantId }, submission);
    await this.filled();
    return runId;
  }

  async submitAll(tenantIds: readonly string[]): Promise<string[]> {
    const runIds: string[] = [];
    for (const tenantId of tenantIds) runIds.push(await this.submit(tenantId));
    return runIds;
  }

  /** Lets a run end: its tool returns. */
  async end(runId: string): Promise<void> {
    this.callOf(runId).resolve('done');
    await this.registry.settled(runId);
    await this.filled();
  }

  /** The call of a run that is at work. */
  callOf(runId: string): HeldCall {
    const call = this.puppet.calls.findLast(({ context }) => context.run_id === runId);
    if (call === undefined) throw new Error('the tool was not called for that run');
    return call;
  }

  /** The runs whose tool was called, in that order. */
  get begun(): string[] {
    return this.puppet.calls.map(({ context }) => context.run_id);
  }

  statusOf(runId: string): string {
    return this.registry.record(runId).status;
  }

  /** Waits for the turn in which the free places have been taken. */
  async filled(): Promise<void> {
    await settle(1);
    while (processPace.overdue()) await settle(1);
    await settle(1);
  }
}

/** Uses up the present turn of the event loop. */
export function useUpTheTurn(): void {
  let looks = 0;
  while (!processPace.overdue()) looks++;
  if (looks < 0) throw new Error('time stands still');
}
