import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { WavetrainError } from '../../../../lib/common/errors.js';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { deferred, settle } from '../../../support/deferred.js';
import { type Invocation, invoke } from '../../invoke.js';
import { HeldRegistry, RUNNING, TWO_TASKS } from '../held-registry.js';

describe('cancelling a run with Ctrl-C (cancelOnSignal)', () => {
  let registry: HeldRegistry;
  let processEvents: EventEmitter;
  beforeEach(() => {
    registry = new HeldRegistry();
    processEvents = new EventEmitter();
  });

  /** Starts the command and waits until the run is submitted. */
  async function started(...flags: string[]): Promise<{ readonly ended: Promise<Invocation> }> {
    const openRegistry = async () => registry;
    const ended = invoke(['run', '-', ...flags], { input: TWO_TASKS, openRegistry, processEvents });
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    while (!hasEnded && registry.submitted.length === 0) await settle(1);
    return { ended };
  }

  const succeed = (outputs: JsonObject): void => {
    const result = { outputs, waves_executed: 2, tasks_executed: 2 };
    registry.end.resolve({ ...RUNNING, status: 'succeeded', result });
  };

  /** Ends the command at once. */
  function stop(): void {
    processEvents.emit('SIGINT');
    processEvents.emit('SIGINT');
  }

  for (const signal of ['SIGINT', 'SIGTERM']) {
    it(`the first ${signal} cancels cooperatively; it exits with 130 once the wave has settled (D40)`, async () => {
      const { ended } = await started();
      processEvents.emit(signal);
      await settle();
      expect(registry.cancelled).to.deep.equal([false]);
      const end = { status: 'cancelled', settled: true, finished_at: RUNNING.created_at } as const;
      registry.end.resolve({ ...RUNNING, ...end });
      const { status, stdout, stderr } = await ended;
      expect(status).to.equal(130);
      expect(stdout).to.equal('');
      expect(stderr).to.contain('cancelling: the current wave finishes first; Ctrl-C again stops at once');
      expect(stderr)
        .to.match(/! cancelled in 0 ms: 0 of 2 waves/)
        .and.to.contain('skipped: a, b');
    });
  }

  for (const signal of ['SIGINT', 'SIGTERM']) {
    it(`a ${signal} before the run has begun exits with 130, too, and runs nothing (D40)`, async () => {
      const loading = deferred<never>();
      const openCatalog = () => loading.promise;
      const openRegistry = async () => registry;
      const ended = invoke(['run', '-'], { input: TWO_TASKS, openCatalog, openRegistry, processEvents });
      while (processEvents.listenerCount(signal) === 0) await settle(1);
      processEvents.emit(signal);
      expect(await ended).to.deep.equal({ status: 130, stdout: '', stderr: '' });
      expect(registry.submitted).to.deep.equal([]);
      expect(processEvents.eventNames()).to.deep.equal([]);
    });
  }

  it('the second signal stops at once, without waiting for tools (D21)', async () => {
    const { ended } = await started();
    stop();
    const { status, stderr } = await ended;
    expect(registry.cancelled).to.deep.equal([false, true]);
    expect(registry.forgotten).to.deep.equal(['r1']);
    expect(status).to.equal(130);
    expect(stderr).to.contain('stopping at once');
  });

  it('prints the status and the outputs that there are with --json (D59)', async () => {
    const { ended } = await started('--json');
    processEvents.emit('SIGINT');
    processEvents.emit('SIGTERM');
    const expected = { status: 'cancelled', error: null, failures: [], outputs: {} };
    expect(JSON.parse((await ended).stdout)).to.deep.equal(expected);
  });

  it('a signal after the run has settled changes nothing', async () => {
    const { ended } = await started('--json');
    registry.refuses = true;
    processEvents.emit('SIGINT');
    await settle();
    succeed({ a: 1 });
    const { status, stdout } = await ended;
    expect(status).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ a: 1 });
  });

  it('a run that cannot be cancelled is reported, and its end is awaited', async () => {
    const { ended } = await started();
    registry.cancel = () => Promise.reject(new WavetrainError('server_unreachable', 'no connection'));
    processEvents.emit('SIGINT');
    await settle();
    succeed({});
    const { status, stderr } = await ended;
    expect(status).to.equal(0);
    expect(stderr).to.contain('the run could not be cancelled: no connection');
  });

  it('removes its signal listeners', async () => {
    const { ended } = await started();
    stop();
    await ended;
    expect(processEvents.eventNames()).to.deep.equal([]);
  });

  it('an uncaught error in a tool is printed on one line and the run continues', async () => {
    const { ended } = await started();
    processEvents.emit('uncaughtException', new Error('late\nthrow'));
    processEvents.emit('unhandledRejection', 'late rejection');
    succeed({});
    const { status, stderr } = await ended;
    expect(status).to.equal(0);
    expect(stderr.trimEnd().split('\n')).to.deep.equal([
      'uncaught error in a tool, outside its task: late throw',
      'uncaught error in a tool, outside its task: late rejection',
    ]);
  });

  it('each flag sets its ExecutionOption', async () => {
    const flags = ['--timeout', '2.5', '--concurrency', '8', '--jitter', '0.2', '--retry-base-delay', '1'];
    const { ended } = await started(...flags, '--max-retry-delay', '1m30s', '--tenant', 'acme');
    stop();
    await ended;
    expect(registry.submitted[0]).to.deep.include({
      tenant_id: 'acme',
      options: {
        per_task_timeout: 2.5,
        fan_out_concurrency: 8,
        backoff_jitter: 0.2,
        retry_base_delay: 1,
        max_retry_delay: '1m30s',
      },
    });
  });

  it('no ExecutionOption is set without a flag', async () => {
    const { ended } = await started();
    stop();
    await ended;
    expect(registry.submitted[0]).to.have.all.keys('pipeline', 'tenant_id', 'options');
    expect(registry.submitted[0]?.options).to.deep.equal({});
  });
});
