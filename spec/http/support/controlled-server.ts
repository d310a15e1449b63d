import { expect } from 'chai';
import type { RunRecord } from '../../../lib/runs/record.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type PendingCall, ControlledTool } from '../../support/controlled-tool.js';
import {
  type TestResponse,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../support/http/test-server.js';

/** Two waves, each of one task that the spec completes. */
export const TWO_WAVES = {
  id: 'held',
  goal: 'be held',
  tasks: [
    { id: 'a', tool: 'controlled' },
    { id: 'b', tool: 'controlled', inputs: { given: '{{a.output}}' } },
  ],
};

/** A server on a manual clock, whose runs stay active until the spec completes their tool calls. */
export class ControlledServer {
  readonly controlled = new ControlledTool();
  readonly clock = new ManualClock();
  #server: TestServer | undefined;

  async open(options: TestServerOptions = {}): Promise<void> {
    const { tools = [], ...others } = options;
    this.#server = await startTestServer({
      env: { SERVICE_MAX_RUNNING: '1' },
      clock: this.clock,
      tools: [this.controlled.tool, ...tools],
      ...others,
    });
  }

  get server(): TestServer {
    if (this.#server === undefined) throw new Error('the server is not open');
    return this.#server;
  }

  request<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<TestResponse<T>> {
    return this.server.request<T>(method, path, body);
  }

  /** Submits a pipeline and returns the id of the run. */
  async submit(pipeline: object = TWO_WAVES, more: object = {}): Promise<string> {
    return this.#submit('/pipelines/run_async', { pipeline, ...more });
  }

  /** Submits a plan and returns the id of the run. */
  async submitPlan(plan: object, more: object = {}): Promise<string> {
    return this.#submit('/plans/run_async', { plan, ...more });
  }

  async #submit(path: string, request: object): Promise<string> {
    const { status, body } = await this.request<{ run_id: string }>('POST', path, request);
    expect(status, JSON.stringify(body)).to.equal(202);
    await this.waitUntilIdle();
    return body.run_id;
  }

  async poll(runId: string): Promise<RunRecord> {
    const { status, body } = await this.request<RunRecord>('GET', `/pipelines/runs/${runId}`);
    expect(status).to.equal(200);
    return body;
  }

  /** The latest tool call of a run. */
  findCall(runId: string): PendingCall {
    const call = this.controlled.calls.findLast(({ context }) => context.run_id === runId);
    if (call === undefined) throw new Error('the tool was not called for that run');
    return call;
  }

  /** Completes the current tool call of a run. */
  async complete(runId: string): Promise<void> {
    this.findCall(runId).resolve('done');
    await this.waitUntilIdle();
  }

  /** Fails the current tool call of a run. */
  async fail(runId: string): Promise<void> {
    this.findCall(runId).reject(new Error('no luck'));
    await this.waitUntilIdle();
  }

  /** Resolves when the runs do nothing more until a tool call settles or the clock advances. */
  async waitUntilIdle(): Promise<void> {
    await settle(5);
  }

  /** Stops and deletes every run, so that the next spec starts with none. */
  async clear(): Promise<void> {
    const { registry } = this.server;
    for (;;) {
      const { runs } = registry.list({ limit: 500 });
      if (runs.length === 0) break;
      for (const { run_id } of runs) registry.forget(run_id);
    }
    await this.waitUntilIdle();
    this.controlled.calls.length = 0;
    expect(registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
  }

  /** Deletes every run first: on a manual clock, the server would wait for active ones forever. */
  async close(): Promise<void> {
    await this.clear();
    await this.server.close(0);
  }
}
