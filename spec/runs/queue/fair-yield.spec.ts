import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { fairYield } from '../../../lib/runs/admission.js';

describe('fairYield', () => {
  it('resumes concurrent callers one per event-loop slice and lets other callbacks run in between', async () => {
    const order: string[] = [];
    const callers = Array.from({ length: 4 }, async (_, position) => {
      await fairYield();
      order.push(`caller ${position}`);
      block(10);
      setImmediate(() => order.push('other'));
    });
    await Promise.all(callers);
    const callersInOrder = order.filter((word) => word !== 'other');
    expect(callersInOrder).to.deep.equal(['caller 0', 'caller 1', 'caller 2', 'caller 3']);
    expect(order.indexOf('other')).to.be.below(order.indexOf('caller 3'));
  });

  it('resolves at once while the event-loop budget is not used up', async () => {
    await new Promise(setImmediate);
    let isLater = false;
    setImmediate(() => {
      isLater = true;
    });
    await fairYield();
    expect(isLater).to.equal(false);
  });
});

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
