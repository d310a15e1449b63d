import { expect } from 'chai';
import { catchRejection } from '../../support/rejection.js';
import { DIAMOND, Reruns } from './reruns.js';

const LIST =
  '{id: each, tool: echo, parallel_over: "{{pipeline.inputs.list}}", inputs: {text: "{{item.name}}"}}';
const names = (...list: string[]): { name: string }[] => list.map((name) => ({ name }));

describe('RunRegistry.rerun with a changed definition (D60)', () => {
  it('runs the tasks that changed and those that read another value, and reuses the others', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    const pipeline = reruns.parse(DIAMOND.replace('text: A', 'text: X'));
    const { calls, record, report } = await reruns.fix(run_id, { pipeline });
    expect(calls).to.deep.equal(['a', 'c', 'd']);
    expect(record.result).to.deep.include({
      outputs: { a: 'X', b: 'B', c: 'XC', d: 'BXCD' },
      tasks_executed: 3,
    });
    expect(record.rerun_of).to.equal(run_id);
    expect(report).to.deep.equal({
      reused: [{ task_id: 'b' }],
      runs: [
        { task_id: 'a', reason: 'has changed inputs', reusable_items: 0, repeats: 1 },
        { task_id: 'c', reason: 'depends on "a"', reusable_items: 0, repeats: 1 },
        { task_id: 'd', reason: 'depends on "c"', reusable_items: 0, repeats: 1 },
      ],
      warnings: [],
    });
  });

  it('reuses what depends on a changed task when that gives what it gave before', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    const pipeline = reruns.parse(DIAMOND.replace('{{a.output}}C', 'AC'));
    const { calls, outputs } = await reruns.fix(run_id, { pipeline });
    expect(calls).to.deep.equal(['c']);
    expect(outputs).to.deep.include({ d: 'BACD' });
  });

  it('runs a task again that only awaits a changed one, unless that gives and stores what it did', async () => {
    const tasks = (value: string): string =>
      `{id: put, tool: store, inputs: {key: k, value: ${value}}}, {id: after, tool: echo, await: [put], inputs: {text: T}}`;
    const reruns = new Reruns();
    const { run_id } = await reruns.run(tasks('{a: 1, b: 2}'));
    const other = await reruns.fix(run_id, { pipeline: reruns.parse(tasks('{a: 2}')) });
    expect(other.calls).to.deep.equal(['after']);
    const same = await reruns.fix(run_id, { pipeline: reruns.parse(tasks('{b: 2, a: 1}')), from: 'put' });
    expect(same.calls).to.deep.equal(['after']);
    const error = await catchRejection(reruns.fix(run_id, { pipeline: reruns.parse(tasks('{b: 2, a: 1}')) }));
    expect(error).to.include({ code: 'nothing_to_rerun' });
  });

  it('runs what has not succeeded, what is new and what calls another tool', async () => {
    const reruns = new Reruns();
    reruns.broken.add('c');
    const { run_id } = await reruns.run(DIAMOND);
    reruns.broken.clear();
    const fixed = `${DIAMOND.replace('{id: b, tool: echo', '{id: b, tool: store').replace('text: B', 'key: k, value: B')}, {id: e, tool: echo, inputs: {text: E}}`;
    const { calls, outputs, report } = await reruns.fix(run_id, { pipeline: reruns.parse(fixed) });
    expect(calls).to.deep.equal(['e', 'c', 'd']);
    expect(outputs).to.deep.equal({ a: 'A', b: 'B', c: 'AC', d: 'BACD', e: 'E' });
    expect(report?.runs.map(({ task_id, reason }) => `${task_id} ${reason}`)).to.deep.equal([
      'b calls another tool',
      'e is new',
      'c has failed',
      'd has not run',
    ]);
  });

  it('reuses a task whose retries, timeout or place in the file changed', async () => {
    const reruns = new Reruns();
    reruns.broken.add('d');
    const { run_id } = await reruns.run(DIAMOND);
    reruns.broken.clear();
    const [a = '', ...others] = DIAMOND.trim().split(/,\s*(?=\{id)/);
    const moved = [...others, a.replace('tool: echo', 'tool: echo, retry: 2, timeout: 9')].join(', ');
    const { calls } = await reruns.fix(run_id, { pipeline: reruns.parse(moved) });
    expect(calls).to.deep.equal(['d']);
  });

  it('takes the new defaults for params and inputs that were not sent, and drops params that are gone', async () => {
    const reruns = new Reruns();
    const tasks =
      '{id: a, tool: echo, inputs: {text: "{{params.p}} {{params.q}} {{pipeline.inputs.x}} {{pipeline.inputs.y}}"}}';
    const head = 'params: {p: {default: p1}, q: {default: q1}, gone: {default: 1}}, inputs: {x: x1, y: y1},';
    const sent = { params: { q: 'sent', gone: '2' }, inputs: { y: 'sent' } };
    const { run_id } = await reruns.run(tasks, sent, head);
    const changed = 'params: {p: {default: p2}, q: {default: q2}}, inputs: {x: x2, y: y2},';
    const { outputs } = await reruns.fix(run_id, { pipeline: reruns.parse(tasks, {}, changed) });
    expect(outputs).to.deep.equal({ a: 'p2 sent x2 sent' });
  });

  it('reruns from a task of the changed definition, and what has changed besides', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND);
    const pipeline = reruns.parse(DIAMOND.replace('text: B', 'text: B2'));
    expect((await reruns.fix(run_id, { pipeline, from: 'c' })).calls).to.deep.equal(['b', 'c', 'd']);
    const error = await catchRejection(reruns.fix(run_id, { pipeline, from: 'x' }));
    expect(error).to.include({ code: 'invalid_request' });
  });
});

