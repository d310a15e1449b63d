import { expect } from 'chai';
import { INSPECTION_LIMITS } from '../../../lib/common/limits.js';
import { ControlledPlans } from '../controlled-plans.js';
import { ControlledRuns } from '../controlled-runs.js';
import { entriesOf, EXTRACT_AND_LOAD, KEPT, toLines } from './inspections.js';

const THREE_WAVES = `{id: held, goal: be held, tasks: [
  {id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}, {id: c, tool: controlled, await: [a]}]}`;

function fanOut(items: number, more = ''): string {
  const list = JSON.stringify(Array.from({ length: items }, (_, index) => index));
  return `{id: held, goal: be held, inputs: {list: ${list}}, tasks: [{id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}"${more}, inputs: {n: "{{item}}"}}, {id: next, tool: controlled, await: [each]}]}`;
}

describe('A recorder that is attached to a run at work (D35)', () => {
  it('shows tasks that have settled, of this wave and of earlier ones', async () => {
    const runs = new ControlledRuns(KEPT, THREE_WAVES);
    const runId = await runs.submit();
    await runs.resolveCall(runId, 1);
    runs.controlled.calls[1]?.reject(new Error('no luck'));
    await runs.waitUntilIdle();
    const { log } = await runs.registry.queries.inspection(runId);
    const entries = entriesOf(log);
    expect(toLines(entries)).to.deep.equal([
      'run @attached:  > running',
      'run/wave @attached:  > settling',
      'run/wave/a @attached:  > succeeded',
      'run/wave/b @attached:  > failed',
      'run/wave/c @attached:  > invoking',
    ]);
    expect(entries.map(({ status }) => status)).to.deep.equal(['active', 'active', 'done', 'done', 'active']);
    expect(entries[3]).to.deep.include({
      src: 'task',
      source: null,
      snapshot: { status: 'done', value: 'failed', output: { ok: false, error: 'no luck' } },
    });
    expect(entries[3]?.data).to.have.keys(['started_at', 'finished_at']);
    await runs.complete(runId);
  });

  it('shows the items that have settled of a fan-out at work, and of one that has settled', async () => {
    const runs = new ControlledRuns(KEPT, fanOut(3, ', on_item_error: collect'));
    const runId = await runs.submit();
    const [first, second, third] = await runs.controlled.started(3);
    first?.resolve(1);
    second?.reject(new Error('no luck'));
    await runs.waitUntilIdle();
    const early = await runs.registry.queries.inspection(runId);
    expect(toLines(entriesOf(early.log)).slice(2)).to.deep.equal([
      'run/wave/each @attached:  > fanning out',
      'run/wave/each/fan-out @attached:  > invoking',
      'run/wave/each/fan-out/0 @attached:  > succeeded',
      'run/wave/each/fan-out/1 @attached:  > failed',
      'run/wave/each/fan-out/2 @attached:  > invoking',
    ]);
    early.close();
    third?.resolve(3);
    await runs.waitUntilIdle();
    await runs.complete(runId);

    const others = new ControlledRuns(KEPT, fanOut(3));
    const otherId = await others.submit();
    for (const call of await others.controlled.started(3)) call.resolve(1);
    await others.waitUntilIdle();
    const late = await others.registry.queries.inspection(otherId);
    expect(toLines(entriesOf(late.log)).slice(2)).to.deep.equal([
      'run/wave/each @attached:  > succeeded',
      'run/wave/each/fan-out @attached:  > succeeded',
      'run/wave/each/fan-out/0 @attached:  > succeeded',
      'run/wave/each/fan-out/1 @attached:  > succeeded',
      'run/wave/each/fan-out/2 @attached:  > succeeded',
      'run/wave/next @attached:  > invoking',
    ]);
    await others.complete(otherId);
  });

  it('shows the items of a large fan-out by the chunk, as it does while they are at work', async () => {
    const runs = new ControlledRuns(KEPT, fanOut(600));
    const runId = await runs.submit();
    const calls = await runs.controlled.started(600);
    for (const call of calls.slice(0, 300)) call.resolve(1);
    await runs.waitUntilIdle();
    const { log } = await runs.registry.queries.inspection(runId);
    const entries = entriesOf(log).slice(4);
    expect(toLines(entries)).to.deep.equal([
      'run/wave/each/fan-out/chunk-0 @attached:  > settled',
      'run/wave/each/fan-out/chunk-1 @attached:  > invoking',
      'run/wave/each/fan-out/chunk-2 @attached:  > invoking',
    ]);
    const { snapshot } = entries[0] ?? {};
    expect(snapshot).to.deep.equal({
      status: 'done',
      value: 'settled',
      from: 0,
      to: 256,
      settled: 256,
      failed: 0,
      failed_items: [],
    });
    await runs.registry.cancel(runId, { force: true });
  });

  it('shows the sub-runs of a plan that have ended, with their tasks', async () => {
    const runs = new ControlledPlans(EXTRACT_AND_LOAD, KEPT);
    const runId = await runs.submitPlan();
    runs.controlled.calls[0]?.resolve(1);
    await runs.waitUntilIdle();
    const { log } = await runs.registry.queries.inspection(runId);
    expect(toLines(entriesOf(log))).to.deep.equal([
      'plan @attached:  > running',
      'plan/sub-runs @attached:  > running',
      'plan/sub-runs/extract @attached:  > succeeded',
      'plan/sub-runs/extract/wave @attached:  > stopped',
      'plan/sub-runs/extract/wave/a @attached:  > succeeded',
      'plan/sub-runs/load @attached:  > running',
      'plan/sub-runs/load/wave @attached:  > settling',
      'plan/sub-runs/load/wave/b @attached:  > invoking',
    ]);
    await runs.complete(runId);
  });

  it('shows each task once that settles while it is being attached, and once when viewers come back', async () => {
    const tasks = Array.from({ length: 500 }, (_, index) => `{id: t${index}, tool: controlled}`);
    const runs = new ControlledRuns(
      KEPT,
      `{id: held, goal: be held, tasks: [${tasks.join(', ')}, {id: last, tool: controlled, await: [t0]}]}`,
    );
    const runId = await runs.submit();
    const calls = await runs.controlled.started(500);
    for (const call of calls.slice(0, 250)) call.resolve(1);
    await runs.waitUntilIdle();
    const attaching = runs.registry.queries.inspection(runId);
    for (const call of calls.slice(250, 499)) call.resolve(1);
    const view = await attaching;
    await runs.waitUntilIdle();
    const ends = (): string[] =>
      entriesOf(view.log).flatMap(({ actor, src, status }) =>
        src === 'task' && status === 'done' ? [actor] : [],
      );
    expect(ends()).to.have.length(499);
    expect(new Set(ends()).size).to.equal(499);
    view.close();
    runs.clock.advance(INSPECTION_LIMITS.lingerMs + 1);
    await runs.waitUntilIdle();
    runs.clock.advance(1);
    calls[499]?.resolve(1);
    await runs.waitUntilIdle();
    (await runs.registry.queries.inspection(runId)).close();
    expect(new Set(ends()).size).to.equal(500);
    expect(ends()).to.have.length(500);
    await runs.complete(runId);
  });

  it('shows no more than 10,000 that have settled', async () => {
    const tasks = Array.from(
      { length: 45 },
      (_, index) =>
        `{id: e${index}, tool: mock, parallel_over: "{{pipeline.inputs.list}}", inputs: {output: "{{item}}"}}`,
    );
    const list = JSON.stringify(Array.from({ length: 250 }, (_, index) => index));
    const runs = new ControlledRuns(
      KEPT,
      `{id: p, goal: g, inputs: {list: ${list}}, tasks: [${tasks.join(', ')}, {id: last, tool: controlled, await: [e0]}]}`,
    );
    const runId = await runs.submit();
    await runs.controlled.started(1);
    await runs.waitUntilIdle();
    const { log } = await runs.registry.queries.inspection(runId);
    const entries = entriesOf(log);
    expect(entries.filter(({ status }) => status === 'done')).to.have.length(INSPECTION_LIMITS.settledActors);
    expect(entries.at(-1)).to.include({ actor: 'run/wave/last', state: 'invoking' });
    await runs.complete(runId);
  });
});
