import { expect } from 'chai';
import { newRunId } from '../../../lib/execution/prepare/prepare.js';

describe('run ids (D27)', () => {
  it('are UUIDs of version 7, in lower case', () => {
    for (let time = 0; time < 100; time++) {
      expect(newRunId(Date.UTC(2026, 10, 21))).to.match(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });

  it('carry their time, and so sort by it', () => {
    const times = [0, 1, 1_000, Date.UTC(2026, 10, 21), Date.UTC(9999, 0, 1)];
    const ids = times.map(newRunId);
    expect([...ids].sort()).to.deep.equal(ids);
    expect(ids.map((id) => Number.parseInt(id.replace('-', '').slice(0, 12), 16))).to.deep.equal(times);
  });

  it('differ within a millisecond', () => {
    expect(new Set(Array.from({ length: 1000 }, () => newRunId(1))).size).to.equal(1000);
  });
});
