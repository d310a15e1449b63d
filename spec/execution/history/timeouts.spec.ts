import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { expectNoGap, KeptTestRun } from './kept-runs.js';

const ERROR = 'the run took longer than its timeout of 5s';

/** A process at work on a run whose calls wait for the spec. */
class Process {
  readonly tool = new ControlledTool();
  readonly kept: KeptTestRun;

  /** @param awayMs the time since the last fact, in which no process was at work */
  constructor(definition: string, facts: readonly Fact[] = [], awayMs = 0) {
    const clock = new ManualClock((facts.at(-1)?.at ?? Date.UTC(2026, 0, 1)) + awayMs);
    this.kept = new KeptTestRun(definition, facts, [this.tool.tool], { clock, head: 'timeout: 5s,' });
  }

  async begin(): Promise<this> {
    await this.kept.begin();
    await settle();
    return this;
  }

  async advance(ms: number): Promise<void> {
    this.kept.clock.advance(ms);
    await settle();
  }

  get facts(): readonly Fact[] {
    return this.kept.log.facts;
  }
}

const TASK = '{id: a, tool: controlled}';
const WIDE =
  '{id: a, tool: controlled, parallel_over: "{{pipeline.inputs.items4}}", inputs: {of: "{{item}}"}}, {id: b, tool: controlled}';

describe('The timeout of a run that goes on after a crash (D81)', () => {
  it('counts the time since the run had begun, also that in which no process was at work', async () => {
    const first = await new Process(TASK).begin();
    await first.advance(2000);
    const second = await new Process(TASK, first.facts, 2500).begin();
    expect(second.tool.calls).to.have.length(1);
    await second.advance(2499);
    expect(second.kept.record.status).to.equal('running');
    await second.advance(1);
    expect(second.kept.record).to.include({ status: 'failed', error: ERROR, error_code: 'run_timeout' });
    expectNoGap(second.kept);
  });

  it('fails at once, and calls no tool, when the time was over while no process was at work', async () => {
    const first = await new Process(WIDE).begin();
    const second = await new Process(WIDE, first.facts, 5000).begin();
    await settle();
    expect(second.tool.calls).to.deep.equal([]);
    expect(second.kept.record).to.include({ status: 'failed', error: ERROR, error_code: 'run_timeout' });
    expect(second.facts.filter(({ kind }) => kind === 'timeout')).to.have.length(1);
    expectNoGap(second.kept);
  });

  it('is a fact: whatever was kept of the run after it, the run fails as it did', async () => {
    const first = await new Process(WIDE).begin();
    await first.advance(5000);
    const { facts } = first;
    const at = facts.findIndex(({ kind }) => kind === 'timeout');
    expect(at).to.be.greaterThan(0);
    for (let kept = at + 1; kept <= facts.length; kept++) {
      const second = await new Process(WIDE, facts.slice(0, kept)).begin();
      await second.kept.run.settled;
      expect(second.tool.calls, `${kept} facts`).to.deep.equal([]);
      const { status, error, error_code, failures } = second.kept.record;
      expect({ status, error, error_code }).to.deep.equal({
        status: 'failed',
        error: ERROR,
        error_code: 'run_timeout',
      });
      expect(failures.map(({ error: reason }) => reason)).to.deep.equal(
        first.kept.record.failures.map(({ error: reason }) => reason),
      );
      expectNoGap(second.kept);
    }
  });

  it('of a sub-pipeline is rebuilt in its place, and the others go on', async () => {
    const of = (id: string, ofPipeline = ''): string => subPipelineText(id, TASK, '', ofPipeline);
    const plan = planText([of('x', 'timeout: 1s,'), of('y')], 'plan_concurrency: 2,');
    const first = await new Process(plan).begin();
    await first.advance(1000);
    const second = await new Process(plan, first.facts).begin();
    expect(second.tool.calls).to.have.length(1);
    expect(second.kept.record.sub_pipelines).to.deep.equal({ x: 'failed', y: 'running' });
    await second.tool.returns('done');
    expect(second.kept.record).to.include({
      status: 'failed',
      error: 'sub-pipeline "x": the run took longer than its timeout of 1s',
    });
  });

  const HANDLERS = 'on_failure: [{id: h, tool: controlled}]';
  const HANDLED = {
    'a pipeline': `${TASK}], ${HANDLERS}, finally: [{id: z, tool: mock}`,
    'a plan': planText(
      [subPipelineText('x', TASK)],
      `timeout: 5s, ${HANDLERS}, finally: [{id: z, tool: mock}],`,
    ),
    'a sub-pipeline': planText([subPipelineText('x', TASK, '', `timeout: 5s, ${HANDLERS},`)]),
  };

  for (const [kind, definition] of Object.entries(HANDLED)) {
    it(`stops no handler of ${kind} that a process has begun after it (D80)`, async () => {
      const first = await new Process(definition).begin();
      await first.advance(5000);
      expect(first.tool.last.context.task_id).to.equal('h');
      const second = await new Process(definition, first.facts).begin();
      expect(second.tool.calls.map(({ context }) => context.task_id)).to.deep.equal(['h']);
      await second.tool.returns('sent');
      await second.kept.run.settled;
      expect(second.kept.record).to.include({ status: 'failed', settled: true, error_code: 'run_timeout' });
      expect(second.kept.record.handler_failures ?? []).to.deep.equal([]);
      expectNoGap(second.kept);
    });
  }

  it('of a pipeline inside a task goes on counting', async () => {
    const inner = '{id: in, goal: g, timeout: 1s, tasks: [{id: t, tool: controlled}]}';
    const outer = `{id: call, tool: run_pipeline, inputs: {pipeline: ${inner}}}`;
    const first = await new Process(outer).begin();
    await first.advance(600);
    const second = await new Process(outer, first.facts, 600).begin();
    await second.advance(400);
    await second.kept.run.settled;
    expect(second.kept.record.error).to.equal('pipeline "in": the run took longer than its timeout of 1s');
  });
});
