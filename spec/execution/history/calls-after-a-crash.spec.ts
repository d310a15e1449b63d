import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import { settle } from '../../support/deferred.js';
import { endSlice } from '../../support/slices.js';
import { takeWarnings } from '../../support/warnings.js';
import { KeptTestRun } from './kept-runs.js';

/** Writes down what it is called with, and fails its first attempts. */
class Clerk {
  readonly keys: string[] = [];
  readonly counts: number[] = [];
  readonly tool: Tool;

  constructor(repeatable?: boolean) {
    this.tool = defineTool({
      name: 'clerk',
      description: 'writes down how it is called',
      inputs: {},
      openInputs: true,
      ...(repeatable !== undefined && { repeatable }),
      run: async (inputs: Record<string, unknown>, { invocation_key, calls, attempt, clock }) => {
        this.keys.push(invocation_key);
        this.counts.push(calls);
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 2));
        if (attempt <= Number(inputs['fails'] ?? 0)) throw new Error('again');
        return calls;
      },
    });
  }
}

/** Stops a run at a crash when so many attempts have begun, and returns its facts. */
async function crashAfter(
  calls: number,
  tasks: string,
  clerk = new Clerk(),
  facts: readonly Fact[] = [],
): Promise<readonly Fact[]> {
  const run = new KeptTestRun(tasks, facts, [clerk.tool]);
  const crash = new Error('crash');
  const ended = run.runToEnd(() => {
    if (clerk.keys.length >= calls) throw crash;
  });
  expect(await ended.catch((error: unknown) => error)).to.equal(crash);
  return run.log.facts;
}

describe('A run that was only accepted when the process ended (D68)', () => {
  it('has its first event for whoever asks later', async () => {
    const facts = (await crashAfter(1, '{id: a, tool: clerk}')).slice(0, 1);
    const run = new KeptTestRun('{id: a, tool: clerk}', facts, [new Clerk().tool]);
    await settle();
    expect(run.run.takePastEvents().map(({ seq }) => seq)).to.deep.equal([1]);
  });
});

