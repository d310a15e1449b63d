import { expect } from 'chai';
import { parsePlan } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';
import { Reruns } from './reruns.js';

const FETCH =
  '{id: fetch, tool: echo, parallel_over: "{{pipeline.inputs.list}}", inputs: {text: "{{item}}"}}';
const ROWS = '{id: rows, tool: echo, inputs: {text: "{{fetch.output}}"}}';
const OTHER = '{id: other, tool: echo, inputs: {text: o}}';
const LIST = { inputs: { list: ['a', 'b', 'c', 'd', 'e'] } };

describe('RunRegistry.rerun from items of a fan-out (D60)', () => {
  it('calls the tool for the named items alone, and runs what depends on the task', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(`${FETCH}, ${ROWS}, ${OTHER}`, LIST);
    const { calls, outputs, report, record } = await reruns.rerun(run_id, 'fetch[2]');
    expect(calls).to.deep.equal(['fetch[2]', 'rows']);
    expect(record.status).to.equal('succeeded');
    expect(outputs).to.deep.include({ fetch: ['a', 'b', 'c', 'd', 'e'] });
    expect(report?.reused).to.deep.equal([{ task_id: 'other' }]);
    expect(report?.runs).to.deep.equal([
      {
        task_id: 'fetch',
        reason: 'has items that are named in "from"',
        reusable_items: 4,
        items: 5,
        repeats: 1,
      },
      {
        task_id: 'rows',
        reason: 'depends on "fetch", of which items are named in "from"',
        reusable_items: 0,
        repeats: 1,
      },
    ]);
  });

  it('says so when items run besides those that are named, because they have not begun', async () => {
    const reruns = new Reruns();
    reruns.broken.add('fetch[1]');
    const { run_id } = await reruns.run(FETCH.replace('tool:', 'fan_out_concurrency: 1, tool:'), LIST);
    reruns.broken.clear();
    const { calls, report } = await reruns.rerun(run_id, 'fetch[1]');
    expect(calls).to.deep.equal(['fetch[1]', 'fetch[2]', 'fetch[3]', 'fetch[4]']);
    expect(report?.runs[0]?.reason).to.equal('has items that are named in "from" or have not succeeded');
  });

  const follow = (id: string, of: string, more = ''): string =>
    `{id: ${id}, tool: echo, parallel_over: "{{${of}.output}}", inputs: {text: "{{item}}${more}"}}`;

  it('calls fan-outs over the items of the task for the same items alone, one after another', async () => {
    const reruns = new Reruns();
    const tasks = `${FETCH}, ${follow('parse', 'fetch')}, ${follow('sum', 'parse')}, ${ROWS}`;
    const { run_id } = await reruns.run(tasks, LIST);
    const { calls, outputs, report } = await reruns.rerun(run_id, 'fetch[2,4]');
    const named = ['fetch', 'parse', 'sum'].flatMap((id) => [`${id}[2]`, `${id}[4]`]);
    expect(calls.sort()).to.deep.equal([...named, 'rows'].sort());
    expect(outputs).to.deep.include({ sum: ['a', 'b', 'c', 'd', 'e'] });
    expect(
      report?.runs.map(({ task_id, reason, items, reusable_items, repeats }) => [
        task_id,
        reason,
        items,
        reusable_items,
        repeats,
      ]),
    ).to.deep.equal([
      ['fetch', 'has items that are named in "from"', 5, 3, 2],
      ['parse', 'depends on "fetch", of which items are named in "from"', 5, 3, 2],
      ['rows', 'depends on "fetch", of which items are named in "from"', undefined, 0, 1],
      ['sum', 'depends on "parse", of which items are named in "from"', 5, 3, 2],
    ]);
  });

  it('calls such a fan-out for all items when it reads something else that runs again', async () => {
    const reruns = new Reruns();
    for (const [more, extra] of [
      ['', ', await: [fetch]'],
      [' of {{fetch.output[0]}}', ''],
      [' in {{rows.output[0]}}', ''],
    ] as const) {
      const parse = follow('parse', 'fetch', more).replace(/}$/, `${extra}}`);
      const { run_id } = await reruns.run(`${FETCH}, ${ROWS}, ${parse}`, LIST);
      const { report, calls } = await reruns.rerun(run_id, 'fetch[2]');
      const counted = report?.runs.find(({ task_id: id }) => id === 'parse');
      expect(counted, more).to.include({ items: 5, reusable_items: 0, repeats: 5 });
      expect(calls.filter((call) => call.startsWith('parse['))).to.have.length(5);
    }
  });

  it('calls such a fan-out for an item that is another one now, and for those that had failed', async () => {
    const reruns = new Reruns();
    const fetch = FETCH.replace('}}"}}', '}}"}, on_item_error: collect}');
    reruns.broken.add('fetch[3]');
    const { run_id } = await reruns.run(`${fetch}, ${follow('parse', 'fetch')}`, LIST);
    reruns.broken.clear();
    const { calls, outputs } = await reruns.rerun(run_id, 'fetch[1]');
    expect(calls.sort()).to.deep.equal(['fetch[1]', 'fetch[3]', 'parse[1]', 'parse[3]']);
    expect(outputs).to.deep.include({ parse: ['a', 'b', 'c', 'd', 'e'] });
  });

  it('takes lists and ranges of items', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(FETCH, LIST);
    expect((await reruns.rerun(run_id, 'fetch[4, 0-1]')).calls.sort()).to.deep.equal([
      'fetch[0]',
      'fetch[1]',
      'fetch[4]',
    ]);
  });

  it('also runs the items that have not succeeded', async () => {
    const reruns = new Reruns();
    reruns.broken.add('fetch[3]');
    const { run_id } = await reruns.run(`${FETCH}, ${ROWS}`, {
      ...LIST,
      options: { fan_out_concurrency: 1 },
    });
    reruns.broken.clear();
    const { calls, outputs } = await reruns.rerun(run_id, 'fetch[1]');
    expect(calls.sort()).to.deep.equal(['fetch[1]', 'fetch[3]', 'fetch[4]', 'rows']);
    expect(outputs).to.deep.include({ fetch: ['a', 'b', 'c', 'd', 'e'] });
  });

  it('is kept: a rerun of the rerun reuses what the first one has not reached', async () => {
    const reruns = new Reruns();
    const { run_id } = await reruns.run(`${FETCH}, ${ROWS}`, LIST);
    reruns.broken.add('fetch[2]');
    const second = await reruns.rerun(run_id, 'fetch[2]');
    expect(second.record.status).to.equal('failed');
    reruns.broken.clear();
    expect((await reruns.rerun(second.record.run_id, 'failed')).calls).to.deep.equal(['fetch[2]', 'rows']);
  });

  it('of a sub-pipeline runs the items, their dependents, and the sub-pipelines that depend on theirs', async () => {
    const reruns = new Reruns();
    const tasks = `[${FETCH},
      {id: keep, tool: store, inputs: {key: kept, value: "{{fetch.output}}"}}, ${OTHER}]`;
    const plan = parsePlan(
      `{id: plan, goal: g, inputs: {list: [a, b, c]}, sub_pipelines: [
        {id: one, goal: g, inputs: [list], stores: [kept], pipeline: {id: one, goal: g, inputs: {list: []}, tasks: ${tasks}}},
        {id: two, goal: g, reads: [kept], pipeline: {id: two, goal: g, tasks: [{id: t, tool: echo, inputs: {text: "{{session.kept}}"}}]}},
        {id: three, goal: g, pipeline: {id: three, goal: g, tasks: [${OTHER}]}}]}`,
      { tools: reruns.tools },
    );
    const id = await reruns.registry.submitPlan({ plan });
    await reruns.registry.settled(id);
    const { calls } = await reruns.rerun(id, 'one/fetch[1]');
    expect(calls).to.deep.equal(['fetch[1]', 't']);
    expect((await reruns.rerun(id, 'one/other')).calls.sort()).to.deep.equal(['other', 't']);
    for (const [from, message] of [
      ['one[1]', 'sub-pipelines have no items: name a task, as in one/TASK[1]'],
      ['one/none', 'the sub-pipeline "one" has no task "none"; its tasks are fetch, keep, other'],
    ] as const)
      expect(await catchRejection(reruns.registry.rerun(id, { from }))).to.include({
        code: 'invalid_request',
        message,
      });
  });

  it('refuses items that there are not, and those of a task that has stored values', async () => {
    const reruns = new Reruns();
    const stores =
      '{id: s, tool: store, parallel_over: "{{pipeline.inputs.list}}", inputs: {key: k, value: "{{item}}", append: true}}';
    const { run_id } = await reruns.run(`${FETCH}, ${OTHER}, ${stores}`, LIST);
    for (const [from, message] of [
      ['fetch[5]', '"fetch" has no item 5: it has 5 items, from 0 to 4'],
      ['fetch[0-9]', '"fetch" has no item 9: it has 5 items, from 0 to 4'],
      ['fetch[]', '"fetch[]" names no items: write their numbers, from 0, as in fetch[2] or fetch[0,4-6]'],
      ['fetch[b]', '"fetch[b]" names no items: write their numbers, from 0, as in fetch[2] or fetch[0,4-6]'],
      [
        'fetch[3-1]',
        '"fetch[3-1]" names no items: write their numbers, from 0, as in fetch[2] or fetch[0,4-6]',
      ],
      ['other[0]', '"other" has no items: it is no fan-out, or has not begun; name the task'],
      [
        's[0]',
        'the items of "s" cannot run again one by one, because they have stored values: name the task',
      ],
      ['none[0]', 'the pipeline has no task "none"; its tasks are fetch, other, s'],
    ] as const)
      expect(await catchRejection(reruns.registry.rerun(run_id, { from }))).to.include({
        code: 'invalid_request',
        message,
      });
  });

  it('counts the calls that had succeeded and are made again, without those of tools that only compute', async () => {
    const reruns = new Reruns();
    const sum = '{id: sum, tool: transform, inputs: {input: "{{rows.output}}", expression: "$count($)"}}';
    const { run_id } = await reruns.run(`${FETCH}, ${ROWS}, ${sum}`, LIST);
    const { report } = await reruns.rerun(run_id, 'fetch');
    expect(report?.runs.map(({ task_id, items, repeats }) => [task_id, items, repeats])).to.deep.equal([
      ['fetch', 5, 5],
      ['rows', undefined, 1],
      ['sum', undefined, 0],
    ]);
  });
});
