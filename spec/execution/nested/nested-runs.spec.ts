import { expect } from 'chai';
import type { Json } from '../../../lib/common/json/json.js';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import { fileAccess } from '../../../lib/tools/files/file-access.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import type { Plan } from '../../../lib/plans/plan.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { deferred, settle } from '../../support/deferred.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { catchRejection, collectUnhandledRejections } from '../../support/rejection.js';
import { type TestRun, startRun, type TestRunOptions } from '../../support/runs/start-run.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

/** Declares a task that runs a pipeline. */
function callTask(pipeline: string, more = ''): string {
  return `{id: call, tool: run_pipeline, inputs: {pipeline: ${pipeline}}${more}}`;
}

interface CallOutput {
  readonly outputs: Record<string, { readonly inputs: Json }>;
  readonly inputs: Json;
  readonly tasks_executed: number;
}

/** Returns the output of the calling task, or of another one. */
async function readOutput({ executor, runId }: TestRun, task = 'call'): Promise<CallOutput> {
  return (await executor.getResult(runId)).outputs[task] as unknown as CallOutput;
}

const readFailure = async ({ executor, runId }: TestRun): Promise<string> =>
  ((await catchRejection(executor.getResult(runId))) as { error: string }).error;

describe('NestedRuns (D49)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());
  const files = fileAccess([folder.path]);
  const start = (tasks: string, options: TestRunOptions = {}): Promise<TestRun> =>
    startRun(tasks, { ...options, executor: { files, ...options.executor } });

  it('runs with its own params and inputs, and returns outputs, waves and invocations', async () => {
    const run = await start(
      `{id: call, tool: run_pipeline, inputs: {params: {n: 2}, inputs: {b: given}, pipeline: {
        id: x, goal: g, params: {n: {type: integer}}, inputs: {a: own, b: own}, tasks: [
          {id: t, tool: mock, inputs: {n: "{{params.n}}", a: "{{pipeline.inputs.a}}", b: "{{pipeline.inputs.b}}"}},
          {id: u, tool: sleep, inputs: {seconds: 0, value: "{{t.output.inputs}}"}}]}}}`,
    );
    await run.advance(0);
    const result = await run.executor.getResult(run.runId);
    expect(result.outputs['call']).to.deep.include({ waves_executed: 2, tasks_executed: 2 });
    expect((await readOutput(run)).outputs['u']).to.deep.equal({ n: 2, a: 'own', b: 'given' });
    expect(result).to.include({ waves_executed: 1, tasks_executed: 1 });
  });

  it('reads a file in the allowed folders only (D51), and a definition from a template', async () => {
    folder.write('x.yaml', 'pipeline: {id: x, goal: g, tasks: [{id: t, tool: mock}]}');
    const run = await start('{id: call, tool: run_pipeline, inputs: {file: x.yaml}}');
    await run.executor.getRun(run.runId).settled;
    expect(Object.keys((await readOutput(run)).outputs)).to.deep.equal(['t']);
    const outside = await start('{id: call, tool: run_pipeline, inputs: {file: /etc/passwd}, retry: 3}');
    expect(await readFailure(outside)).to.contain('outside the allowed folders');
    const text = await start(
      `{id: make, tool: sleep, inputs: {seconds: 0, value: '{id: x, goal: g, tasks: [{id: t, tool: mock}]}'}}, ${callTask('"{{make.output}}"')}`,
    );
    await text.advance(0);
    expect((await readOutput(text)).tasks_executed).to.equal(1);
  });

  it('fails without a retry when the definition, the call or a param is invalid, and names it', async () => {
    folder.write('bad.yaml', 'id: x\ngoal: g\ntasks:\n  - {id: t, tool: moc}\n');
    const failures = [
      '{id: call, tool: run_pipeline, inputs: {file: bad.yaml}, retry: 3}',
      '{id: call, tool: run_pipeline, inputs: {pipeline: "{{pipeline.goal}}"}, retry: 3}',
      callTask('{id: x, goal: g, params: {n: {type: integer}}, tasks: [{id: t, tool: mock}]}', ', retry: 3'),
    ].map(async (task) => {
      const run = await start(task);
      await run.executor.getRun(run.runId).settled;
      expect(run.record().failures?.[0]?.attempts).to.equal(1);
      return await readFailure(run);
    });
    const [bad, text, params] = await Promise.all(failures);
    expect(bad).to.match(
      /^"bad.yaml" is not valid: line 4, column \d+: there is no tool "moc" \(did you mean "mock"\?\)$/,
    );
    expect(text).to.contain('the pipeline is not valid');
    expect(params).to.match(/^pipeline "x": .*"?n"?/);
  });

  it('fails as "pipeline, task: error", and runs again on each attempt', async () => {
    const tool = new ControlledTool();
    const run = await start(
      callTask(
        '{id: x, goal: g, tasks: [{id: s, tool: store, inputs: {key: k, value: 1, append: true}}, {id: t, tool: controlled, await: [s]}]}',
        ', retry: 1',
      ) + ', {id: read, tool: mock, await: [call], inputs: {k: "{{session.k}}"}}',
      { tools: [tool.tool], executor: { files } },
    );
    await tool.rejects(new Error('boom'));
    expect(run.events.find(({ kind }) => kind === 'retry')).to.include({
      error: 'pipeline "x": task "t": boom',
    });
    await run.advance(500);
    await tool.returns(1);
    expect((await readOutput(run, 'read')).inputs).to.deep.equal({ k: [1] });
    const failed = await start(
      callTask('{id: x, goal: g, tasks: [{id: t, tool: fail, inputs: {message: boom}}]}'),
    );
    expect(await readFailure(failed)).to.equal('pipeline "x": task "t": boom');
  });

  it("reads the session of the calling run, or the keys in `reads`, overridden by the call's session", async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'stored', 1, false);
    await blackboard.write('default', 'other', 1, false);
    const see =
      '{id: t, tool: mock, inputs: {a: "{{session.stored ?? null}}", b: "{{session.other ?? null}}", c: "{{session.given ?? null}}", d: "{{session.own ?? null}}"}}';
    const call = (reads: string): string =>
      `{id: call, tool: run_pipeline, inputs: {session: {own: 4, given: 5}, pipeline: {id: x, goal: g, ${reads} tasks: [${see}]}}}`;
    const options = { session: { given: 3 }, executor: { files, blackboard } };
    const all = await readOutput(await start(call(''), options));
    expect(all.outputs['t']?.inputs).to.deep.equal({ a: 1, b: 1, c: 5, d: 4 });
    const some = await readOutput(await start(call('reads: [stored],'), options));
    expect(some.outputs['t']?.inputs).to.deep.equal({ a: 1, b: null, c: 5, d: 4 });
  });

  it('publishes what it stored, in item order with appends, when the calling task succeeds (D23)', async () => {
    const tool = new ControlledTool();
    const run = await start(
      `{id: call, tool: run_pipeline, parallel_over: "{{pipeline.inputs.items}}", inputs: {session: {n: "{{item}}"}, pipeline: {id: x, goal: g, tasks: [
        {id: h, tool: controlled}, {id: s, tool: store, await: [h], inputs: {key: k, value: "{{session.n}}", append: true}}]}}},
       {id: read, tool: mock, await: [call], inputs: {k: "{{session.k}}"}}`,
      { tools: [tool.tool], inputs: { items: [0, 1] }, session: { k: ['first'] }, executor: { files } },
    );
    const [first, second] = tool.calls;
    await tool.returns(1, second);
    expect(await first?.context.blackboard.getAll()).to.deep.include({ k: ['first'] });
    await tool.returns(1, first);
    expect((await readOutput(run, 'read')).inputs).to.deep.equal({ k: ['first', 0, 1] });
  });

  it('emits its events into the stream of the run, with the outer tasks and without run events', async () => {
    const inner = '{id: y, goal: g, tasks: [{id: u, tool: mock}]}';
    const run = await start(
      `{id: call, tool: run_pipeline, parallel_over: "{{pipeline.inputs.items}}", inputs: {inputs: {i: "{{item}}"}, pipeline: {id: x, goal: g, tasks: [${callTask(inner)}]}}}`,
      { inputs: { items: [1] } },
    );
    await run.executor.getRun(run.runId).settled;
    const starts = run.events.flatMap((event) =>
      event.kind === 'start' ? [[event.task_id, event.within]] : [],
    );
    expect(starts).to.deep.equal([
      ['call', undefined],
      ['call', ['call[0]']],
      ['u', ['call[0]', 'call']],
    ]);
    expect(run.events.filter(({ kind }) => kind === 'run')).to.have.length(3);
    expect(new Set(run.events.map(({ run_id }) => run_id))).to.deep.equal(new Set([run.runId]));
  });

  it('stops nesting at the eighth level without a retry, also for a file that runs itself', async () => {
    let calls = 0;
    const counting = defineTool({ name: 'counting', description: 'counts', inputs: {}, run: () => ++calls });
    for (let level = 1; level <= 12; level++) {
      const next = `{id: call, tool: run_pipeline, inputs: {file: l${level + 1}.yaml}, await: [c], retry: 2}`;
      folder.write(`l${level}.yaml`, `{id: x, goal: g, tasks: [{id: c, tool: counting}, ${next}]}`);
    }
    folder.write(
      'self.yaml',
      '{id: x, goal: g, tasks: [{id: t, tool: run_pipeline, inputs: {file: self.yaml}, retry: 2}]}',
    );
    const run = await start('{id: call, tool: run_pipeline, inputs: {file: l1.yaml}, retry: 2}', {
      tools: [counting],
    });
    await run.executor.getRun(run.runId).settled;
    expect(await readFailure(run)).to.contain(
      'spec > l1.yaml > l2.yaml > l3.yaml > l4.yaml > l5.yaml > l6.yaml > l7.yaml > l8.yaml > l9.yaml',
    );
    expect(calls).to.equal(8);
    const self = await start('{id: call, tool: run_pipeline, inputs: {file: self.yaml}}');
    await self.executor.getRun(self.runId).settled;
    expect(await readFailure(self)).to.match(/8 deep.*self\.yaml > self\.yaml/);
  });

  describe('when the calling run is cancelled (rule 12)', () => {
    const two = '{id: x, goal: g, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}';

    it('finishes its current wave and starts no further one', async () => {
      const tool = new ControlledTool();
      const run = await start(callTask(callingPipeline(two), ', retry: 3'), { tools: [tool.tool] });
      await run.executor.cancel(run.runId);
      expect(tool.last.context.signal.aborted).to.equal(false);
      await tool.returns(1);
      await run.executor.getRun(run.runId).settled;
      expect(tool.calls).to.have.length(1);
      expect(run.record()).to.include({ status: 'cancelled' });
      expect(run.record().failures?.map(({ error }) => error)).to.deep.equal(['the pipeline was cancelled']);
      expect(run.clock.pending).to.equal(0);
    });

    for (const [how, end] of [
      ['force', (run: TestRun) => run.executor.cancel(run.runId, { force: true })],
      ['stopping the run', async (run: TestRun) => run.executor.getRun(run.runId).stop()],
      ['a timeout', (run: TestRun) => run.advance(1000)],
    ] as const) {
      it(`aborts its tools on ${how}`, async () => {
        const tool = new ControlledTool();
        const run = await start(callTask(callingPipeline(two), ', timeout: 1'), { tools: [tool.tool] });
        await end(run);
        await settle();
        expect(tool.last.context.signal.aborted).to.equal(true);
        await tool.returns(1);
        expect(tool.calls).to.have.length(1);
        expect(run.clock.pending).to.equal(0);
      });
    }

    it('ends with a tool that did not await it', async () => {
      const tool = new ControlledTool();
      const hasty = defineTool({
        name: 'hasty',
        description: 'does not wait',
        inputs: {},
        run: (_, { runPipeline }) => {
          void runPipeline({ pipeline: two });
          return new Promise((resolve) => setImmediate(resolve));
        },
      });
      const run = await start('{id: t, tool: hasty}', { tools: [tool.tool, hasty] });
      await run.executor.getResult(run.runId);
      await settle();
      for (const { context } of tool.calls) expect(context.signal.aborted).to.equal(true);
      expect(tool.calls.length).to.be.at.most(1);
    });
  });

  describe('while its file is being read', () => {
    const startCall = async (
      tool: ControlledTool,
      read: Promise<{ path: string; bytes: Buffer }>,
    ): Promise<TestRun> =>
      start('{id: call, tool: run_pipeline, inputs: {file: x.yaml}, timeout: 1}', {
        tools: [tool.tool],
        executor: { files: { read: () => read } },
      });
    const bytes = Buffer.from('{id: x, goal: g, tasks: [{id: a, tool: controlled}]}');

    for (const [how, end, error] of [
      [
        'the run is cancelled',
        (run: TestRun) => run.executor.cancel(run.runId),
        'the pipeline was cancelled',
      ],
      ['its attempt times out', (run: TestRun) => run.advance(1000), 'timed out after 1 s'],
    ] as const) {
      it(`does not begin when ${how}`, async () => {
        const [tool, read] = [new ControlledTool(), deferred<{ path: string; bytes: Buffer }>()];
        const run = await startCall(tool, read.promise);
        await end(run);
        read.resolve({ path: 'x.yaml', bytes });
        await settle();
        expect(tool.calls).to.deep.equal([]);
        expect(run.executor.getRun(run.runId).failures.map((failure) => failure.error)).to.deep.equal([
          error,
        ]);
      });
    }
  });

  it('uses the options of the calling run', async () => {
    const run = await start(callTask('{id: x, goal: g, tasks: [{id: t, tool: fail, retry: 1}]}'), {
      options: { retry_base_delay: 3 },
    });
    expect(run.events.find(({ kind }) => kind === 'retry')).to.deep.include({
      within: ['call'],
      delay_ms: 3000,
    });
  });

  it('checks the pipeline against the inputs of each call', async () => {
    folder.write(
      'k.yaml',
      '{id: x, goal: g, tasks: [{id: t, tool: mock, inputs: {k: "{{pipeline.inputs.k}}"}}]}',
    );
    const twice = defineTool({
      name: 'twice',
      description: 'calls with and without the input',
      inputs: {},
      run: async (_, { runPipeline }) => {
        await runPipeline({ file: 'k.yaml', inputs: { k: 1 } });
        await runPipeline({ file: 'k.yaml' });
      },
    });
    const run = await start('{id: t, tool: twice}', { tools: [twice] });
    await run.executor.getRun(run.runId).settled;
    expect(await readFailure(run)).to.contain('"k.yaml" is not valid');
  });

  it('does not end the process when it fails and its tool did not await it', async () => {
    const hasty = defineTool({
      name: 'hasty',
      description: 'does not wait',
      inputs: {},
      run: (_, { runPipeline }) => void runPipeline({}),
    });
    const unhandled = await collectUnhandledRejections(async () => {
      const run = await start('{id: t, tool: hasty}', { tools: [hasty] });
      await run.executor.getResult(run.runId);
      await settle();
    });
    expect(unhandled).to.deep.equal([]);
  });

  describe('in a plan', () => {
    const planWith = (tools: readonly Tool[], stores: string, pipeline: string): Plan =>
      parsePlan(planText([subPipelineText('one', callTask(pipeline), `stores: [${stores}], reads: []`)]), {
        tools,
      });

    it('may store only the keys that the plan declares (D46)', async () => {
      const executor = new LocalExecutor();
      const store = '{id: x, goal: g, tasks: [{id: t, tool: store, inputs: {key: k, value: 1}}]}';
      const good = await executor.submitPlan({ plan: planWith([], 'k', store) });
      expect((await executor.getPlanResult(good)).blackboard).to.deep.equal({ k: 1 });
      const writing = defineTool({
        name: 'writing',
        description: 'writes k, which only the run shows',
        inputs: {},
        run: (_, { blackboard }) => blackboard.write('k', 1),
      });
      const any = '{id: x, goal: g, tasks: [{id: t, tool: writing}]}';
      const bad = await executor.submitPlan({ plan: planWith([writing], 'other', any) });
      const error = (await catchRejection(executor.getPlanResult(bad))) as Error;
      expect(error.message).to.contain('pipeline "x": task "t": "k" was not written');
    });
  });

  it('counts its outputs once against the memory of the run, without failed attempts', async () => {
    const tool = new ControlledTool();
    const run = await start(
      callTask(
        '{id: x, goal: g, tasks: [{id: a, tool: sleep, inputs: {seconds: 0, value: "{{session.big}}"}}, {id: b, tool: controlled, await: [a]}]}',
        ', retry: 1',
      ),
      {
        tools: [tool.tool],
        session: { big: 'x'.repeat(200_000) },
        executor: { files, runOutputLimitBytes: 300_000 },
      },
    );
    await run.advance(0);
    await tool.rejects(new Error('boom'));
    await run.advance(500);
    await run.advance(0);
    await tool.returns(1);
    expect((await readOutput(run)).outputs['b']).to.equal(1);
  });
});

/** Declares a pipeline whose only task runs another one. */
function callingPipeline(pipeline: string): string {
  return `{id: w, goal: g, tasks: [${callTask(pipeline)}]}`;
}