describe('A call in a run that goes on after a crash (D68)', () => {
  it('knows how often its tool was called in the run, as without the crash', async () => {
    const tasks = '{id: a, tool: clerk}, {id: b, tool: clerk, await: [a]}, {id: c, tool: clerk, await: [b]}';
    const again = new Clerk();
    const rebuilt = new KeptTestRun(tasks, await crashAfter(2, tasks), [again.tool]);
    await rebuilt.runToEnd();
    expect(again.counts).to.deep.equal([2, 3]);
    expect(rebuilt.record.result).to.deep.include({ outputs: { a: 1, b: 2, c: 3 } });
  });

  it('has the same key in all attempts, and another one than every other call', async () => {
    const tasks = `{id: a, tool: clerk, retry: 1, retry_delay: 0.001, inputs: {fails: 1}},
      {id: each, tool: clerk, parallel_over: "{{pipeline.inputs.items2}}", inputs: {x: "{{item}}"}},
      {id: inner, tool: run_pipeline, inputs: {pipeline: {id: p, goal: g, tasks: [{id: a, tool: clerk}]}}}`;
    const undisturbed = new Clerk();
    await new KeptTestRun(tasks, [], [undisturbed.tool]).runToEnd();
    const expected = ['kept/a', 'kept/each[0]', 'kept/each[1]', 'kept/inner.0/a'];
    expect([...new Set(undisturbed.keys)].toSorted()).to.deep.equal(expected);
    expect(undisturbed.keys).to.have.length(5);
    const again = new Clerk();
    await new KeptTestRun(tasks, await crashAfter(1, tasks), [again.tool]).runToEnd();
    expect([...new Set(again.keys)].toSorted()).to.deep.equal(expected);
  });

  it('is not made twice when its tool is not repeatable: the attempt fails in words', async () => {
    const tasks = '{id: a, tool: clerk, retry: 3}';
    const facts = await crashAfter(1, tasks, new Clerk(false));
    const again = new Clerk(false);
    const rebuilt = new KeptTestRun(tasks, facts, [again.tool]);
    await rebuilt.runToEnd();
    expect(again.keys).to.deep.equal([]);
    const error = 'was at work when the process ended, and must not be called twice';
    expect(rebuilt.record).to.deep.include({
      status: 'failed',
      error,
      failures: [{ task_id: 'a', error, attempts: 1 }],
    });
  });

  it('is not made twice by a retry of the task that runs its pipeline either', async () => {
    const tasks = `{id: outer, tool: run_pipeline, retry: 2, retry_delay: 0.001,
      inputs: {pipeline: {id: p, goal: g, tasks: [{id: a, tool: clerk}]}}}`;
    const facts = await crashAfter(1, tasks, new Clerk(false));
    const again = new Clerk(false);
    const rebuilt = new KeptTestRun(tasks, facts, [again.tool]);
    await rebuilt.runToEnd();
    expect(again.keys).to.deep.equal([]);
    expect(rebuilt.record.error).to.equal(
      'pipeline "p": task "a": was at work when the process ended, and must not be called twice',
    );
  });

  it('is made when its tool is not repeatable and the process ended before it', async () => {
    const tasks = '{id: a, tool: clerk, retry: 1, retry_delay: 0.01, inputs: {fails: 1}}';
    const facts = await crashAfter(1, tasks, new Clerk(false));
    const called = facts.findIndex(({ kind }) => kind === 'called');
    const again = new Clerk(false);
    await new KeptTestRun(tasks, facts.slice(0, called), [again.tool]).runToEnd();
    expect(again.counts).to.deep.equal([1, 2]);
  });

  it('fails when the process has ended five times while it was at work, and not before', async () => {
    const tasks = '{id: a, tool: clerk}';
    let facts = await crashAfter(1, tasks);
    for (let ended = 1; ended < 5; ended++) {
      const clerk = new Clerk();
      const run = new KeptTestRun(tasks, facts, [clerk.tool]);
      await run.begin();
      expect(clerk.keys).to.have.length(1);
      facts = run.log.facts;
    }
    const last = new Clerk();
    const run = new KeptTestRun(tasks, facts, [last.tool]);
    await run.runToEnd();
    expect(last.keys).to.deep.equal([]);
    expect(run.record.error).to.equal(
      'the process ended 5 times while it was at work: it is not called again',
    );
  });

  for (const [title, days, waitMs] of [
    ['back: it waits no longer than its delay', -5, 1_000_000],
    ['forward: at once', 5, 0],
  ] as const) {
    it(`is made again after its delay when the clock was set by days over the restart, ${title}`, async () => {
      const tasks = '{id: a, tool: clerk, retry: 1, retry_delay: 1000, inputs: {fails: 1}}';
      const first = new KeptTestRun(tasks, [], [new Clerk().tool]);
      await first.begin();
      first.clock.advance(2);
      await settle();
      const { facts } = first.log;
      expect(facts.some(({ kind }) => kind === 'retry')).to.equal(true);
      const clerk = new Clerk();
      const run = new KeptTestRun(tasks, facts, [clerk.tool]);
      run.clock.stepWall(days * 86_400_000);
      await run.begin();
      if (waitMs > 0) {
        run.clock.advance(waitMs - 1);
        await settle();
        expect(clerk.counts).to.deep.equal([]);
      }
      run.clock.advance(1);
      await settle();
      expect(clerk.counts).to.deep.equal([2]);
    });
  }

  it('fails after five crashes, too, when its tool was running a pipeline', async () => {
    const clerk = (): Clerk => new Clerk();
    const tasks = `{id: outer, tool: run_pipeline, inputs: {pipeline: {id: p, goal: g, tasks: [{id: a, tool: clerk}]}}}`;
    let facts = await crashAfter(1, tasks, clerk());
    for (let crashes = 1; crashes < 5; crashes++) {
      const again = clerk();
      facts = await crashAfter(1, tasks, again, facts);
      expect(again.keys).to.have.length(1);
    }
    const last = clerk();
    const run = new KeptTestRun(tasks, facts, [last.tool]);
    await run.runToEnd();
    expect(last.keys).to.deep.equal([]);
    expect(run.record.error).to.match(
      /the process ended 5 times while it was at work: it is not called again$/,
    );
  });

  it('settles once when it is stopped by force while the calls of the run go on one after the other', async () => {
    const tasks = `{id: each, tool: clerk, parallel_over: "{{pipeline.inputs.items4}}", inputs: {x: "{{item}}"}}`;
    const facts = await crashAfter(4, tasks);
    let calls = 0;
    const run: KeptTestRun = new KeptTestRun(tasks, facts, [
      defineTool({
        name: 'clerk',
        description: 'takes a whole slice of the event loop, so that the next call goes on in another one',
        inputs: {},
        openInputs: true,
        run: () => {
          endSlice();
          // As when a request comes between two slices.
          if (++calls === 1) setImmediate(() => run.run.cancel(true));
          return new Promise(() => {});
        },
      }),
    ]);
    await run.runToEnd();
    expect(run.record.failures).to.have.length(4);
    expect(run.record.progress.invocations).to.equal(4);
  });

  it('has the time at which it is made again, not that of the crash', async () => {
    const tasks = '{id: a, tool: clerk}';
    const facts = await crashAfter(1, tasks);
    const run = new KeptTestRun(tasks, facts, [new Clerk().tool]);
    run.clock.advance(3_600_000);
    const restarted = run.clock.now();
    await run.runToEnd();
    const settled = run.log.facts.find(({ kind }) => kind === 'succeeded');
    expect(settled?.at).to.be.at.least(restarted);
    const after = run.log.facts.slice(facts.length).filter(({ kind }) => kind === 'event');
    expect(after.every(({ at }) => at >= restarted)).to.equal(true);
  });

  it('is made however often the process has ended while other items were at work', async () => {
    const tasks = `{id: each, tool: clerk, parallel_over: "{{pipeline.inputs.items4}}", fan_out_concurrency: 1, inputs: {x: "{{item}}"}}`;
    let facts: readonly Fact[] = [];
    for (let ended = 1; ended <= 8; ended++) {
      const clerk = new Clerk();
      const run = new KeptTestRun(tasks, facts, [clerk.tool]);
      const crash = new Error('crash');
      // Every second process gets one item done.
      const most = ended % 2 === 0 ? 2 : 1;
      const ending = run.runToEnd(() => {
        if (clerk.keys.length >= most) throw crash;
      });
      await ending.catch((error: unknown) => expect(error).to.equal(crash));
      facts = run.log.facts;
    }
    const run = new KeptTestRun(tasks, facts, [new Clerk().tool]);
    await run.runToEnd();
    expect(run.record.status).to.equal('succeeded');
  });

  it('is not made again when the run waits for long before it is rebuilt', async () => {
    const tasks = '{id: a, tool: clerk}, {id: b, tool: clerk, await: [a]}';
    const clerk = new Clerk();
    const run = new KeptTestRun(tasks, await crashAfter(2, tasks), [clerk.tool]);
    await settle();
    run.clock.advance(60_000);
    await settle();
    await run.runToEnd();
    expect(clerk.keys).to.deep.equal(['kept/b']);
  });

  it('stays cancelled when the cancel came while the run was rebuilt, and the process ends again', async () => {
    const tasks = '{id: a, tool: clerk}, {id: b, tool: clerk, await: [a]}';
    const facts = await crashAfter(2, tasks);
    for (const force of [false, true]) {
      const second = new KeptTestRun(tasks, facts, [new Clerk().tool]);
      void second.run.rebuild();
      second.run.cancel(force);
      await second.runToEnd();
      expect(second.record.status).to.equal('cancelled');
      const third = new KeptTestRun(tasks, second.log.facts, [new Clerk().tool]);
      await third.runToEnd();
      expect(third.record.status).to.equal('cancelled');
    }
  });

  it('is made after ten seconds and a warning when the facts are of another pipeline', async () => {
    const facts = await crashAfter(2, '{id: a, tool: clerk}, {id: b, tool: clerk, await: [a]}');
    const clerk = new Clerk();
    const run = new KeptTestRun('{id: other, tool: clerk}', facts, [clerk.tool]);
    await run.begin();
    run.clock.advance(9999);
    await settle();
    expect(clerk.keys).to.deep.equal([]);
    run.clock.advance(1);
    await settle();
    await run.runToEnd();
    expect(clerk.keys).to.deep.equal(['kept/other']);
    expect(run.record.status).to.equal('succeeded');
    expect(await takeWarnings()).to.deep.equal([
      'run kept goes on without all that it had done: it waits for no "succeeded" any more',
    ]);
  });
});
