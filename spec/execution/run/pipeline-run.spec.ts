import { expect } from 'chai';
import fc from 'fast-check';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import { checkDefinition } from '../../../lib/pipelines/check.js';
import { Catalog } from '../../../lib/tools/catalog.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { startRun } from '../../support/runs/start-run.js';
import { cases } from '../../support/measuring/cases.js';

describe('PipelineRun', () => {
  it('returns outputs in declaration order, whatever task settles first', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: b, tool: controlled}, {id: a, tool: controlled}', {
      tools: [controlled.tool],
    });
    await controlled.returns(1, controlled.calls[1]);
    await controlled.returns(2, controlled.calls[0]);
    expect(JSON.stringify(run.record().result?.outputs)).to.equal('{"b":2,"a":1}');
  });

  it('reports the first failure in time, and all failures (D16)', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(
      '{id: a, tool: controlled}, {id: b, tool: controlled}, {id: c, tool: controlled, await: [a, b]}',
      { tools: [controlled.tool] },
    );
    await controlled.rejects(new Error('b broke'), controlled.calls[1]);
    await controlled.rejects(new Error('a broke'), controlled.calls[0]);
    expect(run.record()).to.deep.include({
      status: 'failed',
      error: 'b broke',
      result: null,
      failures: [
        { task_id: 'b', error: 'b broke', attempts: 1 },
        { task_id: 'a', error: 'a broke', attempts: 1 },
      ],
    });
    expect(controlled.order).to.deep.equal(['a', 'b']);
  });

  it('names the failed item, and lets the others in flight finish (D17)', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(
      '{id: l, tool: transform, inputs: {input: null, expression: "[1..5]"}}, {id: f, tool: controlled, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}',
      { tools: [controlled.tool], options: { fan_out_concurrency: 2 } },
    );
    await run.advance(0);
    await controlled.rejects(new Error('bad item'), controlled.calls[1]);
    await controlled.returns('fine', controlled.calls[0]);
    expect(controlled.order).to.deep.equal(['f[0]', 'f[1]']);
    expect(run.record().failures).to.deep.equal([{ task_id: 'f', error: 'bad item', attempts: 1, item: 1 }]);
    expect(run.record().progress).to.deep.include({ invocations: 3, waves_executed: 2 });
  });

  for (const [kind, value] of [
    ['a string', '"text"'],
    ['an object', '{"a": 1}'],
    ['null', 'null'],
    ['a number', '5'],
  ] as const) {
    it(`fails a fan-out over ${kind}, and names the kind (D6)`, async () => {
      const run = await startRun(
        `{id: l, tool: transform, inputs: {input: {v: ${value}}, expression: "v"}}, {id: f, tool: mock, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}}`,
      );
      await run.advance(0);
      expect(run.record().error).to.equal(`parallel_over must give a list, but gave ${kind}`);
    });
  }

  it('aborts the tools in flight when forced, and settles even if they ignore it (D21)', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled, retry: 3}', { tools: [controlled.tool] });
    const { signal } = controlled.last.context;
    await run.executor.cancel(run.runId, { force: true });
    expect(signal.aborted).to.equal(true);
    expect(run.record()).to.deep.include({ status: 'cancelled', settled: true });
    expect(run.clock.pending).to.equal(0);
  });

  it('settles a task once, even when its abort listener forces the run again', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
    controlled.last.context.signal.addEventListener('abort', () => {
      void run.executor.cancel(run.runId, { force: true });
    });
    await run.executor.cancel(run.runId, { force: true });
    expect(run.record()).to.deep.include({ status: 'cancelled', settled: true });
    expect(run.record().failures).to.have.length(1);
  });

  it('resumes 10,000 retries that wait at once', async () => {
    let attempts = 0;
    const flaky = defineTool({
      name: 'flaky',
      description: 'fails once for each item',
      inputs: { n: { description: 'item' } },
      run: async ({ n }, { attempt }) => {
        attempts++;
        if (attempt === 1) throw new Error('once');
        return n;
      },
    });
    const run = await startRun(
      '{id: l, tool: transform, inputs: {input: null, expression: "[1..10000]"}}, {id: f, tool: flaky, retry: 1, parallel_over: "{{l.output}}", inputs: {n: "{{item}}"}}',
      { tools: [flaky], options: { fan_out_concurrency: 64 } },
    );
    while (attempts < 10_000) await run.advance(0);
    expect(run.clock.pending).to.equal(10_000);
    run.clock.advance(500);
    while (!run.record().settled) await run.advance(0);
    expect(run.record().result?.outputs?.['f']).to.have.length(10_000);
    expect(run.record().progress.invocations).to.equal(10_001);
  });

  it('starts a task after all that it reads or awaits, and a wave after the one before', async () => {
    const edges = fc.array(fc.tuple(fc.nat(19), fc.nat(19), fc.boolean()), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 20 }), edges, async (size, pairs) => {
        const { log, upstream, waves } = await runGraph(size, pairs);
        for (const [id, needs] of upstream) {
          for (const need of needs)
            expect(log.indexOf(`end ${need}`)).to.be.below(log.indexOf(`start ${id}`));
        }
        for (const [index, wave] of waves.entries()) {
          const lastEnd = Math.max(...wave.map((id) => log.indexOf(`end ${id}`)));
          const starts = (waves[index + 1] ?? []).map((id) => log.indexOf(`start ${id}`));
          expect(lastEnd).to.be.below(Math.min(...starts));
        }
      }),
      cases(60),
    );
  });
});

/** Runs a random graph whose tools take several microtasks, and returns its events in order. */
async function runGraph(size: number, pairs: readonly (readonly [number, number, boolean])[]) {
  const log: string[] = [];
  const tool = defineTool({
    name: 'slow',
    description: 'takes some microtasks',
    inputs: {},
    openInputs: true,
    run: async (_, { task_id }) => {
      log.push(`start ${task_id}`);
      for (let count = 0; count < task_id.charCodeAt(1) % 5; count++) await Promise.resolve();
      log.push(`end ${task_id}`);
      return task_id;
    },
  });
  const upstream = new Map(Array.from({ length: size }, (_, i) => [`t${i}`, new Set<string>()]));
  const tasks = [...upstream.keys()].map((id) => ({
    id,
    tool: 'slow',
    inputs: {} as Record<string, string>,
    await: [] as string[],
  }));
  for (const [a, b, byAwait] of pairs) {
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    if (from === to || to >= size) continue;
    if (byAwait) tasks[to]?.await.push(`t${from}`);
    else Object.assign(tasks[to]?.inputs ?? {}, { [`from${from}`]: `{{t${from}.output}}` });
    upstream.get(`t${to}`)?.add(`t${from}`);
  }
  const check = checkDefinition({ id: 'p', goal: 'g', tasks }, { catalog: new Catalog([tool]) });
  if (!check.ok) throw new Error(check.problems.map(({ message }) => message).join());
  const executor = new LocalExecutor();
  await executor.getResult(await executor.submit({ pipeline: check.pipeline }));
  return { log, upstream, waves: check.pipeline.waves };
}
