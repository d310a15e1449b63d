import { expect } from 'chai';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import type { RerunRequest } from '../../../lib/runs/rerun/rerun.js';
import { requireBuild } from '../../project/files.js';
import { settle } from '../../support/deferred.js';
import { type Keeping, KEEPINGS, KeptReruns, type Surroundings } from './suites/kept-reruns.js';

const LIST = Array.from({ length: 3000 }, (_, at) => `${at} ${'x'.repeat(200)}`);
const EACH = `{id: each, tool: work, parallel_over: "{{pipeline.inputs.l}}", inputs: {text: "{{item}}"}}`;
const JOIN = '{id: join, tool: work, await: [each], inputs: {text: "{{each.output.length}}"}}';

/** A run that is rerun: what is broken at first, and what the rerun changes. */
interface Case {
  readonly tasks?: string;
  readonly plan?: string;
  readonly inputs?: Record<string, unknown>;
  readonly broken: readonly string[];
  /** The tasks that are still broken while the run is rerun. */
  readonly stillBroken?: readonly string[];
  readonly request?: (runs: KeptReruns) => RerunRequest;
  /** The calls of a further rerun with the next process, in which nothing is broken. */
  readonly further: readonly string[];
}

const PLAN = `{id: plan, goal: work together, sub_pipelines: [
  {id: one, stores: [k], pipeline: {id: p1, goal: g, tasks: [{id: a, tool: work, inputs: {text: A, key: k}}]}},
  {id: two, reads: [k], pipeline: {id: p2, goal: g, tasks: [
    {id: b, tool: work, inputs: {text: "{{session.k}}"}}, {id: c, tool: work, await: [b], inputs: {text: C}}]}}]}`;

const CASES: Readonly<Record<string, Case>> = {
  'a task': {
    tasks: '{id: a, tool: work, inputs: {text: A}}, {id: b, tool: work, inputs: {text: "{{a.output}}B"}}',
    broken: ['b'],
    stillBroken: ['b'],
    further: ['b'],
  },
  'many items, of which some have not succeeded': {
    tasks: `${EACH}, ${JOIN}`,
    inputs: { l: LIST },
    broken: ['each[7]', 'each[2999]'],
    stillBroken: ['each[2999]'],
    further: ['each[2999]', 'join'],
  },
  'a fan-out as a whole, in parts': {
    tasks: `${EACH}, ${JOIN}`,
    inputs: { l: LIST },
    broken: ['join'],
    stillBroken: ['join'],
    further: ['join'],
  },
  'items that write to the blackboard': {
    tasks: `{id: each, tool: work, parallel_over: "{{pipeline.inputs.l}}", inputs: {text: "{{item}}", key: k}},
      {id: read, tool: work, await: [each], inputs: {text: "{{session.k}}"}}`,
    inputs: { l: ['p', 'q', 'r'] },
    broken: ['each[1]'],
    stillBroken: ['read'],
    further: ['read'],
  },
  'a fan-out whose errors were collected': {
    tasks: `{id: each, tool: work, on_item_error: collect, parallel_over: "{{pipeline.inputs.l}}", inputs: {text: "{{item}}"}},
      {id: last, tool: work, await: [each], inputs: {text: done}}`,
    inputs: { l: ['p', 'q', 'r'] },
    broken: ['each[1]', 'last'],
    stillBroken: ['last'],
    request: () => ({ from: 'last' }),
    further: ['each[1]', 'last'],
  },
  'what another definition leaves as it was': {
    tasks: '{id: a, tool: work, inputs: {text: A}}, {id: b, tool: work, inputs: {text: "{{a.output}}B"}}',
    broken: ['b'],
    stillBroken: ['c'],
    request: (runs) => ({
      pipeline: runs.parse(
        `{id: other, goal: be changed, tasks: [{id: a, tool: work, inputs: {text: A}},
          {id: b, tool: work, inputs: {text: "{{a.output}}b"}}, {id: c, tool: work, await: [b], inputs: {text: C}}]}`,
      ),
    }),
    further: ['c'],
  },
  'what other values leave as it was': {
    tasks: `{id: a, tool: work, inputs: {text: "{{pipeline.inputs.x}}"}}, {id: b, tool: work, inputs: {text: "{{pipeline.inputs.y}}"}},
      {id: c, tool: work, await: [a, b], inputs: {text: C}}`,
    inputs: { x: LIST, y: 'old', z: 1 },
    broken: ['c'],
    stillBroken: ['c'],
    request: () => ({ inputs: { y: 'new' } }),
    further: ['c'],
  },
  'a plan': { plan: PLAN, broken: ['c'], stillBroken: ['c'], further: ['c'] },
  'what another plan leaves as it was': {
    plan: PLAN,
    broken: ['c'],
    stillBroken: ['c'],
    request: (runs) => ({ plan: runs.parsePlan(PLAN.replace('text: C', 'text: D')) }),
    further: ['c'],
  },
};

