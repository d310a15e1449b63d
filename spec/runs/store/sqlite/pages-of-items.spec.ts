import { expect } from 'chai';
import { MemoryPool } from '../../../../lib/common/memory/memory-pool.js';
import type { TaskQuery } from '../../../../lib/runs/tasks/task-record.js';
import { requireBuild } from '../../../project/files.js';
import { catchRejection } from '../../../support/rejection.js';
import { readAsLittleAsPossible } from '../memory/sparse-facts.js';
import { type Keeping, KEEPINGS, KeptReruns } from '../suites/kept-reruns.js';

const ITEMS = 3000;
const TEXT =
  'a text of which there are very many, so that the facts of their calls are in several parts. '.repeat(2);

/** A fan-out over a list from outside, whose items may fail; one over its output; and a task that reads another. */
const PIPELINE = `{id: spec, goal: g, inputs: {list: []}, tasks: [
  {id: each, tool: work, parallel_over: "{{pipeline.inputs.list}}", on_item_error: collect, retry: 1, retry_delay: 0.001,
   inputs: {text: "{{item}} ${TEXT}"}},
  {id: again, tool: work, parallel_over: "{{each.output}}", inputs: {text: "{{item}}"}},
  {id: last, tool: work, inputs: {text: "{{again.output}}"}}]}`;

const PAGES: Readonly<Record<string, TaskQuery>> = {
  'the first page': {},
  'the first page, without values': { values: false, limit: 500 },
  'a page in the middle': { cursor: `t${(1490).toString(36)}`, limit: 100 },
  'the last page': { cursor: `t${(ITEMS - 30).toString(36)}` },
  'a page of one item': { cursor: `t${(777).toString(36)}`, limit: 1, whole: true },
  'a page after the last item': { cursor: `t${(ITEMS + 5).toString(36)}` },
  'a page of failed items': { status: 'failed' },
};

describe('A page of the items of a large run that is not in memory (D59, D74)', () => {
  let keeping: Keeping;
  let live: KeptReruns;
  let runId: string;

  before(() => requireBuild());

  before(async () => {
    keeping = storeInFile();
    live = await KeptReruns.open(keeping);
    for (const item of [0, 3, 777, 1500, 1501, ITEMS - 1]) live.broken.add(`each[${item}]`);
    const list = Array.from({ length: ITEMS }, (_, item) => item);
    runId = await live.registry.submit({ pipeline: live.parse(PIPELINE), inputs: { list } });
    await live.registry.settled(runId);
    await live.registry.close(0);
  });

  after(() => keeping.folder.remove());

  function storeInFile(): Keeping {
    const create = KEEPINGS['SQLite'];
    if (create === undefined) throw new Error('there is no store in a file');
    return create();
  }

  for (const [title, query] of Object.entries(PAGES)) {
    for (const taskId of ['each', 'again', 'last']) {
      it(`is what the run had shown of "${taskId}": ${title}`, async () => {
        const memory = new MemoryPool({ total: 500_000_000 });
        const runs = await KeptReruns.open(keeping, { memory });
        try {
          const page = await runs.registry.queries.readItems(runId, taskId, query, ['default']);
          expect(JSON.stringify(page)).to.equal(
            JSON.stringify(await live.registry.items(runId, taskId, query)),
          );
          if (query.status !== undefined) return;
          expect(() => runs.registry.record(runId)).to.throw('there is no run');
          expect(memory.usedBytes).to.equal(0);
        } finally {
          await runs.registry.close(0);
        }
      });
    }
  }

  it('is refused as that of a run in memory', async () => {
    const memory = new MemoryPool({ total: 500_000_000 });
    const runs = await KeptReruns.open(keeping, { memory });
    const refusal = async (id: string, taskId: string, query: TaskQuery, tenant = 'default') => {
      const { code } = (await catchRejection(
        runs.registry.queries.readItems(id, taskId, query, [tenant]),
      )) as { readonly code?: string };
      return code;
    };
    expect(await refusal(runId, 'each', {}, 'other')).to.equal('run_not_found');
    expect(await refusal('none', 'each', {})).to.equal('run_not_found');
    expect(await refusal(runId, 'none', {})).to.equal('task_not_found');
    expect(await refusal(runId, 'each', { sub_pipeline: 'sub' })).to.equal('task_not_found');
    expect(memory.usedBytes).to.equal(0);
    expect(await refusal(runId, 'each', { cursor: 'x' })).to.equal('invalid_request');
    // It is in memory now.
    expect(await refusal(runId, 'each', {}, 'other')).to.equal('run_not_found');
    await runs.registry.close(0);
  });

  it('is refused when there is no memory for it, and takes none', async () => {
    const memory = new MemoryPool({ total: 100_000 });
    const runs = await KeptReruns.open(keeping, { memory });
    const error = await catchRejection(runs.registry.queries.readItems(runId, 'each', {}, null));
    expect(error).to.have.property('code', 'memory_full');
    expect(memory.usedBytes).to.equal(0);
    await runs.registry.close(0);
  });

  for (const [title, isRerun] of [
    ['went on without some of its facts, whose numbers it names', false],
    ['reuses items of an earlier one', true],
  ] as const) {
    it(`is shown from the whole of a run that ${title}`, async () => {
      const inMemory = KEEPINGS['memory']?.();
      if (inMemory === undefined) throw new Error('there is no store in memory');
      const first = await KeptReruns.open(inMemory);
      first.broken.add('each[1]');
      const tasks =
        '{id: each, tool: work, parallel_over: "{{pipeline.inputs.list}}", inputs: {text: "{{item}}"}}';
      const id = await first.run(tasks, { inputs: { list: [1, 2, 3] } });
      first.broken.clear();
      const shown = isRerun ? await first.rerun(id) : id;
      if (!isRerun) first.store.log(id, 'default').append({ kind: 'diverged', at: 1, from: 1000 });
      await first.store.idle();
      const runs = await KeptReruns.open(inMemory);
      readAsLittleAsPossible(runs.store);
      const page = await runs.registry.queries.readItems(shown, 'each', { limit: 1 }, null);
      expect(page).to.deep.equal(await first.registry.items(shown, 'each', { limit: 1 }));
      expect(runs.registry.record(shown).settled).to.equal(true);
      inMemory.folder.remove();
    });
  }
});
