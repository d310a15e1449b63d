import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import type { RegistryApi } from '../../../../lib/cli/context.js';
import type { PlanInputs } from '../../../../lib/execution/prepare/run-inputs.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import type { SubmissionOptions } from '../../../../lib/runs/registry-options.js';
import { builtinCatalog } from '../../../../lib/tools/catalog.js';
import { settle } from '../../../support/deferred.js';
import { ControlledTool } from '../../../support/controlled-tool.js';
import { type Invocation, invoke } from '../../invoke.js';

const PLAN = `plan:
  id: held
  sub_pipelines:
    - {id: a, stores: [k], pipeline: {id: a, goal: g, tasks: [
        {id: held, tool: controlled}, {id: keep, tool: store, inputs: {key: k, value: "{{held.output}}"}}]}}
    - {id: b, stores: [l], pipeline: {id: b, goal: g, tasks: [
        {id: held, tool: controlled}, {id: keep, tool: store, inputs: {key: l, value: "{{held.output}}"}}]}}
    - {id: c, reads: [k, l], pipeline: {id: c, goal: g, tasks: [
        {id: end, tool: mock, inputs: {k: "{{session.k}}", l: "{{session.l}}"}}]}}
`;

/** A registry that records the submitted plans. */
class RecordingRegistry extends RunRegistry implements RegistryApi {
  readonly submitted: PlanInputs[] = [];

  override submitPlan(run: PlanInputs, submission?: SubmissionOptions): Promise<string> {
    this.submitted.push(run);
    return super.submitPlan(run, submission);
  }
}

describe('cancelling a plan with Ctrl-C (cancelOnSignal)', () => {
  let controlled: ControlledTool;
  let registry: RecordingRegistry;
  let processEvents: EventEmitter;
  beforeEach(() => {
    controlled = new ControlledTool();
    registry = new RecordingRegistry();
    processEvents = new EventEmitter();
  });

  /** Starts the command and waits until `calls` tools are running. */
  async function started(
    calls: number,
    ...flags: string[]
  ): Promise<{ readonly ended: Promise<Invocation> }> {
    const ended = invoke(['run', '-', ...flags], {
      input: PLAN,
      openCatalog: async () => builtinCatalog().with([controlled.tool]),
      openRegistry: async () => registry,
      processEvents,
    });
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    while (!hasEnded && controlled.calls.length < calls) await settle(1);
    return { ended };
  }

  it('the first Ctrl-C lets the current wave finish and starts no other sub-pipeline (rule 12, D40)', async () => {
    const { ended } = await started(1);
    processEvents.emit('SIGINT');
    await settle();
    await controlled.returns(1);
    const { status, stdout, stderr } = await ended;
    expect({ status, stdout }).to.deep.equal({ status: 130, stdout: '' });
    expect(controlled.calls).to.have.length(1);
    expect(stderr.split('\n')[0]).to.contain('cancelling: the current wave finishes first');
    expect(stderr).to.match(
      /! cancelled in .*: of 3 sub-pipelines 1 cancelled, 2 not started; 1 of 5 waves, 1 invocation\n/,
    );
    expect(stderr).to.contain('  cancelled: a\n  not started: b, c\n');
  });

  it('announces that several waves finish if sub-pipelines run at once (D45)', async () => {
    const { ended } = await started(2, '--plan-concurrency', '2');
    processEvents.emit('SIGINT');
    await settle();
    for (const [index, call] of controlled.calls.entries()) await controlled.returns(index, call);
    const { stderr } = await ended;
    expect(stderr).to.contain('cancelling: the current waves finish first; Ctrl-C again stops at once\n');
    expect(stderr).to.contain('of 3 sub-pipelines 2 cancelled, 1 not started; ');
  });

  it('each flag sets its option, and no other option is set', async () => {
    const flags = ['--timeout', '2.5', '--concurrency', '8', '--tenant', 'acme', '--inputs', '{"n": 1}'];
    const { ended } = await started(1, ...flags, '--plan-concurrency', '3', '--session', '{"s": 2}');
    processEvents.emit('SIGINT');
    processEvents.emit('SIGINT');
    await ended;
    const [{ plan, ...given } = { plan: undefined }] = registry.submitted;
    expect(plan?.definition.id).to.equal('held');
    expect(given).to.deep.equal({
      tenant_id: 'acme',
      inputs: { n: 1 },
      session: { s: 2 },
      options: { per_task_timeout: 2.5, fan_out_concurrency: 8 },
      plan_concurrency: 3,
    });
  });
});
