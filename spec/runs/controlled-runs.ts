import { parsePipeline } from '../../lib/pipelines/load.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import type { RegistryOptions, SubmissionOptions } from '../../lib/runs/registry-options.js';
import type { RunPage } from '../../lib/runs/views/run-listing.js';
import { settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { type PendingCall, ControlledTool } from '../support/controlled-tool.js';

const ONE_TASK = '{id: held, goal: be held, tasks: [{id: a, tool: controlled}]}';

/** A registry whose runs keep running until a spec ends them. */
export class ControlledRuns {
  readonly controlled = new ControlledTool();
  readonly clock = new ManualClock();
  readonly registry: RunRegistry;
  readonly pipeline: Pipeline;

  constructor(options: RegistryOptions = {}, pipeline = ONE_TASK) {
    this.registry = new RunRegistry({ clock: this.clock, random: () => 0.5, ...options });
    this.pipeline = parsePipeline(pipeline, { tools: [this.controlled.tool] });
  }

  async submit(tenantId = 'default', submission: SubmissionOptions = {}): Promise<string> {
    const runId = await this.registry.submit({ pipeline: this.pipeline, tenant_id: tenantId }, submission);
    await this.waitUntilIdle();
    return runId;
  }

  async submitAll(tenantIds: readonly string[]): Promise<string[]> {
    const runIds: string[] = [];
    for (const tenantId of tenantIds) runIds.push(await this.submit(tenantId));
    return runIds;
  }

  /** Completes the tool call of a run, which ends the run. */
  async complete(runId: string, output = 'done'): Promise<void> {
    this.findCall(runId).resolve(output);
    await this.registry.settled(runId);
    await this.waitUntilIdle();
  }

  /** Submits a run that pauses before its first task. */
  async submitPausing(tenantId = 'default'): Promise<string> {
    const { pipeline } = this;
    const runId = await this.registry.submit({
      pipeline,
      tenant_id: tenantId,
      breakpoints: { before: ['a'] },
    });
    await this.waitUntilIdle();
    return runId;
  }

  async submitAndComplete(tenantId?: string, submission?: SubmissionOptions): Promise<string> {
    const runId = await this.submit(tenantId, submission);
    await this.complete(runId);
    return runId;
  }

  /** Ends the tool call of a run, which may go on. */
  async resolveCall(runId: string, output: unknown): Promise<void> {
    this.findCall(runId).resolve(output);
    await this.waitUntilIdle();
  }

  /** Fails the tool call of a run, which ends the run. */
  async fail(runId: string, message: string): Promise<void> {
    this.findCall(runId).reject(new Error(message));
    await this.registry.settled(runId);
    await this.waitUntilIdle();
  }

  /** The ids of all runs, the newest first. */
  listIds(): string[] {
    return idsOf(this.registry.list({ limit: 500 }));
  }

  /** The latest tool call of a run. */
  findCall(runId: string): PendingCall {
    const call = this.controlled.calls.findLast(({ context }) => context.run_id === runId);
    if (call === undefined) throw new Error('the tool was not called for that run');
    return call;
  }

  /** The runs whose tool was called, in the order of the calls. */
  get calledRunIds(): string[] {
    return this.controlled.calls.map(({ context }) => context.run_id);
  }

  getStatus(runId: string): string {
    return this.registry.record(runId).status;
  }

  /** Resolves when queued runs have taken the free slots and every tool that can be called was called. */
  async waitUntilIdle(): Promise<void> {
    await settle(TURNS);
  }
}

/** Of the event loop, in which a store commits and a run goes on from one wave to the next. */
const TURNS = 20;

export function idsOf({ runs }: RunPage): string[] {
  return runs.map(({ run_id: id }) => id);
}
