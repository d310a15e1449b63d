import { expect } from 'chai';
import { findCronProblem, isTimeZone, ScheduleTimes } from '../../../lib/definition/triggers/cron.js';

describe('The times of a schedule (D70)', () => {
  const next = (cron: string | string[], timezone: string, after: string, count: number): string[] => {
    const times = new ScheduleTimes([cron].flat(), timezone);
    const found: string[] = [];
    let time = times.next(Date.parse(after));
    while (time !== undefined && found.length < count) {
      found.push(new Date(time).toISOString().replace(':00.000Z', 'Z'));
      time = times.next(time);
    }
    return found;
  };

  it('come after the moment that is asked for, and never at it', () => {
    expect(next('0 6 * * *', 'UTC', '2026-01-01T05:59:59.999Z', 1)).to.deep.equal(['2026-01-01T06:00Z']);
    expect(next('0 6 * * *', 'UTC', '2026-01-01T06:00:00.000Z', 1)).to.deep.equal(['2026-01-02T06:00Z']);
  });

  it('are those of all its texts, each once', () => {
    expect(next(['0 6 * * 1', '0 6,7 * * *'], 'UTC', '2026-01-05T00:00Z', 3)).to.deep.equal([
      '2026-01-05T06:00Z',
      '2026-01-05T07:00Z',
      '2026-01-06T06:00Z',
    ]);
  });

  it('follow the time zone', () => {
    expect(next('0 6 * * 1-5', 'Europe/Berlin', '2026-07-03T05:00Z', 2)).to.deep.equal([
      '2026-07-06T04:00Z',
      '2026-07-07T04:00Z',
    ]);
    expect(next('@daily', 'America/New_York', '2026-07-01T12:00Z', 1)).to.deep.equal(['2026-07-02T04:00Z']);
  });

  describe('when daylight saving begins in Berlin, on March 29 2026', () => {
    it('come right after the hour that is skipped', () => {
      expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', 3)).to.deep.equal([
        '2026-03-28T01:30Z',
        '2026-03-29T01:00Z',
        '2026-03-30T00:30Z',
      ]);
    });

    it('do not come that day when several are in the hour that is skipped', () => {
      expect(next('0,30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 1)).to.deep.equal([
        '2026-03-30T00:00Z',
      ]);
    });

    it('come every hour that passes for a * in the place of the hour', () => {
      expect(next('0 * * * *', 'Europe/Berlin', '2026-03-28T23:30Z', 3)).to.deep.equal([
        '2026-03-29T00:00Z',
        '2026-03-29T01:00Z',
        '2026-03-29T02:00Z',
      ]);
    });
  });

  describe('when daylight saving ends in Berlin, on October 25 2026', () => {
    const once: [cron: string, times: string[]][] = [
      ['30 2 * * *', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
      ['0,30 2 * * *', ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-26T01:00Z']],
      ['*/30 2 * * *', ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-26T01:00Z']],
      ['0 2,3 * * *', ['2026-10-25T00:00Z', '2026-10-25T02:00Z']],
    ];
    for (const [cron, times] of once) {
      it(`come once in the hour that comes twice: ${cron}`, () => {
        expect(next(cron, 'Europe/Berlin', '2026-10-24T20:00Z', times.length)).to.deep.equal(times);
      });
    }

    it('come in both hours for a * in the place of the hour', () => {
      expect(next('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30Z', 3)).to.deep.equal([
        '2026-10-25T00:00Z',
        '2026-10-25T01:00Z',
        '2026-10-25T02:00Z',
      ]);
    });

    it('come once where the clock is set back by half an hour', () => {
      // Lord Howe ends daylight saving on April 5 2026 at 2:00, which becomes 1:30.
      expect(next('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', 2)).to.deep.equal([
        '2026-04-04T14:45Z',
        '2026-04-05T15:15Z',
      ]);
    });
  });
});

describe('A text for a schedule (D70)', () => {
  for (const text of [
    '* * * * *',
    '0 6 * * 1-5',
    '*/15 8-18 1,15 * MON-FRI',
    '0 0 L * *',
    '@daily',
    '@Hourly',
    ' 0  6 * * * ',
  ]) {
    it(`may be "${text}"`, () => {
      expect(findCronProblem(text)).to.equal(undefined);
    });
  }

  const wrong: [text: string, message: RegExp, hint: RegExp][] = [
    ['', /has no fields, not five/, /^write minute, hour/],
    ['daily', /has one field, not five/, /"0 6 \* \* 1-5"/],
    ['* * * *', /has 4 fields/, /^write minute/],
    ['* * * * * *', /has 6 fields/, /^there are no seconds/],
    ['2026-01-01T00:00:00', /has one field/, /^write/],
    ['61 * * * *', /invalid value for minute: 61/, /^write/],
    ['0 6 * * FOO', /illegal characters/, /^write/],
    ['0 0 30 2 *', /never comes/, /^no month has such a day$/],
    ['@reboot', /there is no "@reboot"/, /@daily/],
  ];
  for (const [text, message, hint] of wrong) {
    it(`cannot be "${text}"`, () => {
      const problem = findCronProblem(text);
      expect(problem?.message).to.match(message);
      expect(problem?.hint).to.match(hint);
    });
  }

  it('has a time zone with a name', () => {
    expect(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'].filter(isTimeZone)).to.have.length(3);
    expect(['', '+02:00', 'Europe/Berln', 'Mars'].filter(isTimeZone)).to.deep.equal([]);
  });
});
