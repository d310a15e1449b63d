import { diag } from '@opentelemetry/api';
import { expect } from 'chai';
import { TracedRuns } from './traced-runs.js';

const FAN_OUT = `{id: p, goal: g, inputs: {list: [1, 2]}, tasks: [
  {id: a, tool: controlled, retry: 1},
  {id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}, await: [a]}]}`;

describe('Traces of runs (D35)', () => {
  it('are nested as run, wave, task and attempt, with the times of the events', async () => {
    const runs = new TracedRuns(FAN_OUT);
    const { held } = runs;
    const run = await held.submit('acme');
    await runs.advance(100);
    await held.controlled.rejects(new Error('no luck'));
    await runs.advance(500);
    await runs.advance(20);
    await held.controlled.returns('a');
    await held.waitUntilIdle();
    await runs.advance(5);
    const [, , first, second] = held.controlled.calls;
    await held.controlled.returns('y', second);
    await runs.advance(2);
    await held.controlled.returns('x', first);
    await held.registry.settled(run);
    expect(runs.lines).to.deep.equal([
      'run p > wave 0 > task a > attempt 1 0-100 ! no luck',
      'run p > wave 0 > task a > attempt 2 600-620',
      'run p > wave 0 > task a 0-620',
      'run p > wave 0 0-620',
      'run p > wave 1 > task each > attempt 1 620-625',
      'run p > wave 1 > task each > attempt 1 620-627',
      'run p > wave 1 > task each 620-627',
      'run p > wave 1 620-627',
      'run p 0-627',
    ]);
  });

  for (const [title, stepMs] of [
    ['2 seconds back', -2000],
    ['a day forward', 86_400_000],
  ] as const) {
    it(`keep their durations while the wall clock steps ${title} (D27)`, async () => {
      const runs = new TracedRuns();
      const run = await runs.held.submit();
      await runs.advance(10);
      runs.stepWall(stepMs);
      await runs.advance(10);
      await runs.held.complete(run);
      expect(runs.lines).to.deep.equal([
        'run held > wave 0 > task a > attempt 1 0-20',
        'run held > wave 0 > task a 0-20',
        'run held > wave 0 0-20',
        'run held 0-20',
      ]);
      const open = await runs.held.submit();
      runs.stepWall(-stepMs);
      runs.tracer.close();
      for (const { startTime, endTime } of runs.ended) expect(endTime[0]).to.be.at.least(startTime[0]);
      runs.held.registry.forget(open);
    });
  }

  it('have the run, tenant, tool and number of attempts as attributes', async () => {
    const runs = new TracedRuns(FAN_OUT);
    const { held } = runs;
    const run = await held.submit('acme');
    await held.controlled.returns('a');
    await held.waitUntilIdle();
    for (const call of held.controlled.calls.slice(1)) await held.controlled.returns('x', call);
    await held.registry.settled(run);
    expect(runs.named('run p').attributes).to.deep.equal({
      'wavetrain.run.id': run,
      'wavetrain.pipeline.id': 'p',
      'wavetrain.tenant.id': 'acme',
      'wavetrain.run.status': 'succeeded',
    });
    expect(runs.named('run p').events.map(({ name }) => name)).to.deep.equal(['running']);
    expect(runs.named('wave 1').attributes).to.deep.equal({ 'wavetrain.wave': 1, 'wavetrain.wave.tasks': 1 });
    expect(runs.named('task a').attributes).to.deep.equal({
      'wavetrain.task.id': 'a',
      'wavetrain.tool': 'controlled',
      'wavetrain.task.attempts': 1,
    });
    expect(runs.named('task each').attributes).to.deep.equal({
      'wavetrain.task.id': 'each',
      'wavetrain.tool': 'controlled',
      'wavetrain.task.items': 2,
    });
    const attempts = runs.ended.filter(({ name }) => name === 'attempt 1');
    expect(attempts.map(({ attributes }) => attributes['wavetrain.item'])).to.deep.equal([undefined, 0, 1]);
    expect(attempts[2]?.attributes).to.deep.equal({
      'wavetrain.attempt': 1,
      'wavetrain.task.id': 'each',
      'wavetrain.tool': 'controlled',
      'wavetrain.item': 1,
    });
  });

  it('record the error of a failed run in every span that it affects', async () => {
    const runs = new TracedRuns();
    const run = await runs.held.submit();
    await runs.advance(7);
    await runs.held.controlled.rejects(new Error('no luck'));
    await runs.held.registry.settled(run);
    expect(runs.lines).to.deep.equal([
      'run held > wave 0 > task a > attempt 1 0-7 ! no luck',
      'run held > wave 0 > task a 0-7 ! no luck',
      'run held > wave 0 0-7',
      'run held 0-7 ! no luck',
    ]);
    expect(runs.named('run held').attributes).to.include({ 'wavetrain.run.status': 'failed' });
    expect(runs.named('task a').events.map(({ name, attributes }) => [name, attributes])).to.deep.equal([
      ['exception', { 'exception.message': 'no luck' }],
    ]);
  });

  it('end with the last wave of a cancelled run (D21)', async () => {
    const runs = new TracedRuns();
    const run = await runs.held.submit();
    await runs.advance(10);
    await runs.held.registry.cancel(run);
    expect(runs.lines).to.deep.equal([]);
    expect(runs.tracer.size).to.equal(1);
    await runs.advance(30);
    await runs.held.complete(run);
    expect(runs.lines).to.deep.equal([
      'run held > wave 0 > task a > attempt 1 0-40',
      'run held > wave 0 > task a 0-40',
      'run held > wave 0 0-40',
      'run held 0-40',
    ]);
    expect(runs.named('run held').attributes).to.include({ 'wavetrain.run.status': 'cancelled' });
  });

  it('record which tools were stopped by force', async () => {
    const runs = new TracedRuns();
    const run = await runs.held.submit();
    await runs.advance(10);
    await runs.held.registry.cancel(run, { force: true });
    await runs.held.registry.settled(run);
    await runs.advance(10);
    await runs.held.controlled.returns('too late');
    expect(runs.lines).to.deep.equal([
      'run held > wave 0 > task a > attempt 1 0-10 ! stopped by force',
      'run held > wave 0 > task a 0-10 ! stopped by force',
      'run held > wave 0 0-10',
      'run held 0-10',
    ]);
  });

  it('are one span for a run that never started', async () => {
    const runs = new TracedRuns(undefined, { admission: { maxRunning: 1, maxQueued: 1 } });
    const first = await runs.held.submit();
    const second = await runs.held.submit();
    await runs.advance(3);
    await runs.held.registry.cancel(second);
    expect(runs.lines).to.deep.equal(['run held 0-3']);
    await runs.held.complete(first);
    expect(runs.lines).to.have.length(5);
  });

  it('forget a run that is over, even if a tool still emits events', async () => {
    const runs = new TracedRuns();
    for (let count = 0; count < 3; count++) {
      const run = await runs.held.submit();
      const { log } = runs.held.controlled.last.context;
      expect(runs.tracer.size).to.equal(1);
      expect(runs.spans.open).to.equal(4);
      await runs.held.complete(run);
      log('too late');
      expect(runs.tracer.size).to.equal(0);
      expect(runs.spans.open).to.equal(0);
    }
    expect(runs.ended).to.have.length(12);
  });

  it('mark reused tasks (D35)', async () => {
    const runs = new TracedRuns(
      '{id: p, goal: g, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}',
    );
    const { held } = runs;
    const run = await held.submit();
    await held.controlled.returns('a');
    await held.waitUntilIdle();
    await held.controlled.rejects(new Error('no'));
    await held.registry.settled(run);
    const before = runs.ended.length;
    const again = await held.registry.rerun(run, { from: 'failed' });
    await held.waitUntilIdle();
    await held.complete(again);
    const reused = runs.ended
      .slice(before)
      .map(({ name, attributes }) => [name, attributes['wavetrain.task.reused']]);
    expect(reused).to.deep.equal([
      ['task a', true],
      ['wave 0', undefined],
      ['attempt 1', undefined],
      ['task b', undefined],
      ['wave 1', undefined],
      ['run p', undefined],
    ]);
  });

  it('end when tracing closes while a run is running, children first', async () => {
    const complaints: unknown[] = [];
    const complain = (message: string): void => void complaints.push(message);
    const logger = { error: complain, warn: complain, info() {}, debug() {}, verbose() {} };
    diag.setLogger(logger, { suppressOverrideMessage: true });
    const runs = new TracedRuns();
    const run = await runs.held.submit();
    await runs.advance(25);
    runs.tracer.close();
    expect(runs.lines.map((line) => line.replace(/.* > /, ''))).to.deep.equal([
      'attempt 1 0-25',
      'task a 0-25',
      'wave 0 0-25',
      'run held 0-25',
    ]);
    await runs.held.complete(run);
    diag.disable();
    expect(runs.ended).to.have.length(4);
    expect(complaints).to.deep.equal([]);
  });
});
