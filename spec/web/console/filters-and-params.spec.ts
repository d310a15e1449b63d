import { expect } from 'chai';
import {
  FIRST_RANGE,
  isFiltered,
  listPath,
  readFilters,
  writeFilters,
} from '../../../web/console/runs/run-filters.js';
import { initialText, readParam, readParams } from '../../../web/console/shell/params.js';

describe('The filters of the list of runs', () => {
  it('are in the address of the page, and lead back from there', () => {
    const filters = { status: 'failed', pipeline: 'p 1', tenant: 't', text: 'a&b', period: 'day' } as const;
    expect(readFilters(new URL(writeFilters(filters), 'http://x').search)).to.deep.equal(filters);
    expect(writeFilters(readFilters(''))).to.equal('/');
    expect(isFiltered(readFilters('?period=nonsense'))).to.equal(false);
  });

  it('ask the server for the same minute as long as it lasts', () => {
    const filters = readFilters('?period=hour&text=%20disk%20&status=failed');
    const path = listPath(filters, Date.parse('2026-11-23T10:30:59.000Z'), FIRST_RANGE);
    expect(path).to.equal(listPath(filters, Date.parse('2026-11-23T10:30:01.000Z'), FIRST_RANGE));
    const query = new URL(path, 'http://x').searchParams;
    expect(Object.fromEntries(query)).to.deep.equal({
      counts: 'true',
      limit: '50',
      status: 'failed',
      text: 'disk',
      created_after: '2026-11-23T09:30:00.000Z',
    });
  });
});

describe('The form for params', () => {
  it('reads each type, and says what is wrong', () => {
    expect(readParam({ type: 'integer' }, '12')).to.deep.equal({ ok: true, value: 12 });
    expect(readParam({ type: 'integer' }, '1.5')).to.include({ ok: false });
    expect(readParam({ type: 'number' }, '1.5e3')).to.deep.equal({ ok: true, value: 1500 });
    expect(readParam({ type: 'boolean' }, 'false')).to.deep.equal({ ok: true, value: false });
    expect(readParam({ type: 'list' }, '[1]')).to.deep.equal({ ok: true, value: [1] });
    expect(readParam({ type: 'object' }, '[1]')).to.include({ ok: false });
    expect(readParam({ enum: [1, 'two'] }, '1')).to.deep.equal({ ok: true, value: 1 });
    expect(readParam({ enum: [1, 'two'] }, 'three')).to.include({ ok: false });
    expect(readParam({}, '')).to.deep.equal({ ok: true, value: '' });
    expect(readParam({ type: 'integer' }, '')).to.include({ ok: false });
    expect(readParam({ type: 'integer', default: 3 }, '')).to.deep.equal({ ok: true, value: undefined });
  });

  it('shows defaults, and leaves them to the server while nobody changes them', () => {
    expect(initialText({ type: 'list', default: [1] })).to.equal('[1]');
    expect(initialText({ default: null })).to.equal('');
    const params = { a: { type: 'integer', default: 3 }, b: { type: 'string' } };
    expect(readParams(params, { b: 'x' })).to.deep.equal({ b: 'x' });
    expect(readParams(params, { a: 'no', b: 'x' })).to.equal(undefined);
  });
});
