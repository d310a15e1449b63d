import { expect } from 'chai';
import { systemClock } from '../../../lib/common/clock.js';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { foldPipelineRun } from '../../../lib/execution/history/fold/fold-run.js';
import type { FoldedPipelineRun } from '../../../lib/execution/history/fold/folded-run.js';
import type { RunSummary } from '../../../lib/common/wire/run-summary.js';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { ArtifactStore } from '../../../lib/execution/invocation/files/artifact-store.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import { prepareRun } from '../../../lib/execution/prepare/prepare-run.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';

const PIPELINE = parsePipeline(
  '{id: p, goal: g, tasks: [{id: a, tool: mock}, {id: b, tool: mock, inputs: {x: "{{a.output}}"}}]}',
);

const END = {
  run_id: 'run',
  kind: 'pipeline',
  status: 'succeeded',
  created_at: '1970-01-01T00:00:00.000Z',
  started_at: null,
  finished_at: null,
  progress: { waves: 2, waves_executed: 2, tasks: 2, tasks_settled: 2, invocations: 2 },
} as unknown as RunSummary;

function fold(facts: readonly Fact[]): FoldedPipelineRun {
  const prepared = prepareRun({ pipeline: PIPELINE }, undefined, undefined, 'run');
  const budget = new MemoryBudget(1e9);
  const artifacts = new ArtifactStore('unused', true);
  const context = { summary: END, facts, clock: systemClock, artifacts, budget, urlOfRun: () => null };
  return runToEnd(foldPipelineRun(prepared, context));
}

const succeeded = (task: string, value: string, more: object = {}): Fact => ({
  kind: 'succeeded',
  place: '',
  task,
  item: -1,
  value,
  writes: [],
  attempts: 1,
  bytes: 10,
  at: 20,
  ms: 5,
  ...more,
});
const published = (task: string): Fact => ({ kind: 'published', place: '', task, at: 20, ms: 8 });

describe('The fold over the facts of a run (D74)', () => {
  it('takes the times of a task and of its call from their ends', () => {
    const { work } = fold([succeeded('a', 'one'), published('a')]);
    const trace = work.getTrace('a');
    expect([trace?.startedAt, trace?.callStartedAt(undefined), trace?.settledAt]).to.deep.equal([12, 15, 20]);
  });

  it('does not count what a run had done before it diverged', () => {
    const begun: Fact = { kind: 'begun', place: '', at: 1 };
    const { work } = fold([
      begun,
      succeeded('a', 'before'),
      published('a'),
      succeeded('b', 'lost'),
      { kind: 'diverged', from: 1, at: 21 },
      succeeded('a', 'after'),
      published('a'),
    ]);
    expect(work.outputs).to.deep.equal({ a: 'after' });
    expect(work.getTrace('b')).to.equal(undefined);
  });

  it('leaves out what happened inside attempts, and tasks that the pipeline does not have', () => {
    const inner = succeeded('a', 'inner', { place: 'a#1.0' });
    const { work } = fold([
      inner,
      succeeded('gone', 'x'),
      published('gone'),
      succeeded('a', 'own'),
      published('a'),
    ]);
    expect(work.outputs).to.deep.equal({ a: 'own' });
    expect(work.invocations).to.equal(1);
  });

  it('guesses no time at which a call began of which an earlier version has noted none', () => {
    const { ms: _, ...earlier } = succeeded('a', 'one') as Fact & { readonly ms?: number };
    const { work } = fold([earlier, published('a')]);
    // The views show no time for it.
    expect(work.getTrace('a')?.callStartedAt(undefined)).to.equal(1);
  });
});
