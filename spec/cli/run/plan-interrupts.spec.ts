import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { type RunDoor, systemServices } from '../../../lib/cli/context.js';
import type { PlanInputs } from '../../../lib/execution/run-inputs.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import type { Submission } from '../../../lib/runs/registry-options.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { settle } from '../../support/deferred.js';
import { Puppet } from '../../support/puppet.js';
import { type Invocation, invoke } from '../invoke.js';

const PLAN = `plan:
  id: held
  sub_pipelines:
    - {id: a, stores: [k], pipeline: {id: a, goal: g, tasks: [
        {id: held, tool: puppet}, {id: keep, tool: store, inputs: {key: k, value: "{{held.output}}"}}]}}
    - {id: b, stores: [l], pipeline: {id: b, goal: g, tasks: [
        {id: held, tool: puppet}, {id: keep, tool: store, inputs: {key: l, value: "{{held.output}}"}}]}}
    - {id: c, reads: [k, l], pipeline: {id: c, goal: g, tasks: [
        {id: end, tool: mock, inputs: {k: "{{session.k}}", l: "{{session.l}}"}}]}}
`;

/** The registry, and what was handed to it. */
class HeardRegistry extends RunRegistry implements RunDoor {
  readonly heard: PlanInputs[] = [];

  override submitPlan(run: PlanInputs, submission?: Submission): Promise<string> {
    this.heard.push(run);
    return super.submitPlan(run, submission);
  }
}

describe('a plan that is interrupted', () => {
  let puppet: Puppet;
  let registry: HeardRegistry;
  let processEvents: EventEmitter;
  beforeEach(() => {
    puppet = new Puppet();
    registry = new HeardRegistry();
    processEvents = new EventEmitter();
  });

  /** Starts the command, and gives it back once so many tools are at work. */
  async function started(
    calls: number,
    ...flags: string[]
  ): Promise<{ readonly ended: Promise<Invocation> }> {
    const services = {
      ...systemServices,
      catalog: async () => builtinCatalog().with([puppet.tool]),
      registry: async () => registry,
    };
    const ended = invoke(['run', '-', ...flags], { input: PLAN, services, processEvents });
    while (puppet.calls.length < calls) await settle(1);
    return { ended };
  }

  it('is cancelled by the first Ctrl-C: the wave at work finishes, no other sub-pipeline starts (rule 12, D40)', async () => {
    const { ended } = await started(1);
    processEvents.emit('SIGINT');
    await settle();
    await puppet.returns(1);
    const { status, stdout, stderr } = await ended;
    expect({ status, stdout }).to.deep.equal({ status: 130, stdout: '' });
    expect(puppet.calls).to.have.length(1);
    expect(stderr.split('\n')[0]).to.contain('cancelling: the wave at work finishes first');
    expect(stderr).to.match(
      /! cancelled in .*: of 3 sub-pipelines 1 cancelled, 2 not started; 1 of 5 waves, 1 invocation\n/,
    );
    expect(stderr).to.contain('  cancelled: a\n  not started: b, c\n');
  });

  it('says that the waves of all sub-pipelines at work finish, where there may be several (D45)', async () => {
    const { ended } = await started(2, '--plan-concurrency', '2');
    processEvents.emit('SIGINT');
    await settle();
    for (const [index, call] of puppet.calls.entries()) await puppet.returns(index, call);
    const { stderr } = await ended;
    expect(stderr).to.contain('cancelling: the waves at work finish first; Ctrl-C again stops at once\n');
    expect(stderr).to.contain('of 3 sub-pipelines 2 cancelled, 1 not started; ');
  });

  it('is stopped at once by the second, without waiting for its tools (D21)', async () => {
    const { ended } = await started(1);
    processEvents.emit('SIGINT');
    processEvents.emit('SIGINT');
    const { status, stderr } = await ended;
    expect(status).to.equal(130);
    expect(stderr).to.contain('stopping at once');
    expect(puppet.last.context.signal.aborted).to.equal(true);
  });

  it('lets as many sub-pipelines run together as --plan-concurrency says (D45)', async () => {
    const { ended } = await started(2, '--plan-concurrency', '2', '--json');
    for (const [index, call] of puppet.calls.entries()) await puppet.returns(index, call);
    const { status, stdout } = await ended;
    expect(status).to.equal(0);
    const { blackboard }: { blackboard: object } = JSON.parse(stdout);
    expect(blackboard).to.deep.equal({ k: 0, l: 1 });
  });

  it('was given every option that its flags name, and no other', async () => {
    const flags = ['--timeout', '2.5', '--concurrency', '8', '--tenant', 'acme', '--inputs', '{"n": 1}'];
    const { ended } = await started(1, ...flags, '--plan-concurrency', '3', '--session', '{"s": 2}');
    processEvents.emit('SIGINT');
    processEvents.emit('SIGINT');
    await ended;
    const [{ plan, ...given } = { plan: undefined }] = registry.heard;
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
