import { expect } from 'chai';
import { defineTool } from '../../../lib/tools/tool.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { startRun } from '../../support/runs/start-run.js';

describe('Invocation', () => {
  it('publishes what the tool returns (rule 4)', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled, inputs: {x: 1}}', { tools: [controlled.tool] });
    expect(controlled.last.inputs).to.deep.equal({ x: 1 });
    await controlled.returns({ y: 2 });
    expect(run.record().result).to.deep.equal({
      outputs: { a: { y: 2 } },
      waves_executed: 1,
      tasks_executed: 1,
    });
  });

  it('passes run, task and attempt to the tool', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
    const { run_id, tenant_id, task_id, item_index, attempt } = controlled.last.context;
    expect({ run_id, tenant_id, task_id, item_index, attempt }).to.deep.equal({
      run_id: run.runId,
      tenant_id: 'default',
      task_id: 'a',
      item_index: null,
      attempt: 1,
    });
  });

  it('lets a tool destructure its context', async () => {
    const tool = defineTool({
      name: 'apart',
      description: 'takes its context apart',
      inputs: {},
      run: async (_, { log, blackboard: { write, readMany }, signal }) => {
        log('here');
        write('k', 1);
        return { aborted: signal.aborted, stored: { ...(await readMany(['k'])) } };
      },
    });
    const run = await startRun('{id: a, tool: apart}', { tools: [tool] });
    expect(run.record().result?.outputs).to.deep.equal({ a: { aborted: false, stored: {} } });
    expect(run.events.some(({ kind }) => kind === 'log')).to.equal(true);
  });

  describe('retries (rule 13, D2, D18)', () => {
    it('makes as many retries as the task declares, each after its delay', async () => {
      const controlled = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled, retry: 2}', { tools: [controlled.tool] });
      await controlled.rejects(new Error('one'));
      await run.advance(499);
      expect(controlled.calls).to.have.length(1);
      await run.advance(1);
      expect(controlled.calls).to.have.length(2);
      await controlled.rejects(new Error('two'));
      await run.advance(999);
      expect(controlled.calls).to.have.length(2);
      await run.advance(1);
      expect(controlled.last.context.attempt).to.equal(3);
      await controlled.rejects(new Error('three'));
      expect(run.record().failures).to.deep.equal([{ task_id: 'a', error: 'three', attempts: 3 }]);
      expect(run.clock.pending).to.equal(0);
    });

    it('counts one invocation, whatever the number of attempts (D20)', async () => {
      const controlled = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled, retry: 1}', { tools: [controlled.tool] });
      await controlled.rejects(new Error('one'));
      await run.advance(500);
      await controlled.returns('ok');
      expect(run.record().result).to.deep.include({ outputs: { a: 'ok' }, tasks_executed: 1 });
    });

    it('uses the delays of the task, and those of the options for what it does not say (D66)', async () => {
      const controlled = new ControlledTool();
      const run = await startRun(
        '{id: a, tool: controlled, retry: 3, retry_delay: 10, max_retry_delay: 15}',
        {
          tools: [controlled.tool],
          options: { retry_base_delay: 0.001, max_retry_delay: 0.001, backoff_jitter: 0.2 },
          executor: { random: () => 0 },
        },
      );
      for (const delayMs of [8000, 12_000, 12_000]) {
        const calls = controlled.calls.length;
        await controlled.rejects(new Error('again'));
        await run.advance(delayMs - 1);
        expect(controlled.calls).to.have.length(calls);
        await run.advance(1);
        expect(controlled.calls).to.have.length(calls + 1);
      }
    });

    it('does not retry a non-retryable error of another copy of the package', async () => {
      const controlled = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled, retry: 5}', { tools: [controlled.tool] });
      await controlled.rejects(Object.assign(new Error('gone'), { name: 'ToolError', retryable: false }));
      expect(run.record().status).to.equal('failed');
    });
  });

  describe('timeouts (rule 13, D19)', () => {
    it('ends an attempt that exceeds its timeout, and aborts its signal', async () => {
      const controlled = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled}', {
        tools: [controlled.tool],
        options: { per_task_timeout: 2 },
      });
      const { signal } = controlled.last.context;
      await run.advance(1999);
      expect(signal.aborted).to.equal(false);
      await run.advance(1);
      expect(signal.aborted).to.equal(true);
      expect(run.record()).to.deep.include({ status: 'failed', error: 'timed out after 2 s' });
    });

    it('counts no time for which the tool waits for its turn', async () => {
      const controlled = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled, timeout: 1}', { tools: [controlled.tool] });
      const { signal, pauseTimeout } = controlled.last.context;
      await run.advance(400);
      const resume = pauseTimeout();
      const resumeAgain = pauseTimeout();
      await run.advance(60_000);
      resume();
      resume();
      await run.advance(60_000);
      resumeAgain();
      await run.advance(599);
      expect(signal.aborted).to.equal(false);
      await run.advance(1);
      expect(run.record()).to.deep.include({ status: 'failed', error: 'timed out after 1 s' });
      pauseTimeout()();
      expect(run.clock.pending).to.equal(0);
    });

    it('lets a tool pause the timeout that it does not have', async () => {
      const controlled = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
      controlled.last.context.pauseTimeout()();
      await controlled.returns('done');
      expect(run.record().status).to.equal('succeeded');
    });

    it('applies to each attempt, and retries a timed-out attempt', async () => {
      const controlled = new ControlledTool();
      const tasks = '{id: a, tool: controlled, retry: 1, timeout: 1}';
      const run = await startRun(tasks, { tools: [controlled.tool], options: { per_task_timeout: 60 } });
      await run.advance(1000);
      await run.advance(500);
      expect(controlled.calls).to.have.length(2);
      await run.advance(999);
      await controlled.returns('in time');
      expect(run.record().result?.outputs).to.deep.equal({ a: 'in time' });
      expect(run.clock.pending).to.equal(0);
    });

    it('is not paused by the tool of an earlier attempt', async () => {
      const controlled = new ControlledTool();
      const tasks = '{id: a, tool: controlled, retry: 1, timeout: 1}';
      const run = await startRun(tasks, { tools: [controlled.tool] });
      const { pauseTimeout } = controlled.last.context;
      await run.advance(1500);
      pauseTimeout();
      await run.advance(1000);
      expect(run.record()).to.deep.include({ status: 'failed', error: 'timed out after 1 s' });
    });

    it('ignores an attempt that settles after its timeout', async () => {
      const controlled = new ControlledTool();
      const tasks = '{id: a, tool: controlled, retry: 1, timeout: 1}';
      const run = await startRun(tasks, { tools: [controlled.tool] });
      const late = controlled.last;
      await run.advance(1000);
      await controlled.returns('late', late);
      expect(run.record().status).to.equal('running');
      await run.advance(500);
      await controlled.rejects(new Error('later still'), late);
      await controlled.returns('second');
      expect(run.record().result?.outputs).to.deep.equal({ a: 'second' });
    });
  });

  it('aborts a timed-out tool before another item gets its slot (D19)', async () => {
    const order: string[] = [];
    const polite = defineTool({
      name: 'polite',
      description: 'stops when its signal aborts',
      inputs: { x: { type: 'integer', required: true, description: 'its number' } },
      run: ({ x }, { signal }) => {
        order.push(`start ${x}`);
        signal.addEventListener('abort', () => order.push(`stop ${x}`));
        return new Promise(() => {});
      },
    });
    const run = await startRun(
      '{id: l, tool: transform, inputs: {input: null, expression: "[1, 2]"}}, {id: f, tool: polite, retry: 1, timeout: 1, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}',
      { tools: [polite], options: { fan_out_concurrency: 1, retry_base_delay: 60 } },
    );
    await run.advance(0);
    await run.advance(1000);
    expect(order).to.deep.equal(['start 1', 'stop 1', 'start 2']);
  });

  describe('misbehaving tools', () => {
    const cases: [string, () => unknown, string][] = [
      ['throws a string', () => throwValue('as text'), 'as text'],
      ['throws nothing at all', () => throwValue(undefined), 'failed without a message'],
      ['throws an object', () => throwValue({ code: 7 }), '{"code":7}'],
      ['throws a cycle', () => throwValue(createCycle()), 'failed with a value that cannot be read'],
      [
        'throws an error that cannot be read',
        () => throwValue(createUnreadableError()),
        'failed with a value that cannot be read',
      ],
      [
        'rejects with an error that cannot be read',
        () => Promise.reject(createUnreadableError()),
        'failed with a value that cannot be read',
      ],
      [
        'throws a revoked proxy',
        () => throwValue(createRevokedProxy()),
        'failed with a value that cannot be read',
      ],
      ['returns a revoked proxy', async () => [createRevokedProxy()], 'the output could not be read: '],
      [
        'returns what throws something without a prototype',
        () => ({
          get x() {
            return throwValue(Object.create(null));
          },
        }),
        'the output could not be read: {}',
      ],
      [
        'throws an error whose message is no text',
        () => throwValue(Object.assign(new Error('x'), { message: { a: 1 } })),
        '{"a":1}',
      ],
      [
        'returns a promise that lies about its class',
        () =>
          Object.defineProperty(Promise.resolve(1), 'constructor', {
            get: () => throwValue(new Error('liar')),
          }),
        'liar',
      ],
      ['throws an error without a message', () => throwValue(new RangeError()), 'RangeError'],
      ['rejects with undefined', () => Promise.reject(undefined), 'failed without a message'],
      ['throws a symbol', () => throwValue(Symbol('odd')), 'failed with a symbol'],
      [
        'throws an error with a long message',
        () => throwValue(new Error('x'.repeat(1_000_000))),
        `${'x'.repeat(2000)} … (1000000 characters) … x`,
      ],
      ['returns a cycle', () => createCycle(), 'the output has a cycle, or more than 500 levels'],
      ['returns a function', () => [() => 1], 'the output holds a function, which JSON cannot hold (at [0])'],
      [
        'returns too much',
        () => 'x'.repeat(11 * 2 ** 20),
        'the output is larger than the limit of 10 MiB: return less, or a file',
      ],
      [
        'returns an object whose getter throws',
        () => Object.defineProperty({}, 'x', { enumerable: true, get: () => throwValue(new Error('no')) }),
        'the output could not be read: no',
      ],
      [
        'returns a thenable that throws',
        () => ({ then: () => throwValue(new Error('not then')) }),
        'not then',
      ],
    ];
    for (const [title, behave, error] of cases) {
      it(`fails the task when it ${title} (D24)`, async () => {
        const tool = defineTool({ name: 'bad', description: 'is bad', inputs: {}, run: behave });
        const run = await startRun('{id: a, tool: bad}', { tools: [tool] });
        expect(run.record().error).to.satisfy((message: string) => message.startsWith(error));
        expect(run.record().status).to.equal('failed');
      });
    }

    it('drops and logs what a tool writes after its attempt is over', async () => {
      const controlled = new ControlledTool();
      const run = await startRun(
        '{id: l, tool: transform, inputs: {input: null, expression: "[1, 2]"}}, {id: s, tool: controlled, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}, {id: read, tool: mock, await: [s], inputs: {k: "{{session.k}}"}}',
        { tools: [controlled.tool] },
      );
      await run.advance(0);
      const [first, second] = controlled.calls;
      first?.context.blackboard.write('k', 'early', true);
      await controlled.returns(1, first);
      first?.context.blackboard.write('k', 'late', true);
      await controlled.returns(2, second);
      expect((run.record().result?.outputs?.['read'] as { inputs: unknown }).inputs).to.deep.equal({
        k: ['early'],
      });
      expect(run.events.some((event) => event.kind === 'log' && event.message.includes('dropped'))).to.equal(
        true,
      );
    });

    it('freezes the inputs of a tool', async () => {
      const mutator = defineTool({
        name: 'mutator',
        description: 'changes its inputs',
        inputs: { list: { type: 'array', required: true, description: 'what to change' } },
        run: ({ list }, { attempt }) => {
          try {
            list.push(attempt);
          } catch (error) {
            return (error as Error).name;
          }
          return list;
        },
      });
      const tasks =
        '{id: a, tool: mutator, inputs: {list: "{{pipeline.inputs.list}}"}}, {id: b, tool: mutator, inputs: {list: ["{{session.s}}"]}}, {id: c, tool: mutator, inputs: {list: [1]}}';
      const inputs = { list: [1] };
      const run = await startRun(tasks, { tools: [mutator], inputs, session: { s: 1 } });
      expect(run.record().result?.outputs).to.deep.equal({ a: 'TypeError', b: 'TypeError', c: 'TypeError' });
      expect(Object.isFrozen(inputs.list)).to.equal(false);
    });

    it('ignores a tool that continues after the run has settled', async () => {
      const controlled = new ControlledTool();
      const run = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
      const { context } = controlled.last;
      await controlled.returns('done');
      context.blackboard.write('late', 1);
      context.log('still here');
      expect(run.record().result?.outputs).to.deep.equal({ a: 'done' });
    });
  });

  it('neither calls the tool nor counts an invocation when the inputs cannot be resolved (D13, D20)', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(
      '{id: a, tool: mock}, {id: b, tool: controlled, retry: 3, inputs: {x: "{{a.output.nothing}}"}}',
      { tools: [controlled.tool] },
    );
    const { failures, progress } = run.record();
    expect(failures).to.have.length(1);
    expect(failures[0]).to.deep.include({ task_id: 'b', attempts: 0 });
    expect(failures[0]?.error).to.include('a.output.nothing');
    expect(progress.invocations).to.equal(1);
    expect(controlled.calls).to.deep.equal([]);
  });
});

function throwValue(value: unknown): never {
  throw value;
}

function createCycle(): unknown {
  const object: Record<string, unknown> = {};
  object['self'] = object;
  return object;
}

function createUnreadableError(): Error {
  return Object.defineProperty(new Error('x'), 'message', { get: () => throwValue(new Error('no')) });
}

function createRevokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
