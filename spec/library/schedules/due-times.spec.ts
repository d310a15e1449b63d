import { expect } from 'chai';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { ScheduleTimes } from '../../../lib/definition/triggers/cron.js';
import { findDueTimes, MAX_COUNTED } from '../../../lib/library/schedules/due-times.js';

describe('The times at which a schedule was due (D70)', () => {
  const find = (cron: string, after: string, until: string): object => {
    const times = new ScheduleTimes([cron], 'UTC');
    const { latest, count, next } = runToEnd(findDueTimes(times, Date.parse(after), Date.parse(until)));
    const format = (time: number | undefined): string | undefined =>
      time === undefined ? undefined : new Date(time).toISOString().slice(0, 16);
    return { latest: format(latest), count, next: format(next) };
  };

  const cases: [
    cron: string,
    after: string,
    until: string,
    latest: string | undefined,
    count: number,
    next: string,
  ][] = [
    ['0 6 * * *', '2026-01-01T06:00Z', '2026-01-02T05:59Z', undefined, 0, '2026-01-02T06:00'],
    ['0 6 * * *', '2026-01-01T06:00Z', '2026-01-02T06:00Z', '2026-01-02T06:00', 1, '2026-01-03T06:00'],
    ['0 * * * *', '2026-01-01T06:30Z', '2026-01-01T09:30Z', '2026-01-01T09:00', 3, '2026-01-01T10:00'],
    [
      '* * * * *',
      '2026-01-01T00:00Z',
      '2026-01-01T01:40Z',
      '2026-01-01T01:40',
      MAX_COUNTED,
      '2026-01-01T01:41',
    ],
    [
      '* * * * *',
      '2026-01-01T00:00Z',
      '2027-06-01T01:40:30Z',
      '2027-06-01T01:40',
      MAX_COUNTED,
      '2027-06-01T01:41',
    ],
    [
      '0 0 1 1 *',
      '1900-01-01T00:00Z',
      '2026-06-01T00:00Z',
      '2026-01-01T00:00',
      MAX_COUNTED,
      '2027-01-01T00:00',
    ],
  ];
  for (const [cron, after, until, latest, count, next] of cases) {
    it(`are found for ${cron} from ${after} to ${until}: the last, their number, and the next one`, () => {
      expect(find(cron, after, until)).to.deep.equal({ latest, count, next });
    });
  }
});