describe('RunRegistry.rerun with changed values (D60)', () => {
  it('runs only the tasks that read a param, an input, the session or the goal that changed', async () => {
    const reruns = new Reruns();
    const texts = [
      '{{params.p}}',
      '{{params.q}}',
      '{{pipeline.inputs.o.x}}',
      '{{pipeline.inputs.o.y}}',
      '{{session.s}}',
      '{{session.t}}',
      '{{pipeline.goal}}',
    ];
    const tasks = texts
      .map((text, index) => `{id: t${index}, tool: echo, inputs: {text: "${text}"}}`)
      .join(', ');
    const given = { params: { p: '1', q: '1' }, inputs: { o: { x: 1, y: 1 } }, session: { s: 1, t: 1 } };
    const { run_id } = await reruns.run(tasks, given, 'params: {p: {}, q: {}},');
    const changes = [
      [{ params: { p: '2' } }, ['t0']],
      [{ inputs: { o: { x: 1, y: 2 } } }, ['t3']],
      [{ session: { t: 2 } }, ['t5']],
      [{ params: { p: '2', q: '2' }, session: { s: 2 } }, ['t0', 't1', 't4']],
    ] as const;
    for (const [change, expected] of changes) {
      expect((await reruns.fix(run_id, change)).calls).to.deep.equal(expected);
    }
    const { report } = await reruns.fix(run_id, { params: { p: '2' } });
    expect(report?.runs).to.deep.equal([
      { task_id: 't0', reason: 'reads {{params.p}}, which has changed', reusable_items: 0, repeats: 1 },
    ]);
  });

  it('rejects changes that nothing reads with nothing_to_rerun when the run succeeded', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND, {}, 'params: {p: {default: 1}},');
    for (const change of [
      { params: { p: '2' } },
      { options: { per_task_timeout: 3 } },
      { pipeline: reruns.parse(DIAMOND) },
    ]) {
      const error = await catchRejection(reruns.fix(run_id, change));
      expect(error)
        .to.include({ code: 'nothing_to_rerun' })
        .with.property('message')
        .that.includes('name a task in "from"');
    }
    expect(reruns.registry.list({ limit: 10 }).runs).to.have.length(1);
    expect(reruns.registry.queries.load).to.deep.equal({ queued: 0, running: 0 });
  });

  it('rejects values and options that are invalid before a run exists', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(DIAMOND, {}, 'params: {p: {type: integer, default: 1}},');
    const invalid = [
      [{ params: { p: 'x' } }, 'invalid_params'],
      [{ params: { unknown: 1 } }, 'invalid_params'],
      [{ options: { per_task_timeout: -1 } }, 'invalid_options'],
    ] as const;
    for (const [change, code] of invalid) {
      expect(await catchRejection(reruns.fix(run_id, change))).to.include({ code });
    }
    expect(reruns.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('runs a task again that reads a key which another task now stores otherwise', async () => {
    const reruns = new Reruns();
    const tasks = `
      {id: one, tool: store, inputs: {key: one, value: "{{params.p}}"}}, {id: two, tool: store, inputs: {key: two, value: 2}},
      {id: all, tool: echo, await: [one, two], inputs: {text: done}},
      {id: r1, tool: echo, await: [all], inputs: {text: "{{session.one}}"}},
      {id: r2, tool: echo, await: [all], inputs: {text: "{{session.two}}"}}`;
    const { run_id } = await reruns.run(tasks, { params: { p: '1' } }, 'params: {p: {}},');
    const { calls, outputs } = await reruns.fix(run_id, { params: { p: '5' } });
    expect(calls).to.deep.equal(['all', 'r1']);
    expect(outputs).to.deep.include({ r1: '5', r2: 2 });
  });
});

