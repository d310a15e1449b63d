import { expect } from 'chai';
import { settle } from '../../support/deferred.js';
import { clockAt, pipelineText, type TestLibrary, useLibraries } from '../test-library.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('Schedules that are paused (D70)', () => {
  const { start, startStored, close, write: writeFile } = useLibraries();
  const write = (fields: string): string => writeFile('p.yaml', pipelineText('p', fields));

  it('start nothing, show no next time, and neither miss nor make up for the times that pass', async () => {
    write('schedule: "* * * * *", catch_up: true, overlap: allow, paused: true');
    const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
    await opened.pass(10 * MINUTE);
    expect((await opened.show('p')).schedule).to.include({ paused: true, last: null });
    expect((await opened.show('p')).schedule?.next_runs).to.deep.equal([]);
    expect(opened.scheduler.count).to.equal(1);
    const logged = opened.log.length;
    opened.clock.advance(HOUR);
    await opened.pass(MINUTE);
    write('schedule: "* * * * *", catch_up: true, overlap: allow');
    await opened.look();
    await opened.pass(MINUTE);
    expect(opened.creationTimes).to.deep.equal(['07:11']);
    expect((await opened.show('p')).schedule?.last).to.deep.equal({
      due_at: '2026-01-01T07:11:00.000Z',
      run_id: opened.runs[0]?.run_id,
      outcome: 'started',
    });
    expect(opened.log.slice(logged)).to.deep.equal(['a schedule has started a run']);
  });

  it('go on from the next time when they are resumed, and keep what became of the last one', async () => {
    write('schedule: "0 * * * *"');
    const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
    await opened.pass(MINUTE);
    const { last } = (await opened.show('p')).schedule ?? {};
    expect(last).to.include({ outcome: 'started' });
    write('schedule: "0 * * * *", paused: true');
    await opened.look();
    await opened.pass(2 * HOUR);
    expect((await opened.show('p')).schedule).to.deep.include({ paused: true, next_runs: [], last });
    write('schedule: "0 * * * *", paused: false');
    await opened.look();
    expect((await opened.show('p')).schedule?.next_runs[0]).to.equal('2026-01-01T09:00:00.000Z');
    await opened.controlled.returns('done');
    await opened.pass(HOUR);
    expect(opened.creationTimes).to.deep.equal(['06:00', '09:00']);
  });

  it('leave a run alone that has begun, and can still be run by a request', async () => {
    write('schedule: "* * * * *"');
    const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
    await opened.pass(MINUTE);
    write('schedule: "* * * * *", paused: true');
    await opened.look();
    await opened.submit('p');
    await opened.pass(MINUTE);
    expect(opened.runs.map(({ status, trigger }) => [status, trigger])).to.deep.equal([
      ['running', 'schedule'],
      ['running', null],
    ]);
  });

  it('skip the time that waits for the last run, and start it neither when that settles nor when they are resumed', async () => {
    write('schedule: "* * * * *", overlap: queue');
    const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
    await opened.pass(90_000);
    expect((await opened.show('p')).schedule?.last).to.include({ outcome: 'queued' });
    write('schedule: "* * * * *", overlap: queue, paused: true');
    await opened.look();
    await opened.scheduler.idle();
    expect((await opened.show('p')).schedule?.last).to.deep.equal({
      due_at: '2026-01-01T06:01:00.000Z',
      run_id: null,
      outcome: 'skipped',
      reason: 'the schedule was paused before its run began',
    });
    await opened.controlled.returns('done');
    await opened.pass(5 * MINUTE);
    expect(opened.creationTimes).to.deep.equal(['06:00']);
    write('schedule: "* * * * *", overlap: queue');
    await opened.look();
    await settle(10);
    expect(opened.creationTimes).to.deep.equal(['06:00']);
    await opened.pass(MINUTE);
    expect(opened.runs).to.have.length(2);
  });

  describe('with a store', () => {
    const DAILY = 'schedule: "0 6 * * *", catch_up: true';
    const pauseAfterFirstRun = async (): Promise<TestLibrary> => {
      write(DAILY);
      const first = await startStored(clockAt('2026-01-01T05:59:30Z'));
      await first.pass(MINUTE);
      await first.controlled.returns('done');
      write(`${DAILY}, paused: true`);
      await first.look();
      return first;
    };

    it('stay so across a restart, and have missed nothing when they are resumed after it', async () => {
      const first = await pauseAfterFirstRun();
      const { clock } = first;
      await close(first);
      clock.advance(2 * DAY);
      const second = await startStored(clock);
      await second.pass(MINUTE);
      expect((await second.show('p')).schedule).to.deep.include({ paused: true, next_runs: [] });
      expect((await second.show('p')).schedule?.last).to.include({ outcome: 'started' });
      clock.advance(DAY);
      write(DAILY);
      await second.look();
      await second.pass(MINUTE);
      expect(await second.listKeptRuns()).to.have.length(1);
      expect((await second.show('p')).schedule?.last).to.include({ due_at: '2026-01-01T06:00:00.000Z' });
      await second.pass(DAY);
      expect(await second.listKeptRuns()).to.have.length(2);
    });

    it('have missed nothing when they are resumed while no server is at work', async () => {
      write(`${DAILY}, paused: true`);
      const clock = clockAt('2026-01-01T05:59:30Z');
      await close(await startStored(clock));
      clock.advance(2 * DAY);
      write(DAILY);
      const second = await startStored(clock);
      await second.pass(MINUTE);
      expect(second.runs.map(({ created_at }) => created_at.slice(0, 16))).to.deep.equal([
        '2026-01-03T06:00',
      ]);
      expect((await second.show('p')).schedule?.last).to.not.have.property('missed');
    });

    it('have missed nothing of a pause that was over before the process ended', async () => {
      const first = await pauseAfterFirstRun();
      const { clock } = first;
      await first.pass(MINUTE);
      clock.advance(2 * DAY);
      write(DAILY);
      await first.look();
      await close(first);
      const second = await startStored(clock);
      await second.pass(MINUTE);
      expect(await second.listKeptRuns()).to.have.length(1);
      expect((await second.show('p')).schedule?.last).to.include({ outcome: 'started' });
    });
  });
});
