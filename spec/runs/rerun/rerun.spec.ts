import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { expect } from 'chai';
import { DIAMOND, DIAMOND_OUTPUTS, Reruns } from './reruns.js';

describe('RunRegistry.rerun of a pipeline (D35)', () => {
  it('runs every task again without "from"', async () => {
    const reruns = new Reruns();
    const first = await reruns.run(DIAMOND);
    const { record, calls, outputs } = await reruns.rerun(first.run_id);
    expect(record.run_id).not.to.equal(first.run_id);
    expect([first.rerun_of, record.rerun_of]).to.deep.equal([null, first.run_id]);
    expect(calls).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(outputs).to.deep.equal(DIAMOND_OUTPUTS);
    expect(record.result?.tasks_executed).to.equal(4);
    expect(reruns.events.some((event) => 'reused' in event)).to.equal(false);
    expect(reruns.registry.record(first.run_id)).to.deep.equal(first);
  });

  it('from "failed" reuses the outputs of tasks that succeeded', async () => {
    const reruns = new Reruns();
    reruns.broken.add('c');
    const first = await reruns.run(DIAMOND);
    expect(first).to.include({ status: 'failed', error: 'c is broken' });
    reruns.broken.clear();
    const { record, calls, outputs } = await reruns.rerun(first.run_id, 'failed');
    expect(calls).to.deep.equal(['c', 'd']);
    expect(outputs).to.deep.equal(DIAMOND_OUTPUTS);
    expect(Object.keys(record.result?.outputs ?? {})).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(record.result).to.include({ tasks_executed: 2, waves_executed: 3 });
    expect(record.progress).to.include({ tasks_settled: 4, invocations: 2 });
    expect(record.failures).to.deep.equal([]);
  });

  it('from a task runs that task and all that depend on it by template or by await', async () => {
    const reruns = new Reruns();
    const tasks = `${DIAMOND}, {id: e, tool: echo, inputs: {text: E}, await: [c]}`;
    const { run_id } = await reruns.run(tasks);
    expect((await reruns.rerun(run_id, 'c')).calls).to.deep.equal(['c', 'd', 'e']);
    expect((await reruns.rerun(run_id, 'b')).calls).to.deep.equal(['b', 'd']);
    expect((await reruns.rerun(run_id, 'd')).calls).to.deep.equal(['d']);
    expect((await reruns.rerun(run_id, 'a')).calls).to.deep.equal(['a', 'c', 'd', 'e']);
  });

  it('from a task also runs tasks that have not succeeded', async () => {
    const reruns = new Reruns();
    reruns.broken.add('b');
    const { run_id } = await reruns.run(DIAMOND);
    reruns.broken.clear();
    expect((await reruns.rerun(run_id, 'd')).calls).to.deep.equal(['b', 'c', 'd']);
  });

  it('marks the events of reused tasks, and only those', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND, { collect_events: true });
    const { record } = await reruns.rerun(run_id, 'd');
    const events = record.events?.map(({ kind, task_id, reused }) => `${kind} ${task_id} ${reused ?? false}`);
    expect(events).to.have.members([
      ...['a', 'b', 'c'].flatMap((id) => [`start ${id} true`, `finish ${id} true`]),
      'start d false',
      'finish d false',
    ]);
    const live = reruns.events.flatMap((event) =>
      event.kind === 'finish' ? [[event.task_id, event.reused]] : [],
    );
    expect(live).to.deep.equal([
      ['a', true],
      ['b', true],
      ['c', true],
      ['d', undefined],
    ]);
  });

  it('writes what reused tasks stored to the new blackboard, where later tasks read it', async () => {
    const reruns = new Reruns();
    const tasks = `
      {id: put, tool: store, inputs: {key: colour, value: red}},
      {id: more, tool: store, parallel_over: "{{pipeline.inputs.list}}", await: [put],
       inputs: {key: list, value: "{{item}}", append: true}},
      {id: read, tool: echo, await: [more], inputs: {text: "{{session.colour}} {{session.list}}"}}`;
    const first = await reruns.run(tasks, { inputs: { list: [1, 2, 3] } });
    expect(first.result?.outputs).to.include({ read: 'red [1,2,3]' });
    const second = await reruns.rerun(first.run_id, 'read');
    expect(second.outputs).to.deep.equal(first.result?.outputs);
    expect(second.record.result?.tasks_executed).to.equal(1);
    const third = await reruns.rerun(second.record.run_id, 'read');
    expect(third.outputs).to.deep.equal(first.result?.outputs);
    expect(third.record.rerun_of).to.equal(second.record.run_id);
  });

  it('uses the params, inputs, session, options and tenant of the first run', async () => {
    const reruns = new Reruns();
    const text = '"{{params.who}} {{params.none ?? \\"nobody\\"}} {{pipeline.inputs.x}} {{session.s}}"';
    const options = { fan_out_concurrency: 1 };
    const first = await reruns.run(
      `{id: a, tool: echo, inputs: {text: ${text}}}`,
      { params: { who: '7' }, inputs: { x: 2 }, session: { s: 'S' }, tenant_id: 'acme', options },
      'params: {who: {type: integer}, none: {default: null}}, inputs: {x: 1, y: 1},',
    );
    expect(first.result?.outputs).to.deep.equal({ a: '7 nobody 2 S' });
    options.fan_out_concurrency = -1;
    const { record, outputs } = await reruns.rerun(first.run_id);
    expect(outputs).to.deep.equal(first.result?.outputs);
    expect(record).to.include({ tenant_id: 'acme', goal: 'be checked', events: null });
  });

  it('reuses the whole output list of a fan-out, and repeats a fan-out with a failed item', async () => {
    const reruns = new Reruns();
    const tasks = `
      {id: each, tool: echo, parallel_over: "{{pipeline.inputs.list}}", inputs: {text: "{{item}}"}},
      {id: twice, tool: echo, parallel_over: "{{each.output}}", inputs: {text: "{{item}}{{item}}"}}`;
    reruns.broken.add('twice');
    const first = await reruns.run(tasks, { inputs: { list: ['x', 'y'] } });
    expect(first.status).to.equal('failed');
    reruns.broken.clear();
    const { calls, outputs, record } = await reruns.rerun(first.run_id, 'failed');
    expect(calls).to.deep.equal(['twice[0]', 'twice[1]']);
    expect(outputs).to.deep.equal({ each: ['x', 'y'], twice: ['xx', 'yy'] });
    expect(record.result?.tasks_executed).to.equal(2);
  });

  it('reuses null, false and an empty list as outputs', async () => {
    const reruns = new Reruns();
    const tasks = `
      {id: a, tool: echo, inputs: {text: null}}, {id: b, tool: echo, inputs: {text: false}},
      {id: c, tool: echo, parallel_over: "{{pipeline.inputs.none}}", inputs: {text: "{{item}}"}},
      {id: __proto__, tool: echo, inputs: {text: safe}},
      {id: z, tool: echo, inputs: {text: ["{{a.output}}", "{{b.output}}", "{{c.output}}"]}}`;
    const first = await reruns.run(tasks, { inputs: { none: [] } });
    const { calls, record } = await reruns.rerun(first.run_id, 'z');
    expect(calls).to.deep.equal(['z']);
    expect(JSON.stringify(record.result?.outputs)).to.equal(JSON.stringify(first.result?.outputs));
    expect(record.result?.outputs?.z).to.deep.equal([null, false, []]);
  });

  it('reuses in a rerun of a rerun the outputs that the first rerun did not reach', async () => {
    const reruns = new Reruns();
    const tasks = `
      {id: a, tool: echo, inputs: {text: A}}, {id: b, tool: echo, inputs: {text: "{{a.output}}B"}},
      {id: x, tool: echo, inputs: {text: X}}, {id: end, tool: echo, await: [x], inputs: {text: "{{b.output}}"}}`;
    const first = await reruns.run(tasks);
    reruns.broken.add('x');
    const second = await reruns.rerun(first.run_id, 'x');
    expect(second.record).to.include({ status: 'failed', error: 'x is broken' });
    reruns.broken.clear();
    const third = await reruns.rerun(second.record.run_id, 'failed');
    expect(third.calls).to.deep.equal(['x', 'end']);
    expect(third.outputs).to.deep.equal(first.result?.outputs);
    const fourth = await reruns.rerun(second.record.run_id, 'a');
    expect(fourth.calls).to.deep.equal(['a', 'x', 'b', 'end']);
  });

  it('completes although the first run is forgotten meanwhile', async () => {
    const reruns = new Reruns();
    const first = await reruns.run(DIAMOND);
    const again = reruns.registry.rerun(first.run_id, { from: 'd' });
    reruns.registry.forget(first.run_id);
    const record = await reruns.registry.settled(await again);
    expect(record.result?.outputs).to.deep.equal(DIAMOND_OUTPUTS);
    expect(record.rerun_of).to.equal(first.run_id);
  });

  it('appends nothing twice to a blackboard shared by the runs', async () => {
    const blackboard = new MemoryBlackboard();
    const registry = new RunRegistry({ blackboard });
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [
      {id: s, tool: store, inputs: {key: log, value: x, append: true}},
      {id: f, tool: fail, await: [s], inputs: {message: "saw {{session.log}}"}}]}`);
    const first = await registry.submit({ pipeline });
    await registry.settled(first);
    const again = await registry.settled(await registry.rerun(first, { from: 'failed' }));
    // A value already on the blackboard is still read.
    expect(again.error).to.equal('saw ["x"]');
    expect({ ...(await blackboard.getAll('default')) }).to.deep.equal({ log: ['x'] });
    await registry.settled(await registry.rerun(first));
    expect({ ...(await blackboard.getAll('default')) }).to.deep.equal({ log: ['x', 'x'] });
  });
});
