import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import type { AnyRun } from '../../../lib/execution/local-executor.js';
import { planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { endSlice, holdSlices } from '../../support/slices.js';
import { describeRun, expectNoGap, KeptTestRun } from './kept-runs.js';

const PIPELINES = {
  'a chain': `{id: a, tool: script, inputs: {value: 1}},
    {id: b, tool: script, inputs: {value: "{{a.output}}"}}, {id: c, tool: script, inputs: {value: "{{b.output}}"}}`,
  'a fan-out of a few at a time': `{id: a, tool: script, inputs: {value: [1, 2, 3, 4, 5]}},
    {id: each, tool: script, parallel_over: "{{a.output}}", fan_out_concurrency: 2, inputs: {ms: "{{item}}", value: "{{item}}"}},
    {id: c, tool: script, inputs: {value: "{{each.output}}"}}`,
  'retries in a fan-out': `{id: a, tool: script, inputs: {value: [1, 2, 0]}},
    {id: each, tool: script, retry: 2, retry_delay: 0.003, parallel_over: "{{a.output}}", fan_out_concurrency: 2,
      inputs: {fails: "{{item}}", value: "{{item}}"}},
    {id: c, tool: script, retry: 1, retry_delay: 0.004, inputs: {fails: 1, value: "{{each.output}}"}}`,
  'values appended to the blackboard': `{id: a, tool: script, inputs: {ms: 3, key: list, value: a}},
    {id: b, tool: script, inputs: {ms: 1, key: list, value: b}},
    {id: c, tool: script, await: [a, b], inputs: {value: "{{session.list}}"}}`,
  'a task that fails beside others': `{id: a, tool: script, inputs: {ms: 2, fails: 1}}, {id: b, tool: script, inputs: {ms: 4, value: 2}},
    {id: c, tool: script, inputs: {value: "{{b.output}}", x: "{{a.output}}"}}`,
  'calls that wait for places of a pool': `{id: a, tool: script, inputs: {value: [1, 0, 2]}}, {id: b, tool: script, pool: erp, inputs: {ms: 3}},
    {id: each, tool: script, pool: erp, retry: 2, retry_delay: 0.002, parallel_over: "{{a.output}}", inputs: {fails: "{{item}}", value: "{{item}}"}},
    {id: c, tool: script, pool: erp, inputs: {value: "{{each.output}}"}}`,
  'errors that are collected': `{id: a, tool: script, inputs: {value: [0, 1, 0]}},
    {id: each, tool: script, parallel_over: "{{a.output}}", on_item_error: collect, inputs: {fails: "{{item}}", value: "{{item}}"}},
    {id: c, tool: script, inputs: {value: "{{each.output}}"}}`,
  'a pipeline inside a task': `{id: a, tool: script, inputs: {value: [1, 2]}},
    {id: each, tool: run_pipeline, parallel_over: "{{a.output}}", inputs: {inputs: {n: "{{item}}"}, pipeline:
      {id: inner, goal: g, inputs: {n: 0}, tasks: [{id: x, tool: script, inputs: {ms: 2, value: "{{pipeline.inputs.n}}", key: inner}},
        {id: y, tool: script, retry: 1, retry_delay: 0.002, inputs: {fails: 1, value: "{{x.output}}"}}]}}},
    {id: c, tool: script, inputs: {value: "{{each.output}}", all: "{{session.inner}}"}}`,
  'pipelines that a tool runs one after the other': `{id: a, tool: script, inputs: {ms: 9, value: 1}},
    {id: each, tool: in_sequence, parallel_over: "{{pipeline.inputs.items2}}", inputs: {n: "{{item}}", pipelines: [
      {id: one, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: script, inputs: {ms: 2, value: 5}}]},
      {id: two, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: script, inputs: {ms: 2, value: "\\\\{{pipeline.inputs.v}}", key: inner}}]}]}},
    {id: c, tool: script, inputs: {value: "{{each.output}}", x: "{{a.output}}"}}`,
  'a task that is tried again after it has run a pipeline': `{id: a, tool: in_sequence, retry: 2, retry_delay: 0.002,
      inputs: {fails: 2, pipelines: [{id: one, goal: g, inputs: {v: 0}, tasks: [
        {id: x, tool: in_sequence, retry: 1, retry_delay: 0.001, inputs: {fails: 1, pipelines: [
          {id: inner, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: script, inputs: {value: 7}}]}]}}]}]}}`,
  'a task that is not tried again, because its pipeline has failed for good': `{id: a, tool: run_pipeline, retry: 2, retry_delay: 0.002,
      inputs: {pipeline: {id: inner, goal: g, tasks: [{id: x, tool: script, retry: 1, inputs: {ms: 2, fails: 1, final: true}}, {id: y, tool: script, inputs: {ms: 9}}]}}}`,
  'a fan-out of 200 items of which the fourth fails at once': `{id: a, tool: script, inputs: {value: [${Array.from({ length: 200 }, (_, at) => (at === 3 ? 1 : 0)).join(', ')}]}},
    {id: each, tool: script, parallel_over: "{{a.output}}", inputs: {ms: 0, fails: "{{item}}"}}`,
  'a plan': planText(
    [
      subPipelineText('c', '{id: t, tool: script, inputs: {value: "{{session.kb}}"}}', 'reads: [kb]'),
      subPipelineText(
        'b',
        '{id: t, tool: script, retry: 1, retry_delay: 0.002, inputs: {fails: 1, ms: 2, key: kb, value: "{{session.ka}}"}}',
        'reads: [ka], stores: [kb]',
      ),
      subPipelineText(
        'a',
        '{id: t, tool: script, inputs: {key: ka, value: 1}}, {id: u, tool: script, inputs: {value: "{{t.output}}"}}',
        'stores: [ka]',
      ),
      subPipelineText('d', '{id: t, tool: script, inputs: {ms: 4, value: 4}}'),
    ],
    'plan_concurrency: 2,',
  ),
  'tasks that are skipped beside other sub-pipelines': planText(
    ['a', 'b', 'c'].map((id) =>
      subPipelineText(
        id,
        `{id: t, tool: script, inputs: {ms: 1, value: 0}}, {id: u, tool: script, when: "{{t.output}}", inputs: {value: 1}},
           {id: v, tool: script, when: {value: "{{u.status}}", const: skipped}, inputs: {value: 2}},
           {id: w, tool: script, when: {value: "{{v.status}}", const: failed}, inputs: {value: 3}}`,
      ),
    ),
    'plan_concurrency: 3,',
  ),
  'sub-pipelines that are skipped beside others': planText(
    [
      subPipelineText('a', '{id: t, tool: script, inputs: {ms: 2, key: ka, value: 0}}', 'stores: [ka]'),
      subPipelineText(
        'b',
        '{id: t, tool: script, inputs: {key: kb}}',
        'when: "{{session.ka[0]}}", stores: [kb]',
      ),
      subPipelineText('c', '{id: t, tool: script, inputs: {value: "{{session.kb}}"}}', 'reads: [kb]'),
      subPipelineText('d', '{id: t, tool: script, inputs: {ms: 3, value: 1}}', 'when: "{{session.ka}}"'),
      subPipelineText(
        'e',
        '{id: t, tool: script, inputs: {ms: 4, value: 1}}, {id: u, tool: script, await: [t]}',
      ),
    ],
    'plan_concurrency: 2,',
  ),
  'a sub-pipeline whose condition cannot be looked at': planText([
    subPipelineText('a', '{id: t, tool: script, inputs: {key: ka, value: 0}}', 'stores: [ka]'),
    subPipelineText('b', '{id: t, tool: script}', 'when: "{{session.ka.x.y}}"'),
  ]),
  'handlers, of which one fails': `{id: a, tool: script, inputs: {value: 1}}, {id: b, tool: script, inputs: {fails: 1, value: "{{a.output}}"}}],
    on_success: [{id: o, tool: script, inputs: {value: 3}}], on_cancel: [{id: u, tool: script, inputs: {ms: 2, key: undone, value: "{{a.output ?? 0}}"}}],
    on_failure: [{id: f, tool: script, retry: 1, retry_delay: 0.002, inputs: {fails: 1, ms: 2, value: "{{run.status}} {{run.error}}"}},
      {id: g, tool: script, await: [f], inputs: {fails: 1}}, {id: h, tool: script, await: [g], inputs: {value: 9}}],
    finally: [{id: z, tool: script, parallel_over: "{{pipeline.inputs.items2}}", inputs: {ms: 2, key: ended, value: "{{item}}"}},
      {id: y, tool: script, when: "{{f.output ?? false}}", inputs: {value: "{{z.output}}"}}`,
  'handlers that run pipelines': `{id: a, tool: script, inputs: {ms: 2, value: 1}}], finally: [{id: z, tool: run_pipeline, inputs: {pipeline:
      {id: inner, goal: g, tasks: [{id: x, tool: script, inputs: {ms: 2, value: 5}}, {id: y, tool: script, inputs: {fails: 1, v: "{{x.output}}"}}],
        on_failure: [{id: f, tool: script, inputs: {ms: 2, value: "{{run.error}}"}}]}}}`,
  'handlers of sub-pipelines': planText(
    ['a', 'b'].map((id) =>
      subPipelineText(
        id,
        `{id: t, tool: script, inputs: {ms: 1, fails: ${id === 'b' ? 1 : 0}}}, {id: u, tool: script, await: [t], inputs: {ms: 2, value: 2}}`,
        '',
        'finally: [{id: z, tool: script, inputs: {ms: 2, value: "{{run.status}}"}}],',
      ),
    ),
    'plan_concurrency: 2,',
  ),
  'handlers of a plan, of which one fails': planText(
    [
      subPipelineText('a', '{id: t, tool: script, inputs: {ms: 2, key: ka, value: 1}}', 'stores: [ka]'),
      subPipelineText(
        'b',
        '{id: t, tool: script, inputs: {fails: 1, ms: 9}}, {id: u, tool: script, await: [t]}',
        '',
        'finally: [{id: z, tool: script, inputs: {ms: 2, value: "{{run.status}}"}}],',
      ),
      subPipelineText('c', '{id: t, tool: script, inputs: {value: "{{session.ka}}"}}', 'reads: [ka]'),
    ],
    `plan_concurrency: 2, on_success: [{id: o, tool: script}], on_cancel: [{id: o2, tool: script, inputs: {ms: 2, value: "{{session.ka ?? 0}}"}}],
      on_failure: [{id: f, tool: script, retry: 1, retry_delay: 0.002, inputs: {fails: 1, ms: 2, value: "{{run.failed_task}} {{run.error}}"}},
        {id: g, tool: script, await: [f], inputs: {fails: 1}}, {id: h, tool: script, await: [g]}],
      finally: [{id: t, tool: script, inputs: {ms: 2, key: ka, value: "{{run.status}}"}}, {id: y, tool: run_pipeline, await: [t], inputs: {pipeline:
        {id: inner, goal: g, tasks: [{id: x, tool: script, inputs: {ms: 2, value: 5}}, {id: y, tool: script, inputs: {fails: 1, v: "{{x.output}}"}}]}}}],`,
  ),
  'rounds with retries': `{id: a, tool: script, retry: 1, retry_delay: 0.002, repeat: {until: {value: "{{this.output}}", minimum: 4}, every: 3ms, at_most: 3},
      inputs: {ms: 2, fails: 1, counts: true}}, {id: b, tool: script, inputs: {ms: 4, value: "{{a.output}}"}}`,
  'rounds of which the last fails, in a pool': `{id: a, tool: script, pool: erp, repeat: {until: {value: "{{this.output}}", minimum: 9}, every: 2ms, at_most: 3}, inputs: {counts: true}},
    {id: b, tool: script, pool: erp, repeat: {until: {value: "{{this.output}}", minimum: 2}, every: 1ms}, inputs: {counts: true, key: list}}`,
  'rounds that run a pipeline': `{id: a, tool: in_sequence, repeat: {until: {value: "{{this.output}}", minimum: 2}, every: 2ms}, inputs: {counts: true, pipelines: [
      {id: one, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: script, inputs: {value: 7, ms: 2}}]}]}},
    {id: c, tool: script, inputs: {value: "{{a.output}}"}}`,
  'a task that cannot begin beside one whose inputs are refused before': `{id: a, tool: script, inputs: {value: 1}},
    {id: b, tool: script, inputs: {value: "{{a.output.missing}}"}}, {id: c, tool: script, await: [a], when: "{{pipeline.inputs.items1[9]}}"}],
    on_failure: [{id: f, tool: script, inputs: {ms: 2, value: "{{run.failed_task}}"}}`,
  'inputs that are refused': `{id: a, tool: script, inputs: {value: 1}}, {id: b, tool: transform, inputs: {input: "{{a.output.n.m}}", expression: "x"}}`,
};

/** Calls whose outcome is a fact, by task, item and attempt. */
function settledCalls(facts: readonly Fact[]): Set<string> {
  const settled = facts.flatMap((fact) =>
    ['succeeded', 'failed', 'retry', 'round'].includes(fact.kind) && 'attempts' in fact && 'item' in fact
      ? [describeCall(`${fact.task}[${fact.item === -1 ? null : fact.item}]`, fact.attempts, fact.place)]
      : [],
  );
  return new Set(settled);
}

function describeCall(key: string, attempt: number, place = ''): string {
  return `${place} ${key}#${attempt}`;
}

/** Disturbs a run in some turn. */
type Disturb = (run: AnyRun) => void;

const CONTROLS: Readonly<Record<string, Disturb>> = {
  'is cancelled': (run) => run.cancel(false),
  'is cancelled by force': (run) => run.cancel(true),
  'is cancelled by force, in several slices,': (run) => {
    endSlice();
    run.cancel(true);
  },
};

describe('A run that is rebuilt from its facts', () => {
  // A run without the crash and one that is rebuilt are cut in the same turns.
  beforeEach(holdSlices);

  for (const [name, tasks] of Object.entries(PIPELINES)) {
    it(`ends as without the crash after every commit, and repeats no call that has settled: ${name}`, async () => {
      const undisturbed = new KeptTestRun(tasks);
      await undisturbed.runToEnd();
      const expected = describeRun(undisturbed);
      expect(undisturbed.log.commits.length).to.be.greaterThan(3);
      // When an item fails, it depends on the machine how many others have begun: all is decided when it has.
      const failed = undisturbed.log.facts.findIndex(({ kind }) => kind === 'failed');
      const first = name.includes('200') ? failed + 1 : 0;
      for (const length of [0, ...new Set(undisturbed.log.commits)]) {
        if (length < first) continue;
        const facts = undisturbed.log.facts.slice(0, length);
        const rebuilt = new KeptTestRun(tasks, facts);
        await rebuilt.runToEnd();
        expect(describeRun(rebuilt), `after ${length} facts`).to.deep.equal(expected);
        expectNoGap(rebuilt);
        const settled = settledCalls(facts);
        const repeated = rebuilt.calls.filter(({ key, attempt }) => settled.has(describeCall(key, attempt)));
        expect(repeated, `after ${length} facts`).to.deep.equal([]);
      }
    });

    for (const [what, disturb] of Object.entries(CONTROLS)) {
      // No fact says whether a call waited for a place or was at work.
      if (name.includes('pool') && what.includes('slices')) continue;
      it(`ends as without the crash after every commit when it ${what} in any turn: ${name}`, async () => {
        for (let turn = 0; turn < 12; turn++) {
          const undisturbed = new KeptTestRun(tasks);
          await undisturbed.runToEnd((now) => now === turn && disturb(undisturbed.run));
          const { facts, commits } = undisturbed.log;
          const cancelled = facts.findIndex(({ kind }) => kind === 'cancel');
          if (cancelled === -1 || name.includes('200')) break;
          const expected = describeRun(undisturbed);
          for (const length of new Set(commits)) {
            if (length <= cancelled) continue;
            const rebuilt = new KeptTestRun(tasks, facts.slice(0, length));
            await rebuilt.runToEnd();
            expect(describeRun(rebuilt), `turn ${turn}, after ${length} facts`).to.deep.equal(expected);
            expectNoGap(rebuilt);
          }
        }
      });
    }
  }
});
