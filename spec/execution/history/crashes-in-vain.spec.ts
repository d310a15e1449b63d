import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { KeptTestRun } from './kept-runs.js';

const TASKS = '{id: a, tool: script}, {id: b, tool: script, await: [a]}';

/** The facts of a run up to the first of a kind. */
async function factsUpTo(kind: Fact['kind']): Promise<Fact[]> {
  const run = new KeptTestRun(TASKS);
  await run.runToEnd();
  const { facts } = run.log;
  return facts.slice(0, facts.findIndex((fact) => fact.kind === kind) + 1);
}

/** As if so many processes had gone on with the run, and had crashed before anything else. */
function restored(facts: readonly Fact[], times: number): Fact[] {
  const at = facts.at(-1)?.at ?? 0;
  return [...facts, ...Array.from({ length: times }, (): Fact => ({ kind: 'restored', at }))];
}

async function rebuild(facts: readonly Fact[]): Promise<KeptTestRun> {
  const run = new KeptTestRun(TASKS, facts);
  await run.runToEnd();
  return run;
}

describe('A run at which processes crash outside of the calls of its tools (D68)', () => {
  it('goes on after nine crashes, and fails in words after the tenth', async () => {
    const begun = await factsUpTo('begun');
    expect((await rebuild(restored(begun, 8))).record.status).to.equal('succeeded');
    const { record, calls } = await rebuild(restored(begun, 9));
    expect(calls).to.deep.equal([]);
    expect(record).to.deep.include({
      status: 'failed',
      error: 'the process ended 10 times while the run was at work: nothing of it is called any more',
    });
  });

  it('fails in words, too, when a task had published before', async () => {
    const { record, calls } = await rebuild(restored(await factsUpTo('published'), 9));
    expect(calls).to.deep.equal([]);
    expect(record.failures.map(({ task_id }) => task_id)).to.deep.equal(['b']);
  });

  it('begins to count anew when a call has ended', async () => {
    const published = await factsUpTo('published');
    const begun = published.findIndex(({ kind }) => kind === 'begun') + 1;
    const facts = [...restored(published.slice(0, begun), 8), ...published.slice(begun)];
    expect((await rebuild(restored(facts, 8))).record.status).to.equal('succeeded');
  });

  it('does not count processes that were asked to end', async () => {
    let facts: readonly Fact[] = [];
    for (let process = 0; process < 12; process++) {
      const run = new KeptTestRun(TASKS, facts);
      await run.begin();
      expect(run.calls).to.have.length(1);
      run.run.stop();
      facts = run.log.facts;
      expect(facts.at(-1)?.kind).to.equal('left');
    }
    expect((await rebuild(facts)).record.status).to.equal('succeeded');
  });

  it('counts nothing while it waits for its slot', async () => {
    const begun = await factsUpTo('begun');
    const waiting = new KeptTestRun(TASKS, begun);
    waiting.run.stop();
    expect(waiting.log.facts).to.deep.equal(begun);
  });
});

describe('A task of a durable run that could not begin (D68)', () => {
  it('fails for the same reason when the run is rebuilt, whatever memory there is now', async () => {
    const tasks =
      '{id: a, tool: script, inputs: {value: [1, 2]}}, {id: each, tool: script, parallel_over: "{{a.output}}", inputs: {value: "{{item}}"}}';
    const run = new KeptTestRun(tasks);
    await run.runToEnd();
    const { facts } = run.log;
    const published = facts.slice(0, facts.findIndex(({ kind }) => kind === 'published') + 1);
    const at = published.at(-1)?.at ?? 0;
    const refused: Fact = { kind: 'refused', place: '', task: 'each', error: 'no memory is left', at };
    const rebuilt = new KeptTestRun(tasks, [...published, refused]);
    await rebuilt.runToEnd();
    expect(rebuilt.calls).to.deep.equal([]);
    expect(rebuilt.record.error).to.equal('no memory is left');
  });

  it('notes why, so that the next process knows', async () => {
    const tasks =
      '{id: a, tool: script, inputs: {value: 1}}, {id: each, tool: script, parallel_over: "{{a.output}}", inputs: {value: "{{item}}"}}';
    const run = new KeptTestRun(tasks);
    await run.runToEnd();
    const [refused] = run.log.facts.filter(({ kind }) => kind === 'refused');
    expect(refused).to.deep.include({ task: 'each', error: run.record.error });
  });
});

describe('Retries of a durable run (D68)', () => {
  const retrying = '{id: a, tool: script, retry: 100000, retry_delay: 0, inputs: {ms: 0, fails: 100000}}';

  it('take memory of the run, because they are kept on the disk: they end when it has none left', async () => {
    const run = new KeptTestRun(retrying, [], [], { runOutputLimitBytes: 30_000 });
    await run.runToEnd();
    expect(run.record.error).to.match(/^broke; it is not tried again: the run takes more memory than /);
    expect(JSON.stringify(run.log.facts).length).to.be.lessThan(100_000);
  });
});
