import { expect } from 'chai';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { settle } from '../../support/deferred.js';
import { MIB, PooledRuns } from './pooled-runs.js';

const NO_MEMORY = /^the server has no memory left for this run: it takes /;

/** Declares `count` tasks that start together. */
function wave(count: number, task: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => task(index)).join(', ');
}

/** Remembers how much memory was taken at most. */
class PeakPool extends MemoryPool {
  peakBytes = 0;

  override reserve(...args: Parameters<MemoryPool['reserve']>): void {
    super.reserve(...args);
    this.peakBytes = Math.max(this.peakBytes, this.usedBytes);
  }
}

describe('The memory of runs at work (D25, Limits)', () => {
  it('counts texts that were rendered for tasks in flight, and fails the run that has no memory for more', async () => {
    const runs = new PooledRuns({ total: 32 * MIB, guaranteed: MIB });
    const text = 'y'.repeat(3 * MIB);
    const tasks = wave(40, (n) => `{id: t${n}, tool: controlled, inputs: {v: "a{{pipeline.inputs.text}}"}}`);
    const runId = await runs.submit(tasks, { inputs: { text }, tenant_id: 'alice' });
    while (runs.registry.record(runId).failures.length === 0) await settle();
    expect(runs.controlled.calls).to.have.length(9);
    expect(runs.memory.usedBytes).to.be.within(30 * MIB, 32 * MIB);
    expect(runs.registry.record(runId).failures[0]?.error).to.match(NO_MEMORY);
    const bob = await runs.submit('{id: t, tool: mock, inputs: {v: 1}}', { tenant_id: 'bob' });
    expect(runs.registry.record(bob).status).to.equal('succeeded');
    for (const call of runs.controlled.calls.slice()) await runs.controlled.returns(null, call);
    expect(runs.registry.record(runId).status).to.equal('failed');
    runs.registry.forget(runId);
    runs.registry.forget(bob);
    expect(runs.memory.usedBytes).to.equal(0);
  });

  for (const [what, inputs] of [
    ['seven hundred texts from one output', '{v: [LIST]}'],
    ['seven hundred texts for the first item of a fan-out', '{v: [LIST], i: "{{item}}"}'],
  ] as const) {
    it(`renders at most 10 MiB for one invocation: not ${what}`, async () => {
      const runs = new PooledRuns({ total: 256 * MIB });
      const list = Array.from({ length: 700 }, () => '"a{{pipeline.inputs.text}}"').join(', ');
      const fanOut = inputs.includes('item') ? 'parallel_over: "{{pipeline.inputs.l}}", ' : '';
      const task = `{id: t, tool: controlled, ${fanOut}inputs: ${inputs.replace('LIST', list)}}`;
      const runId = await runs.submit(task, { inputs: { text: 'y'.repeat(MIB), l: [1, 2] } });
      expect(runs.registry.record(runId).error).to.equal(
        '{{pipeline.inputs.text}}: the rendered values are together over 10 MiB',
      );
      expect(runs.controlled.calls).to.have.length(0);
    });
  }

  it('counts the JSON text of lists and objects, and what is read from texts as JSON (D10, D12)', async () => {
    const list = Array.from({ length: 30_000 }, (_, n) => ({ n }));
    for (const [input, least] of [
      ['"!{{pipeline.inputs.list}}"', 300_000],
      ['"{{pipeline.inputs.text.list}}"', 1_000_000],
    ] as const) {
      const runs = new PooledRuns({ total: 64 * MIB });
      const inputs = { list, text: JSON.stringify({ list }) };
      const controlledTask = (value: string) => `{id: t, tool: controlled, inputs: {v: ${value}}}`;
      const plain = await runs.submit(controlledTask('"{{pipeline.inputs.list}}"'), { inputs });
      const plainBytes = runs.memory.usedBytes;
      await runs.controlled.returns(null);
      runs.registry.forget(plain);
      await runs.submit(controlledTask(input), { inputs });
      expect(runs.memory.usedBytes - plainBytes).to.be.above(least);
    }
  });

  it('counts the list that parallel_over renders until the task settles', async () => {
    const runs = new PooledRuns({ total: 64 * MIB });
    const inputs = { text: JSON.stringify({ list: Array.from({ length: 3 }, () => 'x'.repeat(300_000)) }) };
    const runId = await runs.submit(
      '{id: t, tool: controlled, parallel_over: "{{pipeline.inputs.text.list}}", inputs: {v: "{{item.length}}"}}',
      { inputs },
    );
    const calls = (await runs.controlled.started(3)).slice();
    const used = runs.memory.usedBytes;
    expect(used).to.be.above(1_800_000);
    for (const call of calls) await runs.controlled.returns(null, call);
    expect(runs.registry.record(runId).status).to.equal('succeeded');
    expect(runs.memory.usedBytes).to.be.below(used - 900_000);
  });

  it('counts every item of a fan-out in flight', async () => {
    const runs = new PooledRuns({ total: 4 * MIB });
    const items = Array.from({ length: 5000 }, (_, n) => n);
    const runId = await runs.submit(
      '{id: t, tool: controlled, parallel_over: "{{pipeline.inputs.items}}", inputs: {v: "{{item}}"}}',
      { inputs: { items } },
    );
    while (runs.registry.record(runId).failures.length === 0) await settle();
    const { length } = runs.controlled.calls;
    expect(length).to.be.within(1000, 2000);
    expect(runs.registry.record(runId).failures[0]?.error).to.match(NO_MEMORY);
    await runs.registry.cancel(runId).catch(() => undefined);
    for (const call of runs.controlled.calls) call.resolve(1);
    await settle();
    expect(runs.memory.usedBytes).to.be.below(MIB);
  });

  it('counts failures, and leaves out the texts of those that there is no memory for (D16)', async () => {
    const runs = new PooledRuns({ total: 2 * MIB });
    const items = Array.from({ length: 600 }, (_, n) => n);
    const runId = await runs.submit(
      '{id: t, tool: controlled, parallel_over: "{{pipeline.inputs.items}}", inputs: {v: "{{item}}"}}',
      { inputs: { items } },
    );
    for (const call of await runs.controlled.started(600)) call.reject(new Error('e'.repeat(4000)));
    await settle();
    const { failures, settled } = runs.registry.record(runId);
    expect([failures.length, settled]).to.deep.equal([600, true]);
    const texts = failures.map(({ error }) => error.length);
    expect(texts[0]).to.equal(4000);
    const without = failures.filter(
      ({ error }) => error === 'failed; the run has no memory left for the text of this error',
    );
    expect(without.length).to.be.above(100);
    expect(texts.filter((length) => length === 4000)).to.have.length(600 - without.length);
    runs.registry.forget(runId);
    expect(runs.memory.usedBytes).to.equal(0);
  });

  it('counts collected events, and fails the run whose events there is no memory for (D29)', async () => {
    const runs = new PooledRuns({ total: 400_000 });
    const nested = '{id: n, goal: g, tasks: [{id: a, tool: mock, inputs: {v: "{{pipeline.inputs.v}}"}}]}';
    const items = Array.from({ length: 400 }, (_, n) => n);
    const call = `{id: t, tool: run_pipeline, parallel_over: "{{pipeline.inputs.items}}", inputs: {pipeline: ${nested}, inputs: {v: "{{item}}"}}}`;
    const run = { inputs: { items }, options: { fan_out_concurrency: 1 } };
    const runId = await runs.submit(call, { ...run, collect_events: true });
    const record = await runs.finish(runId);
    expect(record.error).to.contain('the server has no memory left for this run');
    expect(record.events?.length).to.be.within(50, 800);
    runs.registry.forget(runId);
    const uncollected = await runs.finish(await runs.submit(call, run));
    expect(uncollected.error).to.equal(null);
  });

  it('keeps fewer events when there is no memory for all, and never fails the run for them (D30)', async () => {
    const runs = new PooledRuns({ total: 300_000 });
    const runId = await runs.submit('{id: t, tool: controlled}');
    for (let n = 0; n < 2000; n++) runs.controlled.last.context.log(`${n} ${'x'.repeat(1000)}`);
    await runs.controlled.returns('x'.repeat(1000));
    const { status } = runs.registry.record(runId);
    const { events, gap } = runs.registry.queries.events(runId).readAfter(0, 10_000);
    expect([status, gap]).to.deep.equal(['succeeded', true]);
    expect(events.length).to.be.within(10, 300);
    expect(events.at(-1)).to.include({ kind: 'run', status: 'succeeded' });
  });

  it('counts writes when a tool makes them, not only when its task succeeds (rule 6)', async () => {
    const runs = new PooledRuns({ total: 4 * MIB });
    const runId = await runs.submit('{id: t, tool: controlled, retry: 1}');
    const { blackboard } = runs.controlled.last.context;
    blackboard.write('k', 'x'.repeat(3 * MIB));
    expect(() => blackboard.write('k2', 'x'.repeat(3 * MIB))).to.throw(NO_MEMORY);
    expect(runs.memory.usedBytes).to.be.within(3 * MIB, 3.2 * MIB);
    await runs.controlled.rejects(new Error('again'));
    expect(runs.memory.usedBytes).to.be.below(0.3 * MIB);
    runs.registry.forget(runId);
    expect(runs.memory.usedBytes).to.equal(0);
  });

  it('counts the outputs of a fan-out that failed until its run is evicted (D59)', async () => {
    const runs = new PooledRuns({ total: 8 * MIB });
    const tool = defineTool({
      name: 'half',
      description: 'returns much for the first item, and fails for the second',
      inputs: { v: { description: 'the item', required: true } },
      run: ({ v }) => {
        if (v === 1) throw new Error('boom');
        return 'x'.repeat(2 * MIB);
      },
    });
    const pipeline = parsePipeline(
      '{id: p, goal: g, tasks: [{id: t, tool: half, parallel_over: "{{pipeline.inputs.l}}", inputs: {v: "{{item}}"}}]}',
      { tools: [tool], inputs: { l: [] } },
    );
    const runId = await runs.registry.submit({ pipeline, inputs: { l: [0, 1] } });
    await settle();
    expect(runs.registry.record(runId).status).to.equal('failed');
    expect(runs.memory.usedBytes).to.be.within(2 * MIB, 2.2 * MIB);
    const other = await runs.submit('{id: t, tool: controlled}');
    await runs.controlled.returns('x'.repeat(6.5 * MIB));
    expect(runs.registry.record(other).status).to.equal('succeeded');
    expect(() => runs.registry.record(runId)).to.throw('there is no run');
  });

  it('counts what a look at a task copies of the session: the keys that it reads, and no others (D59)', async () => {
    const memory = new PeakPool({ total: 64 * MIB });
    const runs = new PooledRuns({ total: 64 * MIB }, memory);
    const items = Array.from({ length: 2000 }, (_, n) => n);
    const runId = await runs.submit(
      `{id: put, tool: store, parallel_over: "{{pipeline.inputs.items}}", inputs: {key: "k{{item}}", value: "{{item}}"}},
       {id: log, tool: store, parallel_over: "{{pipeline.inputs.items}}", inputs: {key: log, value: "{{item}}", append: true}},
       {id: read, tool: mock, await: [put, log], inputs: {one: "{{session.k7}}", log: "{{session.log}}"}}`,
      { inputs: { items } },
    );
    expect((await runs.finish(runId)).error).to.equal(null);
    const before = memory.usedBytes;
    memory.peakBytes = 0;
    const { inputs } = await runs.registry.task(runId, 'read', { whole: true });
    expect(inputs).to.deep.equal({ one: 7, log: items });
    expect(memory.peakBytes - before).to.be.within(16_000, 200_000);
    expect(memory.usedBytes).to.equal(before);
  });
});
