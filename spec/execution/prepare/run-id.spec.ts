import { expect } from 'chai';
import { createRunId } from '../../../lib/execution/prepare/prepare-run.js';

describe('createRunId (D27)', () => {
  it('creates lower-case UUIDs of version 7', () => {
    for (let time = 0; time < 100; time++) {
      expect(createRunId(Date.UTC(2026, 10, 21))).to.match(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });

  it('creates ids that sort by time', () => {
    const times = [0, 1, 1_000, Date.UTC(2026, 10, 21), Date.UTC(9999, 0, 1)];
    const ids = times.map(createRunId);
    expect([...ids].sort()).to.deep.equal(ids);
    expect(ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))).to.deep.equal(times);
  });

  it('creates distinct ids within a millisecond', () => {
    expect(new Set(Array.from({ length: 1000 }, () => createRunId(1))).size).to.equal(1000);
  });
});
