import { expect } from 'chai';
import { INSPECTION_LIMITS } from '../../../lib/common/limits.js';
import { InspectionLog } from '../../../lib/runs/inspection/inspection-log.js';
import type { OpenInspection } from '../../../lib/runs/inspection/inspection.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { holdSlices } from '../../support/slices.js';
import { takeWarnings } from '../../support/warnings.js';
import { ControlledPlans } from '../controlled-plans.js';
import { ControlledRuns } from '../controlled-runs.js';
import { entriesOf, toLines } from './inspections.js';

const TWO_WAVES =
  '{id: held, goal: be held, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}';
const FAN_OUT =
  '{id: held, goal: be held, inputs: {list: [1, 2]}, tasks: [{id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {n: "{{item}}"}}]}';

/** Submits a run that is recorded from its first event on. */
async function recordFromStart(runs: ControlledRuns): Promise<{ runId: string; inspection: OpenInspection }> {
  const opened: OpenInspection[] = [];
  const runId = await runs.submit('default', { onInspection: (inspection) => void opened.push(inspection) });
  const [inspection] = opened;
  if (inspection === undefined) throw new Error('the run is not recorded');
  return { runId, inspection };
}

describe('The recorder of a run (D35)', () => {
  beforeEach(holdSlices);

  it('writes an entry for every event of every actor of a run that it is attached to, causes before effects', async () => {
    const runs = new ControlledRuns({}, TWO_WAVES);
    const runId = await runs.submit();
    const { log, origin } = await runs.registry.queries.inspection(runId);
    expect(origin).to.equal('live');
    expect(toLines(entriesOf(log))).to.deep.equal([
      'run @attached:  > running',
      'run/wave @attached:  > settling',
      'run/wave/a @attached:  > invoking',
    ]);
    await runs.resolveCall(runId, 1);
    await runs.complete(runId);
    const rest = entriesOf(log).slice(3);
    expect(toLines(rest)).to.deep.equal([
      'run/wave/a task.settled: invoking > succeeded',
      'run/wave xstate.done.actor.a: settling > idle',
      'run wave.settled: running > running',
      'run/wave wave.begin: idle > settling',
      'run/wave/b @created:  > invoking',
      'run/wave/b task.settled: invoking > succeeded',
      'run/wave xstate.done.actor.b: settling > idle',
      'run wave.settled: running > succeeded',
      'run/wave xstate.stop: idle > stopped',
    ]);
    expect(rest.map(({ seq }) => seq)).to.deep.equal([4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(rest.map(({ source }) => source)).to.deep.equal([
      null,
      'run/wave/a',
      'run/wave',
      'run',
      'run/wave',
      null,
      'run/wave/b',
      'run/wave',
      'run',
    ]);
    expect(log.isClosed).to.equal(true);
  });

  it('records from the first event on when a submission asks for it, with the actors of a fan-out', async () => {
    const runs = new ControlledRuns({}, FAN_OUT);
    const { runId, inspection } = await recordFromStart(runs);
    for (const call of runs.controlled.calls) call.resolve(1);
    await runs.registry.settled(runId);
    const entries = entriesOf(inspection.log);
    expect(toLines(entries)).to.deep.equal([
      'run @attached:  > queued',
      'run/wave @attached:  > idle',
      'run begin: queued > running',
      'run/wave wave.begin: idle > settling',
      'run/wave/each @created:  > fanning out',
      'run/wave/each/fan-out @created:  > invoking',
      'run/wave/each/fan-out/0 @created:  > invoking',
      'run/wave/each/fan-out/1 @created:  > invoking',
      'run/wave/each/fan-out/0 item.settled: invoking > succeeded',
      'run/wave/each/fan-out xstate.done.actor.0: invoking > invoking',
      'run/wave/each/fan-out/1 item.settled: invoking > succeeded',
      'run/wave/each/fan-out xstate.done.actor.1: invoking > invoking',
      'run/wave/each/fan-out fan-out.settled: invoking > succeeded',
      'run/wave/each xstate.done.actor.fan-out: fanning out > fanning out',
      'run/wave/each task.settled: fanning out > succeeded',
      'run/wave xstate.done.actor.each: settling > idle',
      'run wave.settled: running > succeeded',
      'run/wave xstate.stop: idle > stopped',
    ]);
    expect(entries[9]?.snapshot).to.deep.include({ value: 'invoking', items: 2, started: 2, settled: 1 });
    expect(new Set(entries.map(({ src }) => src))).to.deep.equal(
      new Set(['run', 'wave', 'task', 'fan-out', 'item']),
    );
  });

  it('shows the sub-runs of a plan, which are actors of the same system', async () => {
    const runs = new ControlledPlans([subPipelineText('extract', '{id: a, tool: controlled}')]);
    const runId = await runs.submitPlan();
    const { log } = await runs.registry.queries.inspection(runId);
    expect(toLines(entriesOf(log))).to.deep.equal([
      'plan @attached:  > running',
      'plan/sub-runs @attached:  > running',
      'plan/sub-runs/extract @attached:  > running',
      'plan/sub-runs/extract/wave @attached:  > settling',
      'plan/sub-runs/extract/wave/a @attached:  > invoking',
    ]);
    await runs.complete(runId);
    const last = entriesOf(log).findLast(({ actor }) => actor === 'plan');
    expect(last).to.include({ event: 'sub-runs.settled', state: 'succeeded', source: 'plan/sub-runs' });
  });

  it('is shared by all viewers, and stops some time after the last of them has left', async () => {
    const runs = new ControlledRuns({}, TWO_WAVES);
    const runId = await runs.submit();
    const [first, second] = [
      await runs.registry.queries.inspection(runId),
      await runs.registry.queries.inspection(runId),
    ];
    expect(first.log).to.equal(second.log);
    expect(first.log.lastSeq).to.equal(3);
    first.close();
    first.close();
    runs.clock.advance(INSPECTION_LIMITS.lingerMs);
    await runs.waitUntilIdle();
    await runs.resolveCall(runId, 1);
    const watched = first.log.lastSeq;
    expect(watched, 'while one is left').to.be.greaterThan(3);
    second.close();
    runs.clock.advance(INSPECTION_LIMITS.lingerMs);
    await runs.complete(runId);
    expect(first.log.lastSeq, 'when none is left').to.equal(watched);
    expect((await runs.registry.queries.inspection(runId)).origin).to.equal('live');
  });

  it('ends with a warning, and not with the run, when a bug of it throws', async () => {
    const runs = new ControlledRuns({}, TWO_WAVES);
    const { runId, inspection } = await recordFromStart(runs);
    const before = inspection.log.lastSeq;
    inspection.log.append = () => {
      throw new Error('a bug');
    };
    await runs.resolveCall(runId, 1);
    expect(await takeWarnings()).to.deep.equal([`the recorder of run ${runId} threw and was removed: a bug`]);
    await runs.complete(runId);
    expect(runs.getStatus(runId)).to.equal('succeeded');
    expect(inspection.log.lastSeq).to.equal(before);
  });

  it('masks secrets in entries (D61)', async () => {
    const secrets = { find: () => 'hunter2-hunter2' };
    const runs = new ControlledRuns(
      { secrets },
      '{id: held, goal: be held, tasks: [{id: a, tool: controlled, inputs: {key: "{{secrets.KEY}}"}}]}',
    );
    const { runId, inspection } = await recordFromStart(runs);
    await runs.fail(runId, 'refused: hunter2-hunter2');
    const text = JSON.stringify(entriesOf(inspection.log));
    expect(text).to.include('refused: ***').and.not.include('hunter2');
  });
});

describe('The inspection log', () => {
  const ENTRY = {
    time: '2026-01-01T00:00:00.000Z',
    actor: 'run',
    src: 'run',
    event: 'begin',
    data: null,
    source: null,
    from: 'queued',
    state: 'running',
    transition: null,
    status: 'active',
    snapshot: { padding: 'x'.repeat(1000) },
  } as const;

  it('drops the oldest half when it is full, and says so to those who have not read them', () => {
    const log = new InspectionLog(undefined, { entries: 4, length: 2 ** 20 });
    for (let count = 0; count < 5; count++) log.write(ENTRY);
    expect(log.readAfter(0, 10).gap).to.equal(true);
    expect(log.readAfter(2, 10)).to.include({ gap: false });
    expect(log.readAfter(0, 10).events.map(({ seq }) => seq)).to.deep.equal([3, 4, 5]);
  });

  it('takes its memory from the run, and gives it back when the run needs it', () => {
    const budget = new MemoryBudget(10_000);
    const log = new InspectionLog(budget);
    for (let count = 0; count < 20; count++) log.write(ENTRY);
    expect(log.lastSeq).to.equal(20);
    expect(budget.usedBytes).to.equal(log.bytes).and.to.be.at.most(10_000);
    expect(budget.tryReserve(9000)).to.equal(true);
    expect(log.readAfter(0, 20).events).to.have.length.at.most(1);
  });
});
