import { expect } from 'chai';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import type { RunInputs } from '../../../lib/execution/prepare/run-inputs.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { catchRejection } from '../../support/rejection.js';

const MIB = 2 ** 20;

/** Returns 1 MiB for each item, and fails for the items that are broken. */
const much = (broken: ReadonlySet<number>): ReturnType<typeof defineTool> =>
  defineTool({
    name: 'much',
    description: 'returns much, or fails',
    inputs: { v: { description: 'the item', required: true } },
    run: ({ v }) => {
      if (broken.has(Number(v))) throw new Error('broken');
      return 'x'.repeat(MIB);
    },
  });

async function submitSettled(registry: RunRegistry, inputs: RunInputs): Promise<string> {
  const runId = await registry.submit(inputs);
  await registry.settled(runId);
  return runId;
}

describe('The memory of reruns (D25, D60)', () => {
  const text =
    '{id: p, goal: g, inputs: {l: [0, 1, 2]}, tasks: [{id: each, tool: much, parallel_over: "{{pipeline.inputs.l}}", inputs: {v: "{{item}}"}}]}';

  it('counts the items that a rerun may reuse once, and returns all of it', async () => {
    const memory = new MemoryPool({ total: 16 * MIB });
    const registry = new RunRegistry({ memory });
    const broken = new Set([2]);
    const pipeline = parsePipeline(text, { tools: [much(broken)] });
    const first = await submitSettled(registry, { pipeline });
    const second = await registry.rerun(first, { from: 'failed' });
    await registry.settled(second);
    registry.remove(first);
    expect(memory.usedBytes).to.be.within(2 * MIB, 2.2 * MIB);
    broken.clear();
    const third = await registry.rerun(second, { from: 'failed' });
    expect((await registry.settled(third)).status).to.equal('succeeded');
    registry.remove(second);
    expect(memory.usedBytes).to.be.within(3 * MIB, 3.2 * MIB);
    registry.remove(third);
    expect(memory.usedBytes).to.equal(0);
  });

  it('counts what a rerun would take while it is previewed, and refuses to preview one that does not fit', async () => {
    const memory = new MemoryPool({ total: 4 * MIB });
    const registry = new RunRegistry({ memory });
    const pipeline = parsePipeline(text, { tools: [much(new Set([0, 1, 2]))] });
    const failing = await submitSettled(registry, { pipeline });
    const others = memory.usedBytes;
    const fix = (size: number) => registry.previewRerun(failing, { session: { s: 'x'.repeat(size) } });
    expect((await fix(MIB)).runs).to.have.length(1);
    expect(await catchRejection(fix(5 * MIB))).to.include({ code: 'memory_full' });
    expect(memory.usedBytes).to.equal(others);
  });

  it('counts what the earlier run was given, for as long as a rerun with changes compares with it', async () => {
    const memory = new MemoryPool({ total: 16 * MIB });
    const registry = new RunRegistry({ memory });
    const task = '{id: a, tool: mock, inputs: {x: "{{pipeline.inputs.x.length}}"}}';
    const pipeline = parsePipeline(`{id: p, goal: g, inputs: {x: ""}, tasks: [${task}]}`);
    let runId = await submitSettled(registry, { pipeline, inputs: { x: 'x'.repeat(MIB) } });
    for (let rerun = 0; rerun < 3; rerun++) {
      const earlier = runId;
      runId = await registry.rerun(earlier, { inputs: { x: 'x'.repeat(MIB + rerun + 1) } });
      await registry.settled(runId);
      registry.remove(earlier);
      expect(memory.usedBytes).to.be.within(2 * MIB, 2.2 * MIB);
    }
    registry.remove(runId);
    expect(memory.usedBytes).to.equal(0);
  });

  it('takes nothing for a rerun that is rejected because nothing would run', async () => {
    const memory = new MemoryPool({ total: 16 * MIB });
    const registry = new RunRegistry({ memory });
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: mock}]}');
    const first = await submitSettled(registry, { pipeline });
    const { usedBytes } = memory;
    const rerun = registry.rerun(first, { inputs: { x: 'x'.repeat(MIB) } });
    expect(await catchRejection(rerun)).to.include({ code: 'nothing_to_rerun' });
    expect(memory.usedBytes).to.equal(usedBytes);
  });

  it('rejects a rerun without memory for what it may reuse with queue_full', async () => {
    const memory = new MemoryPool({ total: 4 * MIB });
    const registry = new RunRegistry({ memory });
    const pipeline = parsePipeline(text, { tools: [much(new Set([2]))] });
    const first = await submitSettled(registry, { pipeline, inputs: { l: [0, 1, 2] } });
    const release = registry.queries.retain(first);
    expect(await catchRejection(registry.rerun(first, { from: 'failed' }))).to.include({
      code: 'queue_full',
    });
    release?.();
    expect(memory.usedBytes).to.be.below(2.2 * MIB);
  });
});

describe('RunRegistry.rerun of large values (D35)', () => {
  it('reuses a task whose unchanged values have more parts than are compared', async () => {
    const registry = new RunRegistry();
    const list = Array.from({ length: 150_000 }, (_, index) => index);
    const reads = ['params.l.length', 'pipeline.inputs.l.length', 'session.l.length', 'params.l'];
    const tasks = reads.map((text, index) => `{id: t${index}, tool: mock, inputs: {x: "{{${text}}}"}}`);
    const pipeline = parsePipeline(
      `{id: p, goal: g, params: {l: {type: list}}, tasks: [${tasks.join(', ')}, {id: bad, tool: fail, await: [t0]}]}`,
      { inputs: { l: [] }, session: { l: [] } },
    );
    const [params, inputs, session] = [{ l: list }, { l: list }, { l: list }];
    const first = await submitSettled(registry, { pipeline, params, inputs, session });
    for (const request of [{ from: 'failed' }, { options: { per_task_timeout: 9 } }]) {
      const record = await registry.settled(await registry.rerun(first, request));
      expect(record.progress).to.include({ tasks_settled: 5, invocations: 1 });
    }
  });
});