describe('RunRegistry.rerun of the items of a fan-out (D60)', () => {
  const list = (...items: string[]): { list: { name: string }[] } => ({ list: names(...items) });

  it('from "failed" calls only the items that have not succeeded', async () => {
    const reruns = new Reruns();
    reruns.broken.add('each[1]');
    const first = await reruns.run(LIST, {
      inputs: list('a', 'b', 'c'),
      options: { fan_out_concurrency: 2 },
    });
    expect(first.failures).to.have.length(1);
    reruns.broken.clear();
    const { calls, outputs, record, report } = await reruns.rerun(first.run_id, 'failed');
    expect(calls).to.deep.equal(['each[1]', 'each[2]']);
    expect(outputs).to.deep.equal({ each: ['a', 'b', 'c'] });
    expect(record.result).to.include({ tasks_executed: 2 });
    expect(report?.runs).to.deep.equal([
      {
        task_id: 'each',
        reason: 'has items that have not succeeded',
        reusable_items: 1,
        items: 3,
        repeats: 0,
      },
    ]);
    const items = reruns.events.flatMap((event) =>
      event.kind === 'item' ? [[event.item, event.attempt, event.reused]] : [],
    );
    expect(items).to.have.deep.members([
      [0, 0, true],
      [1, 1, undefined],
      [2, 1, undefined],
    ]);
  });

  it('reuses the items that are as they were when the list was fixed, added to, or shortened', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(LIST, { inputs: list('a', 'b', 'c', 'd') });
    const fixed = [
      [list('a', 'X', 'c', 'Y'), ['each[1]', 'each[3]']],
      [list('new', 'a', 'b', 'c', 'd'), ['each[0]']],
      [list('a', 'b', 'new', 'c', 'd'), ['each[2]']],
      [list('a', 'b', 'd'), []],
      [{ list: [] }, []],
    ] as const;
    for (const [inputs, expected] of fixed) {
      const { calls, outputs } = await reruns.fix(run_id, { inputs: { list: [...inputs.list] } });
      expect(calls).to.deep.equal(expected);
      expect(outputs).to.deep.equal({ each: inputs.list.map(({ name }) => name) });
    }
  });

  it('compares only what is read of an item', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(LIST, { inputs: { list: [{ name: 'a', seen: 1 }] } });
    const { calls } = await reruns.fix(run_id, { inputs: { list: [{ name: 'a', seen: 2 }, { name: 'b' }] } });
    expect(calls).to.deep.equal(['each[1]']);
  });

  it('runs all items when their inputs read something else besides, or their definition changed', async () => {
    const reruns = new Reruns();
    const tasks = LIST.replace('{{item.name}}', '{{item.name}}{{params.p}}');
    const given = { inputs: list('a', 'b'), params: { p: '1' } };
    reruns.broken.add('each[1]');
    const { run_id } = await reruns.run(tasks, given, 'params: {p: {}},');
    reruns.broken.clear();
    expect((await reruns.fix(run_id, { params: { p: '2' } })).outputs).to.deep.equal({ each: ['a2', 'b2'] });
    const pipeline = reruns.parse(tasks.replace('{{params.p}}', '{{params.p}}!'), given, 'params: {p: {}},');
    expect((await reruns.fix(run_id, { pipeline })).calls).to.deep.equal(['each[0]', 'each[1]']);
  });

  it('reuses the items whose values another task gives again', async () => {
    const reruns = new Reruns();
    const tasks = (values: string): string =>
      `{id: a, tool: echo, inputs: {text: [${values}]}}, {id: each, tool: echo, parallel_over: "{{a.output}}", inputs: {text: "{{item}}"}}`;
    const { run_id } = await reruns.run(tasks('1, 2, 3'));
    const { calls, outputs } = await reruns.fix(run_id, { pipeline: reruns.parse(tasks('1, 9, 3')) });
    expect(calls).to.deep.equal(['a', 'each[1]']);
    expect(outputs).to.deep.include({ each: [1, 9, 3] });
  });

  it('reuses what items stored, once', async () => {
    const reruns = new Reruns();
    const tasks = `{id: each, tool: store, parallel_over: "{{pipeline.inputs.list}}", inputs: {key: log, value: "{{item.name}}", append: "{{item.append}}"}},
      {id: read, tool: echo, await: [each], inputs: {text: "{{session.log}}"}}`;
    const inputs = {
      list: ['a', 'b', 'c'].map((name) => ({ name, append: name === 'b' ? 'nonsense' : true })),
    };
    const first = await reruns.run(tasks, { inputs });
    expect(first.status).to.equal('failed');
    const fixed = { list: names('a', 'b', 'c').map((item) => ({ ...item, append: true })) };
    const { outputs } = await reruns.fix(first.run_id, { inputs: fixed });
    expect(outputs).to.deep.include({ read: ['a', 'b', 'c'] });
  });

  it('from "failed" calls the items again whose errors were collected, and what read them', async () => {
    const reruns = new Reruns();
    const tasks = `${LIST.replace('tool: echo', 'tool: echo, on_item_error: collect')}, {id: end, tool: echo, inputs: {text: "{{each.output}}"}}`;
    reruns.broken.add('each[1]');
    const first = await reruns.run(tasks, { inputs: list('a', 'b', 'c') });
    expect(first.status).to.equal('succeeded');
    reruns.broken.clear();
    const { calls, outputs, report } = await reruns.rerun(first.run_id, 'failed');
    expect(calls).to.deep.equal(['each[1]', 'end']);
    expect(report?.reused).to.deep.equal([]);
    expect(report?.runs.map(({ task_id, reason }) => `${task_id} ${reason}`)).to.deep.equal([
      'each has items that have not succeeded',
      'end depends on "each"',
    ]);
    expect(outputs).to.deep.equal({ each: ['a', 'b', 'c'], end: ['a', 'b', 'c'] });
  });
});

