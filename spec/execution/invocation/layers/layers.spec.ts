import { expect } from 'chai';
import {
  type AbortableCall,
  type Call,
  type CallListener,
  type CallOwner,
  failCall,
  type Layer,
  type MakeCall,
  NO_ABORT,
} from '../../../../lib/execution/invocation/call.js';
import { CallLayers } from '../../../../lib/execution/invocation/layers.js';
import { observe } from '../../../../lib/execution/invocation/attempt/observed-attempt.js';
import { pool } from '../../../../lib/execution/invocation/pool.js';
import { retry } from '../../../../lib/execution/invocation/retry.js';
import { timeout } from '../../../../lib/execution/invocation/timeout.js';
import { ToolError } from '../../../../lib/common/errors.js';
import type { InvocationServices } from '../../../../lib/execution/run-context.js';
import type { Task } from '../../../../lib/pipelines/pipeline.js';
import { ManualClock } from '../../../support/manual-clock.js';

describe('The layers of a call', () => {
  let steps: string[];
  let clock: ManualClock;

  beforeEach(() => {
    steps = [];
    clock = new ManualClock();
  });

  /** The services of a run that uses nothing but what the spec names. */
  function createServices(prepared: object = {}, dependencies: object = {}): InvocationServices {
    const services = {
      prepared: {
        id: 'r',
        options: { usesCache: true, backoff: { baseMs: 500, maxMs: 500, jitter: 0 } },
        ...prepared,
      },
      dependencies: { clock, random: () => 0, ...dependencies },
      journal: { isObserved: false, location: {} },
      history: undefined,
    };
    return services as unknown as InvocationServices;
  }

  /** A call whose task notes what is reported to it, unless the spec answers itself. */
  function createCall(task: Task, answers: Partial<CallOwner> = {}): Call {
    const owner: Partial<CallOwner> = {
      onAttempt: ({ attempts }) => void steps.push(`attempt ${attempts}`),
      onCall: () => undefined,
      onRetry: (_, error, due) => void steps.push(`retry at ${due - clock.now()}: ${error}`),
      onDue: () => void steps.push('due'),
      onSuccess: (_, { value }) => {
        steps.push(`success ${JSON.stringify(value)}`);
        return { ok: true };
      },
      onFailure: ({ attempts }, error) => {
        steps.push(`failure after ${attempts}: ${error}`);
        return { ok: false, error };
      },
      ...answers,
    };
    return {
      task,
      owner: owner as CallOwner,
      item: 0,
      slot: {
        settle: ({ ok }) => void steps.push(`settle ${ok}`),
        wait: () => void steps.push('wait'),
        resume: (attempt) => {
          steps.push('resume');
          attempt();
        },
      },
      progress: undefined,
      attempts: 0,
      round: undefined,
      inputs: {},
      heldBytes: 0,
      timeLimit: undefined,
      models: undefined,
    };
  }

  /** An attempt that the spec lets fail or be aborted. */
  class FakeAttempts {
    fail: (error: Error) => void = () => expect.fail('no attempt is at work');
    readonly make: MakeCall = (call, listener): AbortableCall => {
      call.attempts++;
      listener.onAttempt(call);
      void listener.onCall(call);
      this.fail = (error) => failCall(call, listener, error.message, error);
      return { abort: (error = new ToolError('stopped')) => this.fail(error) };
    };
  }

  /** Makes a call through one layer. */
  function makeThrough(layer: Layer, services: InvocationServices, task: Task) {
    const attempts = new FakeAttempts();
    const call = createCall(task);
    const made = layer(services, attempts.make, task)(call, call.owner);
    return { attempts, call, made };
  }

  const plain = { id: 'a', retries: 0, itemConditions: [], tool: { name: 't' } } as unknown as Task;
  const cached = { ...plain, cacheMs: 1000 };
  const retried = { ...plain, retries: 1 };
  const limited = { ...plain, timeoutMs: 2000 };
  const pooled = { ...plain, pool: 'erp' };

  it('are composed once for all tasks of a run that use the same ones', () => {
    const layers = new CallLayers(createServices());
    const tasks = [plain, cached, retried, limited, pooled];
    for (const task of tasks) expect(layers.of(task)).to.equal(layers.of({ ...task, id: 'other' }));
    expect(new Set(tasks.map((task) => layers.of(task))).size).to.equal(5);
  });

  it('are absent where neither the run nor the task uses them', () => {
    const next: MakeCall = () => NO_ABORT;
    for (const layer of [retry, pool, timeout, observe]) {
      expect(layer(createServices(), next, plain)).to.equal(next);
    }
  });

  it('settle an item that is reused before anything is rendered', () => {
    const call = createCall(plain, {
      reuseItem: ({ item }) => {
        steps.push(`reuse ${item}`);
        return NO_ABORT;
      },
      render: () => expect.fail('nothing is to be rendered'),
    });
    new CallLayers(createServices({ rerunSource: {} })).of(plain)(call, call.owner);
    expect(steps).to.deep.equal(['reuse 0']);
  });

  it('do not ask what may be reused in a run that repeats none', () => {
    const call = createCall(plain, {
      reuseItem: () => expect.fail('the run is no rerun'),
      render: () => 'no such key',
    });
    new CallLayers(createServices()).of(plain)(call, call.owner);
    expect(steps).to.deep.equal(['failure after 0: no such key', 'settle false']);
  });

  describe('retry (rule 13, D18)', () => {
    it('makes a further attempt after a delay, for which the slot is free, and reports the last failure', () => {
      const { attempts } = makeThrough(retry, createServices(), retried);
      attempts.fail(new Error('one'));
      clock.advance(60_000);
      attempts.fail(new Error('two'));
      expect(steps).to.deep.equal([
        'attempt 1',
        'retry at 500: one',
        'wait',
        'due',
        'resume',
        'attempt 2',
        'failure after 2: two',
        'settle false',
      ]);
    });

    it('waits for what is left of a delay that began in another process', () => {
      const call = createCall(retried);
      call.progress = { attempts: 1, due: clock.now() + 700, delayMs: 1000 };
      call.attempts = 1;
      retry(createServices(), new FakeAttempts().make, retried)(call, call.owner);
      clock.advance(699);
      expect(steps).to.deep.equal([]);
      clock.advance(1);
      expect(steps).to.deep.equal(['due', 'resume', 'attempt 2']);
    });

    it('makes no attempt that is aborted while it waits, and none after one that was aborted', () => {
      const waiting = makeThrough(retry, createServices(), retried);
      waiting.attempts.fail(new Error('one'));
      waiting.made.abort();
      clock.advance(60_000);
      const atWork = makeThrough(retry, createServices(), retried);
      atWork.made.abort();
      clock.advance(60_000);
      const failures = steps.filter((step) => step.startsWith('failure'));
      expect(failures).to.deep.equal(['failure after 1: stopped by force', 'failure after 1: stopped']);
    });

    it('settles once when a listener aborts the call while its retry is reported, and makes no further attempt', () => {
      const attempts = new FakeAttempts();
      const call = createCall(retried, { onRetry: () => made.abort() });
      const made = retry(createServices(), attempts.make, retried)(call, call.owner);
      attempts.fail(new Error('one'));
      clock.advance(60_000);
      expect(steps).to.deep.equal(['attempt 1', 'failure after 1: stopped by force', 'settle false']);
    });

    it('aborts an attempt that is aborted while it begins', () => {
      const attempts = new FakeAttempts();
      const call = createCall(retried, { onAttempt: ({ attempts: n }) => n === 2 && made.abort() });
      const made = retry(createServices(), attempts.make, retried)(call, call.owner);
      attempts.fail(new Error('one'));
      clock.advance(500);
      expect(steps.slice(-2)).to.deep.equal(['failure after 2: stopped', 'settle false']);
    });

    it('does not repeat an error that would come again', () => {
      const { attempts } = makeThrough(retry, createServices(), retried);
      attempts.fail(ToolError.nonRetryable('never'));
      expect(steps.slice(1)).to.deep.equal(['failure after 1: never', 'settle false']);
    });
  });

  describe('timeout (D19)', () => {
    it('aborts an attempt when its time is over', () => {
      makeThrough(timeout, createServices(), limited);
      clock.advance(1999);
      expect(steps).to.deep.equal(['attempt 1']);
      clock.advance(1);
      expect(steps.slice(1)).to.deep.equal(['failure after 1: timed out after 2 s', 'settle false']);
    });

    it('counts no time for which the attempt has paused its limit, and none after its end', () => {
      const { attempts, call } = makeThrough(timeout, createServices(), limited);
      const resume = call.timeLimit?.pause();
      clock.advance(5000);
      resume?.();
      clock.advance(1999);
      attempts.fail(new Error('late'));
      clock.advance(60_000);
      expect(steps.slice(1)).to.deep.equal(['failure after 1: late', 'settle false']);
    });
  });

  it('observe an attempt from its beginning to its end', () => {
    const onAttempt = ({ taskId, tool, item, attempt }: Record<string, unknown>) => {
      steps.push(`begin ${String(taskId)} ${String(tool)} ${String(item)} ${String(attempt)}`);
      return (error?: string) => void steps.push(`end ${error}`);
    };
    const { attempts } = makeThrough(observe, createServices({}, { onAttempt }), plain);
    attempts.fail(new Error('no'));
    const [, ...observed] = steps;
    expect(observed).to.deep.equal(['begin a t 0 1', 'end no', 'failure after 1: no', 'settle false']);
  });

  it('pass on whatever a layer inside of them reports', () => {
    const heard: string[] = [];
    const call = createCall({ ...limited, retries: 1 });
    const listener = new Proxy({} as CallListener, { get: (_, name) => () => void heard.push(String(name)) });
    const reportAll: MakeCall = (of, inner) => {
      void inner.onCall(of);
      inner.onDue(of);
      inner.onRetry(of, 'e', 0);
      inner.onCacheHit(of, { output: 1, writes: [], sizeBytes: 0 });
      inner.onSuccess(of, { value: 1, writes: [], sizeBytes: 0, hasFiles: false });
      return NO_ABORT;
    };
    const services = createServices({}, { onAttempt: () => () => undefined });
    const layered = [retry, timeout, observe].reduceRight(
      (next, layer) => layer(services, next, call.task),
      reportAll,
    );
    layered(call, listener);
    expect(heard).to.deep.equal(['onCall', 'onDue', 'onRetry', 'onCacheHit', 'onSuccess']);
  });
});
