import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Steps } from '../../../lib/common/scheduling/steps.js';
import type { RunRegistry } from '../../../lib/runs/registry.js';
import type { ItemPage, TaskQuery, TaskRecord } from '../../../lib/runs/tasks/task-record.js';
import { cases } from '../../support/measuring/cases.js';
import { settle } from '../../support/deferred.js';
import { readAsLittleAsPossible } from './memory/sparse-facts.js';
import { KEEPINGS, KeptReruns } from './suites/kept-reruns.js';

/** Lists by their lengths. */
const LISTS = 'inputs: {list0: [], list1: [7], list2: [7, 8], list3: [1, 2, 3], list4: [1, 1, 2, 3]}';

/** A condition over something given, over the item of a fan-out, or over the state of an earlier task. */
function toWhen(
  condition: string | undefined,
  { reads, isFanOut }: { readonly reads: number | undefined; readonly isFanOut: boolean },
): string {
  if (condition === 'item') return isFanOut ? 'when: {value: "{{item}}", not: {enum: [2, 8]}}, ' : '';
  if (condition === 'state')
    return reads === undefined ? '' : `when: {value: "{{t${reads}.status ?? 1}}", not: {const: failed}}, `;
  return condition === undefined ? '' : `when: "{{${condition}}}", `;
}

/** Rounds whose condition never holds for some tasks, and in the first round for others. */
function toRepeat(index: number, atMost: number): string {
  const until = index % 2 === 0 ? '{{this.output ?? true}}' : '{{this.output.nothing ?? null}}';
  return `repeat: {until: "${until}", every: 1ms, at_most: ${atMost}}, `;
}

/** Long enough for all that is not stuck. */
const TIMEOUT = 'timeout: 50ms,';

/** A task in flow style. It may read what an earlier one returned. */
const taskOf = (index: number): fc.Arbitrary<string> =>
  fc
    .record({
      reads: index === 0 ? fc.constant(undefined) : fc.option(fc.nat(index - 1), { nil: undefined }),
      session: fc.boolean(),
      key: fc.constantFrom(undefined, 'list', 'other'),
      items: fc.option(fc.nat(4), { nil: undefined }),
      collects: fc.boolean(),
      retries: fc.nat(1),
      cached: fc.boolean(),
      nested: fc.boolean(),
      file: fc.boolean(),
      condition: fc.constantFrom(
        undefined,
        undefined,
        'pipeline.inputs.list1',
        'pipeline.inputs.list0',
        'item',
        'state',
      ),
      tolerates: fc.boolean(),
      hasDefault: fc.boolean(),
      repeats: fc.constantFrom(undefined, undefined, 1, 3),
    })
    .map(({ reads, session, key, items, collects, retries, cached, nested, file, ...decisions }) => {
      const { condition, tolerates, hasDefault, repeats } = decisions;
      const output = `{{t${reads}.output${hasDefault ? ' ?? 1' : ''}}}`;
      const text = reads === undefined ? `"${session ? '{{session.given}}' : index}"` : `"${output}"`;
      const when = toWhen(condition, { reads, isFanOut: items !== undefined });
      const fanOut =
        items === undefined
          ? ''
          : `parallel_over: "{{pipeline.inputs.list${items}}}", ${collects ? 'on_item_error: collect, ' : ''}`;
      const item = items === undefined ? text : '"{{item}}"';
      const stored = key === undefined ? '' : `, key: ${key}`;
      const written = file && items === undefined ? `, file: f${index}.txt` : '';
      const after = nested && reads !== undefined ? `await: [t${reads}], ` : '';
      const onError = tolerates ? 'on_error: continue, ' : '';
      const common = `id: t${index}, retry: ${retries}, retry_delay: 0.001, ${when}${onError}${after}${fanOut}`;
      if (!nested) {
        const isRepeated = repeats !== undefined && items === undefined;
        const repeat = isRepeated ? toRepeat(index, repeats) : '';
        const cache = cached && key === undefined && !isRepeated ? 'cache: true, ' : '';
        return `{${common}${cache}${repeat}tool: work, inputs: {text: ${item}${stored}${written}}}`;
      }
      const pipeline = `{id: inner, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: work, inputs: {text: 1}}]}`;
      return `{${common}tool: run_pipeline, inputs: {inputs: {v: ${items === undefined ? 1 : item}}, pipeline: ${pipeline}}}`;
    });

