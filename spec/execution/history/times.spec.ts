import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { listItems, listTasks } from '../../../lib/runs/tasks/task-pages.js';
import type { AttemptRecord, ItemRecord, TaskRecord } from '../../../lib/runs/tasks/task-record.js';
import { planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { TickingClock } from './ticking-clock.js';
import { KeptTestRun } from './kept-runs.js';

const PIPELINES = {
  'a chain': `{id: a, tool: script, inputs: {ms: 5, value: 1}},
    {id: b, tool: script, inputs: {ms: 7, value: "{{a.output}}"}}`,
  'retries of a task that succeeds, and of one that fails': `
    {id: a, tool: script, retry: 2, retry_delay: 0.003, inputs: {ms: 4, fails: 2}},
    {id: b, tool: script, retry: 1, retry_delay: 0.002, inputs: {ms: 6, fails: 9}}`,
  'a fan-out with retries, a few at a time': `
    {id: each, tool: script, retry: 2, retry_delay: 0.003, parallel_over: "{{pipeline.inputs.items3}}", fan_out_concurrency: 2,
      inputs: {ms: 3, fails: "{{item}}", value: "{{item}}"}}`,
  'items whose errors are collected': `
    {id: each, tool: script, retry: 1, retry_delay: 0.003, on_item_error: collect, parallel_over: "{{pipeline.inputs.items4}}",
      inputs: {ms: 3, fails: "{{item}}", value: "{{item}}"}}`,
  'outputs of the cache': `
    {id: a, tool: script, cache: true, inputs: {ms: 5, value: 1}},
    {id: each, tool: script, cache: true, await: [a], parallel_over: "{{pipeline.inputs.items2}}", inputs: {ms: 5, value: "{{item}}"}},
    {id: b, tool: script, cache: true, await: [each], inputs: {ms: 5, value: 1}}`,
  'values on the blackboard': `
    {id: a, tool: script, inputs: {ms: 3, key: list, value: a}}, {id: b, tool: script, inputs: {ms: 1, key: list, value: b}}`,
  'inputs that are refused': `
    {id: a, tool: script, inputs: {value: 1}}, {id: b, tool: transform, inputs: {input: "{{a.output.n.m}}", expression: "x"}}`,
  'a plan': planText([
    subPipelineText(
      'b',
      '{id: t, tool: script, retry: 1, retry_delay: 0.002, inputs: {fails: 1, ms: 2}}',
      'reads: [ka]',
    ),
    subPipelineText(
      'a',
      '{id: t, tool: script, inputs: {key: ka, value: [1, 2]}}, {id: u, tool: script, parallel_over: "{{t.output}}", inputs: {ms: "{{item}}"}}',
      'stores: [ka]',
    ),
  ]),
  'a pipeline inside a task that is tried again': `
    {id: a, tool: run_pipeline, retry: 1, retry_delay: 0.002, inputs: {pipeline: {id: inner, goal: g, tasks: [
      {id: x, tool: script, retry: 1, retry_delay: 0.003, inputs: {ms: 2, fails: 9}}]}}}`,
} as const;

interface Shown {
  readonly tasks: readonly TaskRecord[];
  readonly items: readonly ItemRecord[];
}

/** Returns all that is shown of the tasks of a run and of their items. */
function show({ run }: KeptTestRun): Shown {
  const { tasks } = runToEnd(listTasks(run, { limit: 50 }, () => undefined));
  const fanOuts = tasks.filter(({ items }) => items !== null);
  const items = fanOuts.flatMap(
    ({ task_id: id, sub_pipeline }) =>
      runToEnd(listItems(run, id, { limit: 50, sub_pipeline }, () => undefined)).items,
  );
  return { tasks, items };
}

/** The attempts of the calls that have settled according to facts. */
function attemptsOf(shown: Shown, facts: readonly Fact[]): Record<string, readonly AttemptRecord[]> {
  const settled = new Set(
    facts.flatMap((fact) => {
      if (fact.kind === 'published') return [`${fact.place} ${fact.task}`];
      return fact.kind === 'succeeded' || fact.kind === 'failed'
        ? [`${fact.place} ${fact.task}[${fact.item}]`]
        : [];
    }),
  );
  const calls = [...shown.tasks, ...shown.items].map((call) => {
    const item = 'item' in call ? `[${call.item}]` : '';
    return [`${call.sub_pipeline ?? ''} ${call.task_id}${item}`, call.attempts] as const;
  });
  return Object.fromEntries(calls.filter(([name]) => settled.has(name)));
}

/** The facts as a version wrote them that did not note when attempts had begun. */
function withoutTimes(facts: readonly Fact[]): Fact[] {
  return facts.map((fact) => {
    const { ms: _, ...others } = fact as Fact & { readonly ms?: number };
    return others;
  });
}

describe('The times of attempts in a run that is rebuilt from its facts (D59, D68)', () => {
  for (const [name, tasks] of Object.entries(PIPELINES)) {
    it(`are those that they were, with all else that is shown of tasks and items: ${name}`, async () => {
      const undisturbed = new KeptTestRun(tasks, [], [], { clock: new TickingClock() });
      await undisturbed.runToEnd();
      const rebuilt = new KeptTestRun(tasks, undisturbed.log.facts, [], { clock: new TickingClock() });
      await rebuilt.runToEnd();
      expect(JSON.stringify(show(rebuilt), null, 1)).to.equal(JSON.stringify(show(undisturbed), null, 1));
    });

    it(`are those that they were, of what had settled when the process ended, after every commit: ${name}`, async () => {
      const undisturbed = new KeptTestRun(tasks, [], [], { clock: new TickingClock() });
      await undisturbed.runToEnd();
      for (const length of new Set(undisturbed.log.commits)) {
        const facts = undisturbed.log.facts.slice(0, length);
        const rebuilt = new KeptTestRun(tasks, facts, [], { clock: new TickingClock(facts.at(-1)?.at) });
        await rebuilt.runToEnd();
        const expected = attemptsOf(show(undisturbed), facts);
        expect(attemptsOf(show(rebuilt), facts), `after ${length} facts`).to.deep.equal(expected);
        const again = new KeptTestRun(tasks, rebuilt.log.facts, [], { clock: new TickingClock() });
        await again.runToEnd();
        expect(show(again), `after ${length} facts, again`).to.deep.equal(show(rebuilt));
      }
    });

    it(`are those that they were when the run was cancelled by force in any turn: ${name}`, async () => {
      for (let turn = 0; turn < 12; turn++) {
        const cancelled = new KeptTestRun(tasks, [], [], { clock: new TickingClock() });
        await cancelled.runToEnd((now) => now === turn && cancelled.run.cancel(true));
        const rebuilt = new KeptTestRun(tasks, cancelled.log.facts, [], { clock: new TickingClock() });
        await rebuilt.runToEnd();
        expect(show(rebuilt), `turn ${turn}`).to.deep.equal(show(cancelled));
      }
    });
  }

  it('are those that they were when the blackboard has taken no values', async () => {
    const tasks = PIPELINES['values on the blackboard'];
    const blackboard = new MemoryBlackboard();
    blackboard.write = () => Promise.reject(new Error('full'));
    const undisturbed = new KeptTestRun(tasks, [], [], { clock: new TickingClock(), blackboard });
    await undisturbed.runToEnd();
    const rebuilt = new KeptTestRun(tasks, undisturbed.log.facts, [], {
      clock: new TickingClock(),
      blackboard,
    });
    await rebuilt.runToEnd();
    expect(undisturbed.record.error).to.include('full');
    expect(show(rebuilt)).to.deep.equal(show(undisturbed));
  });

  it('are as near as before when an earlier version has noted only when they had ended', async () => {
    const undisturbed = new KeptTestRun(PIPELINES['a fan-out with retries, a few at a time']);
    await undisturbed.runToEnd();
    const facts = withoutTimes(undisturbed.log.facts);
    const rebuilt = new KeptTestRun(PIPELINES['a fan-out with retries, a few at a time'], facts);
    await rebuilt.runToEnd();
    const ends = (shown: Shown): unknown =>
      shown.items.map(({ attempts }) => attempts.map(({ attempt, finished_at }) => [attempt, finished_at]));
    expect(ends(show(rebuilt))).to.deep.equal(ends(show(undisturbed)));
    for (const { attempts } of show(rebuilt).items) {
      for (const { started_at: start, finished_at: end } of attempts)
        expect(start && end && start <= end).to.equal(true);
    }
  });
});
