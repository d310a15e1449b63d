import { expect } from 'chai';
import { rmSync } from 'node:fs';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { clockAt, pipelineText, useLibraries } from '../test-library.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ONE_RUN = { maxRunning: 1, maxQueued: 0 };

describe('Schedules (D70)', () => {
  const { folder, start, startStored, close, write: writeFile } = useLibraries();
  const write = (id: string, fields: string): string => writeFile(`${id}.yaml`, pipelineText(id, fields));

  describe('on time', () => {
    it('start a run when they are due, once, and show the next times and the last one', async () => {
      write('six', 'schedule: "0 6 * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:58:00Z') });
      const { schedule } = await opened.show('six');
      expect(schedule).to.deep.equal({
        cron: ['0 6 * * *'],
        timezone: 'UTC',
        overlap: 'skip',
        catch_up: false,
        paused: false,
        next_runs: ['2026-01-01T06:00:00.000Z', '2026-01-02T06:00:00.000Z', '2026-01-03T06:00:00.000Z'],
        last: null,
      });
      await opened.pass(MINUTE);
      expect(opened.runs).to.have.length(0);
      await opened.pass(5 * MINUTE);
      expect(opened.creationTimes).to.deep.equal(['06:00']);
      const shown = await opened.show('six');
      const [run] = opened.runs;
      expect(shown.schedule?.last).to.deep.equal({
        due_at: '2026-01-01T06:00:00.000Z',
        run_id: run?.run_id,
        outcome: 'started',
      });
      expect(shown.schedule?.next_runs[0]).to.equal('2026-01-02T06:00:00.000Z');
      expect(shown.last_runs.map(({ run_id, status }) => [run_id, status])).to.deep.equal([
        [run?.run_id, 'running'],
      ]);
    });

    it('start runs whose trigger is "schedule" (D28), with a null one for their reruns', async () => {
      write('six', 'schedule: "0 6 * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(MINUTE);
      const runId = opened.runs[0]?.run_id ?? '';
      opened.controlled.calls[0]?.resolve('done');
      expect(await opened.registry.settled(runId)).to.include({ trigger: 'schedule', status: 'succeeded' });
      const rerun = opened.registry.record(await opened.registry.rerun(runId));
      expect(rerun).to.include({ trigger: null, rerun_of: runId });
    });

    it('start runs of the tenant whose folder the file is in', async () => {
      folder.write('pipelines/tenants/acme/six.yaml', pipelineText('six', 'schedule: "0 6 * * *"'));
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(MINUTE);
      expect(opened.runs.map(({ tenant_id }) => tenant_id)).to.deep.equal(['acme']);
    });

    it('start one run in the hour that daylight saving repeats, and one after the hour that it skips', async () => {
      write('night', 'schedule: "30 2 * * *", timezone: Europe/Berlin, overlap: allow');
      const autumn = await start({ clock: clockAt('2026-10-25T00:00:00Z') });
      await autumn.pass(3 * HOUR);
      expect(autumn.creationTimes).to.deep.equal(['00:30']);
      const spring = await start({ clock: clockAt('2026-03-29T00:00:00Z') });
      await spring.pass(3 * HOUR);
      expect(spring.creationTimes).to.deep.equal(['01:00']);
    });

    it('start nothing any more when the server shuts down', async () => {
      write('six', 'schedule: "0 6 * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:00Z') });
      await opened.scheduler.close();
      await opened.pass(5 * MINUTE);
      expect(opened.runs).to.have.length(0);
    });
  });

  describe('while the last run is at work', () => {
    it('skip their times, however many come, and go on when it has settled', async () => {
      write('each', 'schedule: "* * * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(10 * MINUTE);
      expect(opened.creationTimes).to.deep.equal(['06:00']);
      const { schedule } = await opened.show('each');
      expect(schedule?.last).to.include({
        outcome: 'skipped',
        run_id: null,
        due_at: '2026-01-01T06:09:00.000Z',
      });
      expect(schedule?.last?.reason).to.match(/^run [\w-]+ has not settled yet$/);
      await opened.controlled.returns('done');
      await opened.pass(MINUTE);
      expect(opened.creationTimes).to.deep.equal(['06:00', '06:10']);
    });

    it('let one run wait with overlap: queue, which starts when the last one settles', async () => {
      write('each', 'schedule: "* * * * *", overlap: queue');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(90_000);
      expect((await opened.show('each')).schedule?.last).to.include({ outcome: 'queued', run_id: null });
      await opened.pass(3 * MINUTE);
      expect((await opened.show('each')).schedule?.last?.outcome).to.equal('skipped');
      expect(opened.runs).to.have.length(1);
      await opened.controlled.returns('done');
      await settle(10);
      expect(opened.runs).to.have.length(2);
      expect((await opened.show('each')).schedule?.last).to.include({
        outcome: 'started',
        due_at: '2026-01-01T06:01:00.000Z',
      });
    });

    it('start no run while as many of the definition are at work as max_running allows, with on_busy: skip (D81)', async () => {
      write('each', 'schedule: "* * * * *", overlap: allow, max_running: 1, on_busy: skip');
      const opened = await start({ clock: clockAt('2026-01-01T00:00:30Z') });
      await opened.pass(2 * MINUTE);
      expect(opened.creationTimes).to.deep.equal(['00:01']);
      const { schedule } = await opened.show('each');
      expect(schedule?.last).to.include({ outcome: 'skipped', due_at: '2026-01-01T00:02:00.000Z' });
      expect(schedule?.last?.reason).to.contain(`run ${opened.runs[0]?.run_id} came first`);
      expect(opened.skipped).to.deep.equal(['schedule']);
    });

    it('start further runs with overlap: allow', async () => {
      write('each', 'schedule: "* * * * *", overlap: allow');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(3 * MINUTE);
      expect(opened.creationTimes).to.deep.equal(['06:00', '06:01', '06:02']);
    });

    it('let one run wait while the queue of the server is full, log that once, and skip later times (D25)', async () => {
      write('each', 'schedule: "* * * * *", overlap: allow');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z'), admission: ONE_RUN });
      await opened.pass(2 * MINUTE);
      const log = opened.log.filter((line) => line.includes('queued'));
      expect(log).to.have.length(1);
      expect((await opened.show('each')).schedule?.last).to.include({
        outcome: 'queued',
        due_at: '2026-01-01T06:01:00.000Z',
      });
      await opened.pass(MINUTE);
      expect(opened.log.filter((line) => line.includes('queued'))).to.deep.equal(log);
      expect((await opened.show('each')).schedule?.last).to.deep.equal({
        outcome: 'skipped',
        due_at: '2026-01-01T06:02:00.000Z',
        run_id: null,
        reason: 'the run of 2026-01-01T06:01:00.000Z still waits',
      });
      await opened.controlled.returns('done');
      await opened.pass(30_000);
      expect(opened.runs).to.have.length(2);
      expect((await opened.show('each')).schedule?.last).to.include({
        outcome: 'queued',
        due_at: '2026-01-01T06:03:00.000Z',
      });
    });

    it('ask for the run of a time once at each look while the queue of the server is full (D25)', async () => {
      write('each', 'schedule: "* * * * *", overlap: allow');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z'), admission: ONE_RUN });
      await opened.pass(MINUTE);
      const asked: string[] = [];
      const submitOnce = opened.registry.submitOnce.bind(opened.registry);
      opened.registry.submitOnce = (tenantId, key, submit) => {
        asked.push(key.key.slice(-24));
        return submitOnce(tenantId, key, submit);
      };
      await opened.pass(45_000);
      expect(asked).to.deep.equal(['2026-01-01T06:01:00.000Z']);
    });
  });

  describe('when the clock jumps', () => {
    it('say how many times were missed, and start none', async () => {
      write('hourly', 'schedule: "0 * * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:30:00Z') });
      opened.clock.stepWall(5 * HOUR);
      await opened.pass(MINUTE);
      expect(opened.runs).to.have.length(0);
      const { schedule } = await opened.show('hourly');
      expect(schedule?.last).to.deep.equal({
        due_at: '2026-01-01T10:00:00.000Z',
        run_id: null,
        outcome: 'missed',
        reason: 'the server was not at work, or its clock was set: 5 times missed',
        missed: 5,
      });
      expect(schedule?.next_runs[0]).to.equal('2026-01-01T11:00:00.000Z');
      expect(opened.log.join('\n')).to.match(/warning: a schedule has missed 5 times/);
    });

    it('make up for all of them by one run with catch_up', async () => {
      write('hourly', 'schedule: "0 * * * *", catch_up: true, overlap: allow');
      const opened = await start({ clock: clockAt('2026-01-01T05:30:00Z') });
      opened.clock.stepWall(5 * HOUR);
      await opened.pass(5 * MINUTE);
      expect(opened.runs).to.have.length(1);
      expect((await opened.show('hourly')).schedule?.last).to.include({ outcome: 'started', missed: 5 });
    });

    it('start one run for a time that has just come, though others before were missed', async () => {
      write('each', 'schedule: "* * * * *", overlap: allow');
      const opened = await start({ clock: clockAt('2026-01-01T06:00:30Z') });
      opened.clock.stepWall(10 * MINUTE);
      await opened.pass(30_000);
      expect(opened.runs).to.have.length(1);
      expect((await opened.show('each')).schedule?.last).to.include({ outcome: 'started', missed: 10 });
    });

    it('start no time twice when it goes back', async () => {
      write('six', 'schedule: "0 6 * * *", overlap: allow');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(MINUTE);
      expect(opened.runs).to.have.length(1);
      opened.clock.stepWall(-10 * MINUTE);
      await opened.pass(30 * MINUTE);
      expect(opened.runs).to.have.length(1);
    });

    it('go on from the time that it shows when it was hours ahead, and start no time twice (D36)', async () => {
      write('hourly', 'schedule: "0 * * * *", overlap: allow');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(MINUTE);
      opened.clock.stepWall(30 * 24 * HOUR);
      await opened.pass(HOUR);
      expect(opened.runs).to.have.length(3);
      opened.clock.stepWall(-30 * 24 * HOUR - 90 * MINUTE);
      await opened.pass(3 * HOUR);
      // 6:00 of the first day comes again, and its run is there.
      expect(opened.runs.map(({ created_at }) => created_at.slice(5, 16))).to.deep.equal([
        '01-01T06:00',
        '01-31T06:01',
        '01-31T07:00',
        '01-01T07:00',
        '01-01T08:00',
      ]);
    });

    it('count the times of years without taking long', async () => {
      write('each', 'schedule: "* * * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      opened.clock.stepWall(3 * 365 * 24 * HOUR);
      await opened.pass(MINUTE);
      expect((await opened.show('each')).schedule?.last).to.include({ outcome: 'started', missed: 99 });
    });
  });

  describe('whose file changes', () => {
    it('have the new times from then on, and not those of the past', async () => {
      write('p', 'schedule: "0 6 * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(MINUTE);
      write('p', 'schedule: ["0 6 * * *", "59 5 * * *", "5 6 * * *"], overlap: allow');
      await opened.look();
      await opened.pass(10 * MINUTE);
      expect(opened.creationTimes).to.deep.equal(['06:00', '06:05']);
    });

    it('keep the times of the last version without errors', async () => {
      write('p', 'schedule: "0 6 * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      write('p', 'schedule: "0 7 * *"');
      await opened.look();
      expect(await opened.show('p')).to.include({ ok: false, stale: true });
      await opened.pass(MINUTE);
      expect(opened.creationTimes).to.deep.equal(['06:00']);
    });

    it('start nothing any more when the file is removed, and leave its run alone', async () => {
      const file = write('p', 'schedule: "* * * * *"');
      const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
      await opened.pass(MINUTE);
      rmSync(file);
      await opened.look();
      await opened.pass(5 * MINUTE);
      expect(opened.runs.map(({ status }) => status)).to.deep.equal(['running']);
    });
  });

  describe('with a store', () => {
    it('start a time once, however often the server is started again in the meantime', async () => {
      write('six', 'schedule: "0 6 * * *", catch_up: true, overlap: allow');
      const clock = clockAt('2026-01-01T05:59:30Z');
      for (let times = 0; times < 3; times++) {
        const opened = await startStored(clock);
        await opened.pass(45_000);
        expect(opened.creationTimes).to.deep.equal(['06:00']);
        expect(opened.runs[0]?.trigger).to.equal('schedule');
        await close(opened);
      }
    });

    it('start a time once when the file that says so was not written before the end', async () => {
      write('six', 'schedule: "0 6 * * *", catch_up: true, overlap: allow');
      const clock = clockAt('2026-01-01T05:59:30Z');
      const first = await startStored(clock);
      const before = JSON.stringify({
        format: 1,
        schedules: [
          {
            tenant_id: 'default',
            id: 'six',
            schedule: JSON.stringify([['0 6 * * *'], 'UTC']),
            handled_at: Date.parse('2025-12-31T06:00:00Z'),
            last: null,
            run_id: null,
            waiting: null,
          },
        ],
      });
      await first.pass(MINUTE);
      expect(first.runs).to.have.length(1);
      await close(first);
      folder.write('runs.db.schedules.json', before);
      clock.advance(HOUR);
      const second = await startStored(clock);
      await second.pass(MINUTE);
      expect(second.creationTimes).to.deep.equal(['06:00']);
      expect((await second.show('six')).schedule?.last).to.include({
        outcome: 'started',
        run_id: second.runs[0]?.run_id,
      });
    });

    it('know which times came while no server was there, and make up for them once', async () => {
      write('plain', 'schedule: "0 6 * * *"');
      write('made-up', 'schedule: "0 6 * * *", catch_up: true');
      const clock = clockAt('2026-01-01T05:00:00Z');
      const first = await startStored(clock);
      await first.pass(HOUR + MINUTE);
      await first.controlled.started(2);
      for (const call of first.controlled.calls) call.resolve('done');
      await Promise.all(first.runs.map(({ run_id }) => first.registry.settled(run_id)));
      await close(first);
      clock.advance(3 * 24 * HOUR + HOUR);
      const second = await startStored(clock);
      await second.pass(MINUTE);
      expect((await second.show('plain')).schedule?.last).to.include({ outcome: 'missed', missed: 3 });
      expect((await second.show('made-up')).schedule?.last).to.include({ outcome: 'started', missed: 3 });
      expect(await second.listKeptRuns()).to.have.length(3);
    });

    it('see that the run of another process is still at work', async () => {
      write('each', 'schedule: "* * * * *"');
      const clock = clockAt('2026-01-01T05:59:30Z');
      const first = await startStored(clock);
      await first.pass(MINUTE);
      await close(first);
      const second = await startStored(clock);
      await second.pass(2 * MINUTE);
      expect(second.runs).to.have.length(1);
      expect((await second.show('each')).schedule?.last?.outcome).to.equal('skipped');
    });

    it('miss no times of a schedule that was another one, or not there', async () => {
      write('six', 'schedule: "0 6 * * *", catch_up: true');
      const clock = clockAt('2026-01-01T06:30:00Z');
      await close(await startStored(clock));
      write('six', 'schedule: "0 5 * * *", catch_up: true');
      clock.advance(24 * HOUR);
      const second = await startStored(clock);
      await second.pass(MINUTE);
      expect(second.runs).to.have.length(0);
      expect((await second.show('six')).schedule?.last).to.equal(null);
    });

    it('refuse a file of another kind in the place of the one that says how far they have come', async () => {
      write('six', 'schedule: "0 6 * * *"');
      folder.write('runs.db.schedules.json', '{"format": 9}');
      const refused = await catchRejection(startStored());
      expect(refused).to.include({ code: 'bad_usage' });
    });
  });
});
