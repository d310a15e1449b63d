import { expect } from 'chai';
import { BusiestIds } from '../../lib/telemetry/busiest-ids.js';

describe('BusiestIds', () => {
  const use = (ids: BusiestIds, id: string, times: number): void => {
    for (let time = 0; time < times; time++) ids.count(id);
  };

  it('gives a label to the first hundred ids, and to busier ones when they are ranked', () => {
    const ids = new BusiestIds();
    for (let index = 0; index < 100; index++) expect(ids.count(`early${index}`)).to.equal(true);
    use(ids, 'early0', 5);
    expect(ids.count('late')).to.equal(false);
    use(ids, 'late', 3);
    expect(ids.has('late')).to.equal(false);
    ids.rank();
    expect(ids.has('late')).to.equal(true);
    expect(ids.has('early0')).to.equal(true);
    expect(ids.has('early99'), 'the last of those that are least busy').to.equal(false);
  });

  it('lets an id keep its label while none is busier', () => {
    const ids = new BusiestIds();
    for (let index = 0; index < 200; index++) ids.count(`id${index}`);
    for (let time = 0; time < 5; time++) ids.rank();
    expect(ids.has('id0')).to.equal(true);
    expect(ids.has('id150')).to.equal(false);
  });

  it('finds a busy id among any number of others', () => {
    const ids = new BusiestIds();
    for (let index = 0; index < 100; index++) ids.count(`early${index}`);
    for (let index = 0; index < 100_000; index++) {
      ids.count(`flood${index}`);
      if (index % 100 === 0) ids.count('busy');
    }
    ids.rank();
    expect(ids.has('busy')).to.equal(true);
  });
});
