import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { freeTurn } from '../../../lib/runs/fair-turn.js';

describe('A turn of the event loop', () => {
  it('is served to one of those who ask for work at once, and what waits beside them is served in between', async () => {
    const told: string[] = [];
    const asked = Array.from({ length: 4 }, async (_, position) => {
      await freeTurn();
      told.push(`began ${position}`);
      hold(10);
      setImmediate(() => told.push('beside'));
    });
    await Promise.all(asked);
    const began = told.filter((word) => word !== 'beside');
    expect(began).to.deep.equal(['began 0', 'began 1', 'began 2', 'began 3']);
    expect(told.indexOf('beside')).to.be.below(told.indexOf('began 3'));
  });

  it('is free at once when nobody has held it', async () => {
    await new Promise(setImmediate);
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await freeTurn();
    expect(turned).to.equal(false);
  });
});

/** Work that takes its time and lets nobody in between. */
function hold(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
