import { expect } from 'chai';
import { settle } from '../../support/deferred.js';
import { clockAt, pipelineText, type TestLibrary, useLibraries } from '../test-library.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('What a scheduler measures for alerts (D70)', () => {
  const { start, startStored, close, write: writeFile } = useLibraries();
  const write = (fields: string): string => writeFile('p.yaml', pipelineText('p', fields));
  const measure = (opened: TestLibrary): object => {
    const [first] = opened.scheduler.measure();
    return { lateMs: first?.lateMs, succeededAt: first?.succeededAt };
  };
  const at = (time: string): number => Date.parse(time);

  it('is the end of the last run that has succeeded, also of one that somebody else has started', async () => {
    write('schedule: "0 * * * *", overlap: allow');
    const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
    await opened.pass(MINUTE);
    expect(measure(opened)).to.deep.equal({ lateMs: 0, succeededAt: null });
    await opened.pass(MINUTE);
    opened.controlled.calls[0]?.resolve('done');
    await settle(10);
    expect(measure(opened)).to.deep.equal({ lateMs: 0, succeededAt: at('2026-01-01T06:01:30Z') });
    await opened.pass(HOUR);
    opened.controlled.calls[1]?.reject(new Error('no'));
    await settle(10);
    expect(measure(opened)).to.deep.equal({ lateMs: 0, succeededAt: at('2026-01-01T06:01:30Z') });
    await opened.submit('p');
    await settle(10);
    opened.controlled.calls[2]?.resolve('done');
    await settle(10);
    expect(measure(opened)).to.deep.equal({ lateMs: 0, succeededAt: at('2026-01-01T07:01:30Z') });
  });

  it('is the time since the first one that was due and has started no run, until one starts', async () => {
    write('schedule: "0 * * * *"');
    const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
    await opened.pass(MINUTE);
    await opened.pass(3 * HOUR);
    const since = at('2026-01-01T09:00:30Z') - at('2026-01-01T07:00:00Z');
    expect(measure(opened)).to.deep.equal({ lateMs: since, succeededAt: null });
    opened.controlled.calls[0]?.resolve('done');
    await settle(10);
    expect(measure(opened)).to.include({ lateMs: since });
    await opened.pass(HOUR);
    expect(measure(opened)).to.include({ lateMs: 0 });
  });

  it('is 0 while the schedule is paused', async () => {
    write('schedule: "0 * * * *"');
    const opened = await start({ clock: clockAt('2026-01-01T05:59:30Z') });
    await opened.pass(2 * HOUR);
    expect(measure(opened)).not.to.include({ lateMs: 0 });
    write('schedule: "0 * * * *", paused: true');
    await opened.look();
    expect(measure(opened)).to.include({ lateMs: 0 });
  });

  it('outlives the process where runs do', async () => {
    write('schedule: "0 6 * * *"');
    const first = await startStored(clockAt('2026-01-01T05:59:30Z'));
    await first.pass(MINUTE);
    await settle(10);
    first.controlled.calls[0]?.resolve('done');
    const [run] = first.runs;
    await first.registry.settled(run?.run_id ?? '');
    await settle(10);
    const { succeededAt } = measure(first) as { succeededAt: number };
    expect(succeededAt).to.equal(at('2026-01-01T06:00:30Z'));
    await close(first);
    const second = await startStored(clockAt('2026-01-02T06:30:00Z'));
    await second.pass(MINUTE);
    expect(measure(second)).to.deep.equal({ lateMs: 31 * MINUTE, succeededAt });
  });
});