const tasksOf = (max: number): fc.Arbitrary<string> =>
  fc
    .integer({ min: 1, max })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => taskOf(index))))
    .map((tasks) => tasks.join(', '));

/** Lists of handlers, of which some fail or read what is missing, as further fields of a pipeline or of a plan. */
const handlersReading = (...values: string[]): fc.Arbitrary<string> =>
  fc
    .record({
      lists: fc.subarray(['on_success', 'on_failure', 'on_cancel', 'finally']),
      isFanOut: fc.boolean(),
      reads: fc.constantFrom(...values.map((value) => `"{{${value}}}"`)),
      key: fc.constantFrom('', ', key: list'),
    })
    .map(({ lists, isFanOut, reads, key }) => {
      const over = isFanOut ? 'parallel_over: "{{pipeline.inputs.list2}}", ' : '';
      const text = isFanOut ? '"{{item}}"' : reads;
      const listOf = (list: string): string =>
        `${list}: [{id: ${list}_a, tool: work, ${over}inputs: {text: ${text}${key}}},
        {id: ${list}_b, tool: work, await: [${list}_a], inputs: {text: ${reads}}}], `;
      return lists.map(listOf).join('');
    });

const scenarios = fc.record({
  handlers: handlersReading('run.status', 't0.output ?? 0', 't0.output'),
  handlersOfPlan: handlersReading(
    'run.status',
    'run.error ?? 0',
    'session.list ?? 0',
    'pipeline.inputs.given',
  ),
  first: tasksOf(4),
  second: tasksOf(2),
  isPlan: fc.boolean(),
  broken: fc.array(
    fc.constantFrom(
      't0',
      't1',
      't2',
      't0[0]',
      't1[1]',
      't0[2]',
      'x',
      'on_failure_a',
      'finally_a[1]',
      'finally_b',
    ),
    { maxLength: 3 },
  ),
  cancel: fc.option(fc.record({ after: fc.nat(4), force: fc.boolean() }), { nil: undefined }),
  /** A task whose tool waits until the time of the run is over, or of its sub-pipeline. */
  stuck: fc.option(fc.record({ task: fc.constantFrom('t0', 't1', 'x'), part: fc.boolean() }), {
    nil: undefined,
  }),
  from: fc.constantFrom(undefined, 'failed', 't0'),
  /** A sub-pipeline with a condition that holds, does not hold, or cannot be looked at. */
  when: fc.option(
    fc.record({
      part: fc.constantFrom('a', 'b'),
      reads: fc.constantFrom('given', 'empty', 'given.x.y'),
    }),
    { nil: undefined },
  ),
});

/** Shows definitions without their texts. */
function* noYaml(): Steps<null> {
  yield;
  return null;
}

/** Each view of a run, as JSON text. */
async function showAll({ queries }: RunRegistry, runId: string): Promise<Record<string, string>> {
  const close = await queries.open(runId, null);
  try {
    const record = queries.record(runId);
    const { tasks } = await queries.tasks(runId, { limit: 500 });
    const views: Record<string, unknown> = {
      record,
      tasks,
      version: queries.version(runId),
      events: queries.events(runId).readAfter(0, 10_000),
      blackboard: await queries.blackboard(runId),
      definition: await queries.definition(runId, noYaml),
      failure: queries.failure(runId),
      failedCalls: await queries.failedCalls(runId, { most: 50 }),
      artifacts: queries.artifacts(runId).page({}),
      // Warnings name places in the text of a definition, which is another one when it is read again.
      report: { ...(await queries.rerunReport(runId)), warnings: [] },
      inspection: (await queries.inspection(runId)).log.readAfter(0, 10_000),
    };
    for (const { task_id, sub_pipeline, items } of tasks) {
      if (items === null) continue;
      const query = { limit: 500, ...(sub_pipeline !== undefined && { sub_pipeline }) };
      views[`items of ${task_id}`] = await queries.items(runId, task_id, query);
    }
    for (const from of [undefined, 'failed']) {
      const previewed = await queries
        .previewRerun(runId, { from })
        .catch((error: unknown) => ({ error: String(error) }));
      views[`rerun from ${from}`] = { ...previewed, warnings: [] };
    }
    return Object.fromEntries(Object.entries(views).map(([name, view]) => [name, JSON.stringify(view)]));
  } finally {
    close();
  }
}

