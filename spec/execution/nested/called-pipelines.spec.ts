import { expect } from 'chai';
import { type TaskFailure, ToolError } from '../../../lib/common/errors.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import { fileAccess } from '../../../lib/tools/files/file-access.js';
import { defineTool, type PipelineCall } from '../../../lib/tools/tool.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { parsePlan } from '../../support/definitions/parse-plan.js';
import { settle } from '../../support/deferred.js';
import { MIB, PooledRuns } from '../memory/pooled-runs.js';
import { startRun } from '../../support/runs/start-run.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const VALID = '{id: x, goal: g, tasks: [{id: t, tool: mock}]}';

/** Returns the failure of a task with three retries that makes the call. */
async function getCallFailure(call: unknown, folder = process.cwd()): Promise<TaskFailure | undefined> {
  const calling = defineTool({
    name: 'calling',
    description: 'runs the pipeline of its input',
    inputs: {},
    run: (_, { runPipeline }) => runPipeline(call as PipelineCall),
  });
  const run = await startRun('{id: c, tool: calling, retry: 3}', {
    tools: [calling],
    executor: { files: fileAccess([folder]) },
  });
  await run.executor.getRun(run.runId).settled;
  return run.record().failures?.[0];
}

describe('CalledPipelines (D49)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  for (const [what, call, error] of [
    ['nothing', undefined, 'run_pipeline takes an object with "file" or "pipeline", not undefined'],
    ['a list', [], 'run_pipeline takes an object with "file" or "pipeline", not a list'],
    ['a number as file', { file: 5 }, '"file" must be the path of a pipeline, not a number'],
    ['an empty file name', { file: '' }, '"file" must be the path of a pipeline, not an empty string'],
    ['neither', { params: {} }, 'give exactly one of "file" and "pipeline": neither is given'],
    [
      'both',
      { file: 'x.yaml', pipeline: VALID },
      'give exactly one of "file" and "pipeline": both are given',
    ],
    ['null as inputs', { pipeline: VALID, inputs: null }, '"inputs" must be an object, not null'],
    ['text as inputs', { pipeline: VALID, inputs: 'str' }, '"inputs" must be an object, not a string'],
    ['a list as session', { pipeline: VALID, session: [1] }, '"session" must be an object, not a list'],
    ['a Map as params', { pipeline: VALID, params: new Map() }, '"params" must be an object, not a Map'],
  ] as const) {
    it(`rejects a call with ${what} without a retry`, async () => {
      expect(await getCallFailure(call)).to.deep.equal({ task_id: 'c', attempts: 1, error });
    });
  }

  it('rejects session values that JSON cannot hold', async () => {
    const failure = await getCallFailure({ pipeline: VALID, session: { k: () => 1 } });
    expect(failure).to.include({
      attempts: 1,
      error: 'pipeline "x": session holds a function, which JSON cannot hold',
    });
  });

  it('rejects a definition over 256 KiB, which would block the event loop', async () => {
    const fill = (length: number): string => `${VALID} #`.padEnd(length, 'x');
    folder.write('long.yaml', fill(2 ** 18 + 1));
    folder.write('fits.yaml', fill(2 ** 18));
    const long = {
      attempts: 1,
      error: '"long.yaml" has 257 KiB; a pipeline that a task runs may have 256 KiB',
    };
    expect(await getCallFailure({ file: 'long.yaml' }, folder.path)).to.include(long);
    expect(await getCallFailure({ file: 'fits.yaml' }, folder.path)).to.equal(undefined);
    const text = {
      attempts: 1,
      error: 'the pipeline has 257 KiB; a pipeline that a task runs may have 256 KiB',
    };
    expect(await getCallFailure({ pipeline: fill(2 ** 18 + 1) })).to.include(text);
    expect(await getCallFailure({ pipeline: fill(2 ** 18) })).to.equal(undefined);
  });
});

describe('a non-retryable error inside a nested run (D2)', () => {
  it('is not retried by the calling tasks', async () => {
    let calls = 0;
    const picky = defineTool({
      name: 'picky',
      description: 'fails once and for all',
      inputs: {},
      run: () => {
        calls++;
        throw new ToolError('never', { retryable: false });
      },
    });
    const inner = '{id: x, goal: g, tasks: [{id: t, tool: picky, retry: 2}]}';
    const outer = `{id: w, goal: g, tasks: [{id: u, tool: run_pipeline, retry: 2, inputs: {pipeline: ${inner}}}]}`;
    const run = await startRun(`{id: c, tool: run_pipeline, retry: 2, inputs: {pipeline: ${outer}}}`, {
      tools: [picky],
    });
    await run.executor.getRun(run.runId).settled;
    expect(run.record().error).to.equal('pipeline "w": task "u": pipeline "x": task "t": never');
    expect(calls).to.equal(1);
  });

  it('does not retry a nested run that stores a key of another sub-pipeline (D46, D55)', async () => {
    const store =
      '{id: x, goal: k, tasks: [{id: t, tool: store, inputs: {key: "{{pipeline.goal}}", value: 1}}]}';
    const plan = parsePlan(
      `plan: {id: p, sub_pipelines: [{id: one, stores: [other], pipeline: {id: o, goal: g, tasks: [
        {id: call, tool: run_pipeline, retry: 3, inputs: {pipeline: ${store}}}]}},
        {id: two, stores: [k], pipeline: {id: o, goal: g, tasks: [{id: t, tool: store, inputs: {key: k, value: 1}}]}}]}`,
    );
    const executor = new LocalExecutor();
    const runId = await executor.submitPlan({ plan });
    await executor.getRun(runId).settled;
    expect(executor.getRun(runId).failures).to.have.length(1);
    expect(executor.getRun(runId).failures[0]).to.include({ attempts: 1 });
  });

  it('counts the pipelines that it keeps for further calls, until the run has settled (D25)', async () => {
    const runs = new PooledRuns({ total: 64 * MIB });
    const texts = Array.from({ length: 4 }, (_, n) => {
      const tasks = Array.from({ length: 300 }, (__, t) => `{id: t${t}, tool: mock}`);
      return `{id: n${n}, goal: g, tasks: [{id: x, tool: fail}, ${tasks.join(', ')}]}`;
    });
    const calls = texts.map(
      (_, n) => `{id: c${n}, tool: run_pipeline, inputs: {pipeline: "{{pipeline.inputs.texts[${n}]}}"}}`,
    );
    const runId = await runs.submit(`${calls.join(', ')}, {id: last, tool: controlled}`, {
      inputs: { texts },
    });
    while (runs.registry.record(runId).failures.length < 4) await settle();
    const kept = runs.memory.usedBytes;
    const bytes = parsePipeline(texts[0] ?? '').sizeBytes;
    await runs.controlled.returns(null);
    expect(kept - runs.memory.usedBytes).to.be.above(4 * bytes);
  });
});