describe('RunRegistry.rerun of a rerun with changes (D60)', () => {
  it('reuses what the first rerun did not reach, unless that has read something else', async () => {
    const reruns = new Reruns();
    const tasks = `
      {id: a, tool: echo, inputs: {text: "{{params.p}}"}}, {id: x, tool: echo, inputs: {text: X}},
      {id: b, tool: echo, await: [x], inputs: {text: "{{a.output}}"}}, {id: c, tool: echo, await: [x], inputs: {text: C}}`;
    const first = await reruns.run(tasks, { params: { p: '1' } }, 'params: {p: {}},');
    reruns.broken.add('x');
    const second = await reruns.fix(first.run_id, { params: { p: '2' }, from: 'x' });
    expect(second.record).to.include({ status: 'failed', error: 'x is broken' });
    reruns.broken.clear();
    const third = await reruns.rerun(second.record.run_id, 'failed');
    expect(third.calls).to.deep.equal(['x', 'b', 'c']);
    expect(third.outputs).to.deep.equal({ a: '2', x: 'X', b: '2', c: 'C' });
  });

  it('keeps the items of both runs', async () => {
    const reruns = new Reruns();
    const inputs = { list: names('a', 'b', 'c') };
    for (const item of ['each[1]', 'each[2]']) reruns.broken.add(item);
    const first = await reruns.run(LIST, { inputs });
    reruns.broken.delete('each[1]');
    const second = await reruns.rerun(first.run_id, 'failed');
    expect(second.calls).to.deep.equal(['each[1]', 'each[2]']);
    reruns.broken.clear();
    const third = await reruns.rerun(second.record.run_id, 'failed');
    expect(third.calls).to.deep.equal(['each[2]']);
    expect(third.outputs).to.deep.equal({ each: ['a', 'b', 'c'] });
  });
});
