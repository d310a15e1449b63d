import { expect } from 'chai';
import {
  FIRST_RANGE,
  isFiltered,
  isTyping,
  listPath,
  reachesBefore,
  readFilters,
  writeFilters,
} from '../../../web/console/runs/run-filters.js';

describe('The filters of the list of runs', () => {
  it('are in the address of the page, and lead back from there', () => {
    const filters = {
      status: 'failed',
      pipeline: 'p 1',
      tenant: 't',
      trigger: 'schedule',
      started_by: 'key:ci',
      label: 'team:billing',
      text: 'a&b',
      period: 'day',
    } as const;
    expect(readFilters(new URL(writeFilters(filters), 'http://x').search)).to.deep.equal(filters);
    expect(writeFilters(readFilters(''))).to.equal('/');
    expect(isFiltered(readFilters('?period=nonsense'))).to.equal(false);
  });

  it('make a step back for each change but letters that are typed', () => {
    expect(isTyping({ text: 'd' })).to.equal(true);
    expect(isTyping({ status: 'failed' })).to.equal(false);
    expect(isTyping(readFilters(''))).to.equal(false);
  });

  it('know that they go back to a time of which no run is kept', () => {
    const now = Date.parse('2026-11-23T10:30:00.000Z');
    const reaches = (period: string, oldest: string | null): boolean =>
      reachesBefore(readFilters(`?period=${period}`), oldest, now);
    expect(reaches('day', '2026-11-23T08:00:00.000Z')).to.equal(true);
    expect(reaches('hour', '2026-11-23T08:00:00.000Z')).to.equal(false);
    expect(reaches('any', '2026-11-23T08:00:00.000Z')).to.equal(false);
    expect(reaches('week', null)).to.equal(false);
  });

  it('ask the server for the same minute as long as it lasts', () => {
    const filters = readFilters('?period=hour&text=%20disk%20&status=failed&trigger=webhook&label=team%3Aa');
    const path = listPath(filters, Date.parse('2026-11-23T10:30:59.000Z'), FIRST_RANGE);
    expect(path).to.equal(listPath(filters, Date.parse('2026-11-23T10:30:01.000Z'), FIRST_RANGE));
    const query = new URL(path, 'http://x').searchParams;
    expect(Object.fromEntries(query)).to.deep.equal({
      counts: 'true',
      limit: '50',
      status: 'failed',
      trigger: 'webhook',
      label: 'team:a',
      text: 'disk',
      created_after: '2026-11-23T09:30:00.000Z',
    });
  });
});
