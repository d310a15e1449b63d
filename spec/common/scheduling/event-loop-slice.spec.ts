import { expect } from 'chai';
import { EventLoopSlice } from '../../../lib/common/scheduling/event-loop-slice.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('EventLoopSlice', () => {
  let clock: ManualClock;
  let slice: EventLoopSlice;

  beforeEach(() => {
    clock = new ManualClock();
    slice = new EventLoopSlice(2, clock);
  });

  it('lasts to the end of the turn in which it begins', async () => {
    slice.start();
    clock.advance(2);
    expect(slice.isOver).to.equal(false);
    clock.advance(1);
    expect(slice.isOver).to.equal(true);
    await settle(1);
    expect(slice.isOver).to.equal(false);
  });

  it('is not ended by the end of an earlier slice', async () => {
    setImmediate(() => {
      slice.start();
      clock.advance(3);
    });
    slice.start();
    const isOver = await new Promise((resolve) => {
      setImmediate(() => resolve(slice.isOver));
    });
    expect(isOver).to.equal(true);
  });
});
