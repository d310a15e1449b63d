import { expect } from 'chai';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { Pipeline } from '../../../lib/pipelines/pipeline.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { settle } from '../../support/deferred.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { catchRejection } from '../../support/rejection.js';

const KEEP = { maxRuns: 100, ttlMs: 1e9, maxEvents: 1e6 };
const ECHO =
  '{id: p, goal: g, inputs: {}, tasks: [{id: a, tool: mock, inputs: {it: "{{pipeline.inputs.it ?? 0}}"}}]}';
const MANY = Array.from({ length: 10_000 }, () => ({}));

describe('RunRegistry: memory limits', () => {
  let controlled: ControlledTool;
  let fixture: Pipeline;

  beforeEach(() => {
    controlled = new ControlledTool();
    fixture = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: controlled}]}', {
      tools: [controlled.tool],
    });
  });

  it('rejects submissions beyond the memory of queued and running runs until one settles (D25)', async () => {
    const admission = { maxRunning: 10, maxQueued: 10, maxBytes: 2 ** 20 };
    const registry = new RunRegistry({ admission, retention: KEEP });
    const submit = () => registry.submit({ pipeline: fixture, inputs: { it: MANY } });
    await submit();
    expect(await catchRejection(submit())).to.include({ code: 'queue_full' });
    expect(registry.list({ limit: 10 }).runs).to.have.length(1);
    await settle();
    await controlled.returns(null);
    await submit();
  });

  it('admits a run larger than the limit when no other run is queued or running', async () => {
    const registry = new RunRegistry({
      admission: { maxRunning: 1, maxQueued: 0, maxBytes: 1 },
      retention: KEEP,
    });
    await registry.submit({ pipeline: fixture, inputs: { it: MANY } });
    expect(registry.load).to.deep.equal({ queued: 0, running: 1 });
  });

  it('evicts the oldest settled runs beyond the memory limit (D26)', async () => {
    const registry = new RunRegistry({ retention: { ...KEEP, maxBytes: 3 * 2 ** 20 } });
    const pipeline = parsePipeline(ECHO, { inputs: { it: 0 } });
    const ids: string[] = [];
    for (let run = 0; run < 5; run++) {
      const runId = await registry.submit({ pipeline, inputs: { it: MANY } });
      await registry.settled(runId);
      ids.push(runId);
    }
    const kept = registry.list({ limit: 10 }).runs.map(({ run_id }) => run_id);
    expect(kept.length).to.be.within(1, 3);
    expect(kept).to.deep.equal(ids.toReversed().slice(0, kept.length));
  });

  it('fails the task whose output exceeds the limit on all outputs of a run (D24)', async () => {
    const registry = new RunRegistry({ runOutputLimitBytes: 2 ** 20 });
    const tasks = Array.from(
      { length: 3 },
      (_, n) => `{id: t${n}, tool: mock, inputs: {it: "{{pipeline.inputs.it}}"}}`,
    );
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [${tasks.join(', ')}]}`, { inputs: { it: 0 } });
    const runId = await registry.submit({ pipeline, inputs: { it: MANY } });
    const record = await registry.settled(runId);
    expect(record.status).to.equal('failed');
    expect(record.error).to.equal(
      'the outputs of the run are together larger than the limit of 1 MiB: return less, or files',
    );
  });
});