for (const [place, keep] of Object.entries(KEEPINGS)) {
  describe(`Reruns that are kept in ${place} (D60, D68)`, () => {
    let keeping: Keeping;
    let opened: KeptReruns | undefined;

    before(() => requireBuild());

    beforeEach(() => {
      keeping = keep();
    });

    afterEach(async () => {
      await opened?.registry.close(0);
      opened = undefined;
      keeping.folder.remove();
    });

    /** Opens the store in the next process; the one before has ended. */
    async function open(surroundings: Surroundings = {}): Promise<KeptReruns> {
      await opened?.registry.close(0);
      opened = await KeptReruns.open(keeping, surroundings);
      return opened;
    }

    function start(runs: KeptReruns, { tasks = '', plan, inputs }: Case): Promise<string> {
      const values = inputs && { inputs: inputs as Record<string, never> };
      return plan === undefined ? runs.run(tasks, values) : runs.runPlan(plan, values);
    }

    for (const [title, each] of Object.entries(CASES)) {
      it(`are rebuilt without the run that they repeat, and reuse ${title}`, async () => {
        const first = await open();
        for (const name of each.broken) first.broken.add(name);
        const origin = await start(first, each);
        first.broken.clear();
        for (const name of each.stillBroken ?? []) first.broken.add(name);
        const rerun = await first.rerun(origin, each.request?.(first));
        first.registry.remove(origin);
        expect(await first.keptRuns()).to.deep.equal([rerun]);
        const shown = await first.show(rerun);
        const second = await open();
        expect(second.calls).to.deep.equal([]);
        expect(await second.show(rerun)).to.deep.equal(shown);
        const last = await second.rerun(rerun);
        expect(second.calls).to.deep.equal(each.further);
        expect(second.registry.record(last).status).to.equal('succeeded');
      });
    }

    it('leave nothing of the runs that they repeat, however long their line is', async () => {
      const runs = await open();
      runs.broken.add('b');
      let last = await runs.run(
        '{id: a, tool: work, inputs: {text: A}}, {id: b, tool: work, await: [a], inputs: {text: B}}',
      );
      for (let count = 0; count < 50; count++) {
        const earlier = last;
        last = await runs.rerun(earlier);
        runs.registry.remove(earlier);
      }
      expect(await runs.keptRuns()).to.deep.equal([last]);
      const next = await open();
      const end = await next.rerun(last);
      expect(next.calls).to.deep.equal(['b']);
      expect(next.registry.record(end).result).to.deep.include({ outputs: { a: 'A', b: 'B' } });
    });

    it('are rebuilt as they were when a secret has changed before them, or after them', async () => {
      const tasks = `{id: a, tool: work, inputs: {text: "{{secrets.S}}"}}, {id: b, tool: work, inputs: {text: B}},
        {id: c, tool: work, await: [a, b], inputs: {text: C}}`;
      const secrets = { S: 'the first value' };
      const first = await open({ secrets });
      first.broken.add('c');
      const origin = await first.run(tasks);
      secrets.S = 'another value of it';
      const changed = await first.rerun(origin);
      expect(first.calls.toSorted()).to.deep.equal(['a', 'c']);
      const unchanged = await first.rerun(changed);
      expect(first.calls).to.deep.equal(['c']);
      const shown = await Promise.all([changed, unchanged].map((id) => first.show(id)));
      const second = await open({ secrets: { S: 'the third value' } });
      expect(await Promise.all([changed, unchanged].map((id) => second.show(id)))).to.deep.equal(shown);
    });

    it('find the files that they reuse when the folder of the files was moved', async () => {
      const first = await open();
      first.broken.add('b');
      const origin = await first.run(
        '{id: a, tool: work, inputs: {text: A, file: a.txt}}, {id: b, tool: work, await: [a], inputs: {text: B}}',
      );
      const last = await first.rerun(origin);
      await first.store.idle();
      renameSync(keeping.folder.at(keeping.files), keeping.folder.at('moved'));
      const second = await open({ files: 'moved' });
      for (const id of [origin, last]) {
        await second.registry.queries.open(id, null);
        const files = second.registry.artifacts(id);
        const opened = await files.open(files.find('a.txt') ?? { path: 'nowhere' });
        expect(await opened.readFile('utf8')).to.equal('"A"');
        await opened.close();
      }
    });

    it('and the run that they repeat keep their files when both are read at once', async () => {
      const tasks =
        '{id: a, tool: work, inputs: {text: A, file: a.txt}}, {id: b, tool: work, await: [a], inputs: {text: B}}';
      const first = await open();
      first.broken.add('b');
      const origin = await first.run(tasks);
      const rerun = await first.rerun(origin);
      const second = await open();
      const ids = [rerun, origin];
      await Promise.all(ids.map((id) => second.registry.queries.open(id, null)));
      for (const id of ids) {
        expect(second.registry.record(id).artifacts.map(({ name }) => name)).to.deep.equal(['a.txt']);
        expect(second.registry.artifacts(id).find('a.txt')).to.have.nested.property('artifact.name', 'a.txt');
        await second.rerun(id);
      }
    });

    it('have the files that they reuse, which go with the last run that has them', async () => {
      const tasks =
        '{id: a, tool: work, inputs: {text: A, file: a.txt}}, {id: b, tool: work, await: [a], inputs: {text: B, file: b.txt}}, {id: c, tool: work, await: [b], inputs: {text: C}}';
      const first = await open();
      for (const name of ['b', 'c']) first.broken.add(name);
      const origin = await first.run(tasks);
      first.broken.delete('b');
      const middle = await first.rerun(origin);
      const last = await first.rerun(middle);
      for (const id of [origin, middle]) first.registry.remove(id);
      expect(await first.keptRuns()).to.deep.equal([last]);
      const second = await open();
      await second.registry.queries.open(last, null);
      const { artifacts } = second.registry.record(last);
      expect(artifacts.map(({ name }) => name)).to.deep.equal(['a.txt', 'b.txt']);
      expect(readdirSync(keeping.folder.at(keeping.files)).toSorted()).to.deep.equal(
        [origin, middle].toSorted(),
      );
      const end = await second.rerun(last);
      second.registry.remove(last);
      await settle(20);
      expect(second.registry.record(end).artifacts).to.deep.equal(artifacts);
      second.registry.remove(end);
      while (readdirSync(keeping.folder.at(keeping.files)).length > 0) await settle();
      expect(existsSync(keeping.folder.at(`${keeping.files}/${origin}`))).to.equal(false);
    });
  });
}
