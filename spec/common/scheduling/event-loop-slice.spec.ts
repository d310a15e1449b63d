import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { EventLoopSlice } from '../../../lib/common/scheduling/event-loop-slice.js';
import { settle } from '../../support/deferred.js';

function workFor(ms: number): void {
  for (const startMs = performance.now(); performance.now() - startMs <= ms; );
}

describe('EventLoopSlice', () => {
  it('lasts to the end of the turn in which it begins', async () => {
    const slice = new EventLoopSlice(2);
    slice.start();
    workFor(2);
    expect(slice.isOver).to.equal(true);
    await settle(1);
    expect(slice.isOver).to.equal(false);
  });

  it('is not ended by the end of an earlier slice', async () => {
    const slice = new EventLoopSlice(2);
    setImmediate(() => {
      slice.start();
      workFor(2);
    });
    slice.start();
    const isOver = await new Promise((resolve) => {
      setImmediate(() => resolve(slice.isOver));
    });
    expect(isOver).to.equal(true);
  });
});
