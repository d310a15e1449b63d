import { expect } from 'chai';
import { settle } from '../../support/deferred.js';
import { MIB, PooledRuns } from './pooled-runs.js';

const LENGTH = 20_000;
/** Memory of the elements of one more list with the same values. */
const LIST_BYTES = 8 * LENGTH;
const LIST = Array.from({ length: LENGTH }, () => 0);

const APPEND = '{id: s, tool: store, inputs: {key: l, value: 1, append: true}}';

/** A task that runs a pipeline for each of `count` items. */
function nestedRuns(tasks: string, count: number): string {
  const nested = `{id: n, goal: g, inputs: {i: 0}, tasks: [${tasks}]}`;
  const items = JSON.stringify(Array.from({ length: count }, (_, n) => n));
  return `{id: c, tool: transform, inputs: {input: ${items}, expression: "$"}},
    {id: f, tool: run_pipeline, await: [s], parallel_over: "{{c.output}}", inputs: {pipeline: ${nested}, inputs: {i: "{{item}}"}}}`;
}

describe('The memory of lists that tasks append to (D23, D25)', () => {
  for (const given of ['submitted with the run', 'on the blackboard'] as const) {
    const session = given === 'submitted with the run' ? { l: LIST } : {};
    const first =
      given === 'on the blackboard'
        ? '{id: b, tool: store, inputs: {key: l, value: "{{pipeline.inputs.l}}"}}, '
        : '';

    it(`counts each list that a tool has read before it was replaced, until the wave has settled: ${given}`, async () => {
      const runs = new PooledRuns({ total: 64 * MIB });
      const wave = Array.from(
        { length: 11 },
        (_, n) => `{id: t${n}, tool: controlled${first && ', await: [b]'}}`,
      );
      const last = `{id: z, tool: controlled, await: [t0], inputs: {v: "{{session.l.length}}"}}`;
      const runId = await runs.submit(`${first}${wave.join(', ')}, ${last}`, {
        session,
        inputs: { l: LIST },
      });
      await settle();
      const [reader, ...writers] = runs.controlled.calls.slice();
      if (reader === undefined) throw new Error('the wave has not begun');
      const append = async (count: number): Promise<number> => {
        const before = runs.memory.usedBytes;
        for (const writer of writers.splice(0, count)) {
          await reader.context.blackboard.readMany(['l']);
          writer.context.blackboard.write('l', 1, true);
          await runs.controlled.returns(null, writer);
        }
        return runs.memory.usedBytes - before;
      };
      await append(1);
      expect(await append(8)).to.be.above(8 * LIST_BYTES);
      const held = runs.memory.usedBytes;
      await append(1);
      await runs.controlled.returns(null, reader);
      expect(runs.controlled.last.inputs['v']).to.equal(LENGTH + 10);
      expect(runs.memory.usedBytes).to.be.below(held - 7 * LIST_BYTES);
      await runs.controlled.returns(null);
      expect(runs.registry.record(runId).status).to.equal('succeeded');
      runs.registry.forget(runId);
      expect(runs.memory.usedBytes).to.equal(0);
    });
  }

  it('counts only one list when nothing has read the ones that were replaced', async () => {
    const runs = new PooledRuns({ total: 64 * MIB });
    const wave = Array.from({ length: 50 }, (_, n) => APPEND.replace('id: s', `id: s${n}`)).join(', ');
    const runId = await runs.submit(wave, { session: { l: LIST } });
    const plain = await runs.submit(wave.replaceAll('key: l', 'key: other'), { session: { l: LIST } });
    await Promise.all([runId, plain].map((id) => runs.registry.settled(id)));
    await settle();
    const [used, usedByPlain] = [runId, plain].map((id) => {
      const before = runs.memory.usedBytes;
      runs.registry.forget(id);
      return before - runs.memory.usedBytes;
    }) as [number, number];
    expect(used - usedByPlain).to.be.below(3 * LIST_BYTES);
  });

  it('lets nested runs share the list that tasks have appended to, instead of copying it for each', async () => {
    const runs = new PooledRuns({ total: 64 * MIB });
    const tasks = '{id: x, tool: controlled, inputs: {v: "{{session.l}}", i: "{{pipeline.inputs.i}}"}}';
    const store = '{id: b, tool: store, inputs: {key: l, value: "{{pipeline.inputs.l}}"}}';
    const append = APPEND.replace('{', '{await: [b], ');
    await runs.submit(`${store}, ${append}, ${nestedRuns(tasks, 3)}`, { inputs: { l: LIST } });
    await settle();
    const lists = runs.controlled.calls.map(({ inputs }) => inputs['v']);
    expect(lists).to.have.length(3);
    expect(lists[0]).to.have.length(LENGTH + 1);
    expect(new Set(lists).size).to.equal(1);
  });

  it('counts the list that each nested run makes when it appends to one of the calling run', async () => {
    const runs = new PooledRuns({ total: 64 * MIB });
    const wait = '{id: x, tool: controlled, await: [s], inputs: {i: "{{pipeline.inputs.i}}"}}';
    const tasks = `${APPEND}, ${wait}`;
    const begin = async (count: number): Promise<number> => {
      const runId = await runs.submit(`{id: s, tool: mock}, ${nestedRuns(tasks, count)}`, {
        session: { l: LIST },
      });
      await settle();
      const used = runs.memory.usedBytes;
      runs.registry.forget(runId);
      return used;
    };
    expect((await begin(12)) - (await begin(2))).to.be.above(10 * LIST_BYTES);
    expect(runs.memory.usedBytes).to.equal(0);
  });
});
