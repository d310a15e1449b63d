import { expect } from 'chai';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { Pipeline } from '../../../lib/pipelines/pipeline.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { settle } from '../../support/deferred.js';
import { holdSlices } from '../../support/slices.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { catchRejection } from '../../support/rejection.js';

const ECHO =
  '{id: p, goal: g, inputs: {}, tasks: [{id: a, tool: mock, inputs: {it: "{{pipeline.inputs.it ?? 0}}"}}]}';
const MANY = Array.from({ length: 10_000 }, () => ({}));
const MIB = 2 ** 20;

describe('RunRegistry: memory (D25, D26)', () => {
  let controlled: ControlledTool;
  let fixture: Pipeline;

  beforeEach(() => {
    controlled = new ControlledTool();
    fixture = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: controlled}]}', {
      tools: [controlled.tool],
    });
  });

  it('rejects a submission that there is no memory for until a run settles', async () => {
    const registry = new RunRegistry({ memory: new MemoryPool({ total: MIB }) });
    const submit = () => registry.submit({ pipeline: fixture, inputs: { it: MANY } });
    await submit();
    expect(await catchRejection(submit())).to.deep.include({
      code: 'queue_full',
      fault: 'service',
      message:
        'the server has no memory left for this run, which takes 0.6 MiB: try again later, send less, or raise SERVICE_MEMORY',
    });
    expect(registry.list({ limit: 10 }).runs).to.have.length(1);
    await settle();
    await controlled.returns(null);
    await submit();
  });

  it('lets a tenant submit within its guarantee while another one has taken all memory', async () => {
    holdSlices();
    const memory = new MemoryPool({ total: MIB, guaranteed: 200_000 });
    const registry = new RunRegistry({ memory });
    const submit = (tenantId: string, text = '') =>
      registry.submit({ pipeline: fixture, inputs: { text }, tenant_id: tenantId });
    await submit('alice', 'x'.repeat(MIB - 60_000));
    expect(await catchRejection(submit('alice', 'x'.repeat(50_000)))).to.include({ code: 'queue_full' });
    await submit('bob', 'x'.repeat(50_000));
    await settle();
    expect(registry.queries.load).to.deep.equal({ queued: 0, running: 2 });
  });

  it('evicts settled runs for a run that needs their memory', async () => {
    const registry = new RunRegistry({ memory: new MemoryPool({ total: 4 * MIB }) });
    const pipeline = parsePipeline(ECHO, { inputs: { it: 0 } });
    const ids: string[] = [];
    for (let run = 0; run < 8; run++) {
      const runId = await registry.submit({ pipeline, inputs: { it: MANY } });
      await registry.settled(runId);
      ids.push(runId);
    }
    const kept = registry.list({ limit: 10 }).runs.map(({ run_id }) => run_id);
    expect(kept.length).to.be.within(1, 4);
    expect(kept).to.deep.equal(ids.toReversed().slice(0, kept.length));
  });

  it('keeps the memory of a run that is being read when it is deleted, and frees it once', async () => {
    const memory = new MemoryPool({ total: 4 * MIB });
    const registry = new RunRegistry({ memory });
    const runId = await registry.submit({ pipeline: fixture, inputs: { it: MANY } });
    await settle();
    await controlled.returns('x'.repeat(100_000));
    await registry.settled(runId);
    const releases = [registry.queries.retain(runId), registry.queries.retain(runId)];
    const used = memory.usedBytes;
    expect(used).to.be.above(600_000);
    registry.remove(runId);
    releases[0]?.();
    releases[0]?.();
    expect(memory.usedBytes).to.equal(used);
    releases[1]?.();
    expect(memory.usedBytes).to.equal(0);
    expect(registry.queries.retain(runId)).to.equal(undefined);
  });

  it('counts the outputs of runs at work, and fails a run that gets no more memory in words (D24)', async () => {
    const memory = new MemoryPool({ total: 3 * MIB });
    const registry = new RunRegistry({ memory });
    const tasks = ['{id: a, tool: controlled}', '{id: b, tool: controlled, await: [a]}'];
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [${tasks.join(', ')}]}`, {
      tools: [controlled.tool],
    });
    const runIds = [await registry.submit({ pipeline }), await registry.submit({ pipeline })];
    await settle();
    for (const call of controlled.calls.slice()) await controlled.returns('x'.repeat(MIB), call);
    expect(memory.usedBytes).to.be.above(2 * MIB);
    await controlled.returns('x'.repeat(MIB));
    const record = await registry.settled(runIds[1] ?? '');
    expect(record.error).to.match(
      /^the server has no memory left for this run: it takes 1 MiB of the 3 MiB for everything together; wait for other runs, return less, or raise SERVICE_MEMORY$/,
    );
    registry.forget(runIds[0] ?? '');
    registry.forget(runIds[1] ?? '');
    expect(memory.usedBytes).to.equal(0);
  });

  it('counts in a rerun the outcomes that it reuses, so that deleting the first run frees only that run', async () => {
    const memory = new MemoryPool({ total: 16 * MIB });
    const registry = new RunRegistry({ memory });
    const tasks =
      '{id: big, tool: controlled, parallel_over: "{{pipeline.inputs.l}}", inputs: {it: "{{item}}"}}, {id: bad, tool: fail, await: [big]}';
    const pipeline = parsePipeline(`{id: p, goal: g, inputs: {l: [0, 1]}, tasks: [${tasks}]}`, {
      tools: [controlled.tool],
    });
    let runId = await registry.submit({ pipeline });
    await settle();
    for (const call of controlled.calls.slice()) await controlled.returns('x'.repeat(MIB), call);
    await registry.settled(runId);
    for (let rerun = 0; rerun < 3; rerun++) {
      const earlier = runId;
      runId = await registry.rerun(earlier, { from: 'failed' });
      await registry.settled(runId);
      await settle();
      registry.remove(earlier);
      expect(memory.usedBytes).to.be.within(2 * MIB, 2.2 * MIB);
    }
    registry.remove(runId);
    expect(memory.usedBytes).to.equal(0);
  });

  it('fails the task whose output exceeds the limit of a run without a pool (D24)', async () => {
    const registry = new RunRegistry({ runOutputLimitBytes: MIB });
    const tasks = Array.from(
      { length: 3 },
      (_, n) => `{id: t${n}, tool: mock, inputs: {it: "{{pipeline.inputs.it}}"}}`,
    );
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [${tasks.join(', ')}]}`, { inputs: { it: 0 } });
    const runId = await registry.submit({ pipeline, inputs: { it: MANY } });
    const record = await registry.settled(runId);
    expect(record.status).to.equal('failed');
    expect(record.error).to.equal('the run takes more memory than the limit of 1 MiB: return less, or files');
  });
});