/** Reads every page of the items of every fan-out, as JSON text. */
async function pageItems(
  tasks: readonly TaskRecord[],
  read: (taskId: string, query: TaskQuery) => Promise<ItemPage>,
): Promise<string[]> {
  const pages: string[] = [];
  for (const { task_id, sub_pipeline } of tasks) {
    for (const values of [true, false]) {
      for (let cursor: string | undefined; ; ) {
        const place = sub_pipeline === undefined ? {} : { sub_pipeline };
        const page = await read(task_id, { limit: 2, values, cursor, ...place });
        pages.push(JSON.stringify(page));
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
    }
  }
  return pages;
}

describe('A settled run that is folded from its facts (D74)', () => {
  it('is shown in every view, byte by byte, as its actors had shown it', async () => {
    await fc.assert(
      fc.asyncProperty(
        scenarios,
        async ({
          first,
          second,
          isPlan,
          broken,
          cancel,
          stuck,
          from,
          when,
          handlers: ends,
          handlersOfPlan,
        }) => {
          const keeping = KEEPINGS['memory']?.();
          if (keeping === undefined) throw new Error('there is no store in memory');
          const live = await KeptReruns.open(keeping);
          for (const call of broken) live.broken.add(call);
          if (stuck !== undefined) live.stuck.add(stuck.task);
          const [whole, ofPart] =
            stuck?.part === true ? ['', TIMEOUT] : [stuck === undefined ? '' : TIMEOUT, ''];
          const session = { given: 'value' };
          const part = (id: string, tasks: string): string =>
            `{id: ${id}, goal: g, ${id === when?.part ? `when: "{{pipeline.inputs.${when.reads}}}", ` : ''}pipeline: {id: p-${id}, goal: g, ${ofPart} ${ends} ${LISTS}, tasks: [${tasks}]}}`;
          const runId = isPlan
            ? await live.registry.submitPlan({
                plan: live.parsePlan(
                  `{id: both, goal: g, inputs: {given: 1, empty: 0, list2: [1, 2]}, ${whole} ${handlersOfPlan} plan_concurrency: 2, sub_pipelines: [${part('a', first)}, ${part('b', second)}]}`,
                ),
                session,
              })
            : await live.registry.submit({
                pipeline: live.parse(
                  `{id: spec, goal: g, ${whole || ofPart} ${ends} ${LISTS}, tasks: [${first}]}`,
                ),
                session,
                collect_events: true,
              });
          if (cancel !== undefined) {
            await settle(cancel.after);
            await live.registry.cancel(runId, { force: cancel.force }).catch(() => undefined);
          }
          await live.registry.settled(runId);
          live.broken.clear();
          live.stuck.clear();
          const rerun = await live.registry
            .rerun(runId, from === undefined ? {} : { from: isPlan && from === 't0' ? 'a' : from })
            .catch(() => runId);
          await live.registry.settled(rerun);
          await live.store.idle();
          const folded = await KeptReruns.open(keeping);
          const paged = await KeptReruns.open(keeping);
          readAsLittleAsPossible(paged.store);
          for (const id of new Set([runId, rerun])) {
            const { tasks } = await live.registry.tasks(id, { limit: 500 });
            const pages = await pageItems(tasks, (...page) =>
              paged.registry.queries.readItems(id, ...page, null),
            );
            expect(pages).to.deep.equal(
              await pageItems(tasks, (...page) => live.registry.items(id, ...page)),
            );
            if (id === runId) expect(() => paged.registry.record(id)).to.throw('there is no run');
            const [shown, expected] = [await showAll(folded.registry, id), await showAll(live.registry, id)];
            for (const [view, text] of Object.entries(expected)) expect(shown[view], view).to.equal(text);
          }
          expect(folded.calls).to.deep.equal([]);
          await folded.registry.close(0);
          await paged.registry.close(0);
          keeping.folder.remove();
        },
      ),
      cases(60),
    );
  });
});
