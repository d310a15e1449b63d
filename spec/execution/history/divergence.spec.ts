import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { settle } from '../../support/deferred.js';
import { takeWarnings } from '../../support/warnings.js';
import { KeptTestRun } from './kept-runs.js';

const IN_TURN = '{id: a, tool: script}, {id: b, tool: script, await: [a]}';
const OTHER = '{id: other, tool: script}, {id: last, tool: script, await: [other]}';

/** Runs until so many calls have begun, and returns the facts. */
async function factsAfter(run: KeptTestRun, calls: number): Promise<readonly Fact[]> {
  const crash = new Error('crash');
  const ended = run.runToEnd(() => {
    if (run.calls.length >= calls) throw crash;
  });
  expect(await ended.catch((error: unknown) => error)).to.equal(crash);
  return run.log.facts;
}

/** Lets a run find out that nobody waits for its facts. */
async function diverge(run: KeptTestRun): Promise<void> {
  await run.begin();
  run.clock.advance(10_000);
  await settle();
}

describe('A run whose facts nobody waits for, after a change of what it does (D68)', () => {
  afterEach(takeWarnings);

  it('says so to the next process, which goes on with what this one has done at once', async () => {
    const second = new KeptTestRun(OTHER, await factsAfter(new KeptTestRun(IN_TURN), 2));
    await diverge(second);
    const facts = await factsAfter(second, 2);
    const third = new KeptTestRun(OTHER, facts);
    await third.runToEnd();
    expect(third.calls.map(({ key }) => key)).to.deep.equal(['last[null]']);
    expect(third.record.status).to.equal('succeeded');
  });

  it('stays cancelled when it was cancelled before', async () => {
    const facts = await factsAfter(new KeptTestRun(IN_TURN), 2);
    const cancel: Fact = { kind: 'cancel', force: true, at: facts.at(-1)?.at ?? 0 };
    const run = new KeptTestRun(OTHER, [...facts, cancel]);
    await diverge(run);
    await run.runToEnd();
    expect(run.record.status).to.equal('cancelled');
  });

  it('loses only what a pipeline inside a task has done when its tool takes long to run it again', async () => {
    const pipeline = (id: string, ms: number): string =>
      `{id: ${id}, goal: g, inputs: {v: 0}, tasks: [{id: x, tool: script, inputs: {ms: ${ms}, value: 1}}]}`;
    const tasks = `{id: slow, tool: in_sequence, inputs: {pause: 11000, pipelines: [${pipeline('one', 1)}, ${pipeline('two', 5000)}]}},
      {id: side, tool: script, inputs: {ms: 12000, value: 2}}`;
    const first = new KeptTestRun(tasks);
    await first.begin();
    for (let second = 0; second < 14; second++) {
      first.clock.advance(1000);
      await settle();
    }
    const { facts } = first.log;
    expect(facts.some((fact) => fact.kind === 'published' && fact.task === 'side')).to.equal(true);
    const again = new KeptTestRun(tasks, facts);
    await again.begin();
    for (let second = 0; second < 30; second++) {
      again.clock.advance(1000);
      await settle();
    }
    expect(again.record.result).to.deep.include({ outputs: { slow: 1, side: 2 } });
    expect(again.calls.map(({ key }) => key)).to.deep.equal(['x[null]']);
    expect(await takeWarnings()).to.deep.equal([
      'run kept goes on without all that the pipeline slow#1.1 had done: it waits for no "nested" any more',
    ]);
  });
});
