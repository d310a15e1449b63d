import { expect } from 'chai';
import { Polling } from '../../../web/shared/server/polling.js';
import { ManualScheduler } from './manual-scheduler.js';
import { eventually } from '../waiting.js';

describe('The polling of a page', () => {
  let frames: ManualScheduler;
  /** Ends the reads that were begun, in order. */
  let reads: ((isOk: boolean) => void)[];
  let isDue: boolean;
  let polling: Polling;

  beforeEach(() => {
    frames = new ManualScheduler();
    reads = [];
    isDue = true;
    polling = new Polling({
      read: () => new Promise((resolve) => reads.push(resolve)),
      pauseMs: 100,
      isDue: () => isDue,
      waiter: frames,
    });
    void polling.run();
  });

  afterEach(() => polling.close());

  const pauses = (): number[] => frames.waits.map(({ milliseconds }) => milliseconds);

  it('reads one at a time, however often it is hurried', async () => {
    for (let count = 0; count < 4; count++) polling.hurry();
    expect(reads).to.have.length(1);
    reads[0]?.(true);
    await eventually(() => frames.waits.length === 1);
    for (let count = 0; count < 4; count++) polling.hurry();
    await eventually(() => reads.length === 2);
    reads[1]?.(true);
    await eventually(() => frames.waits.length === 2);
    expect(reads).to.have.length(2);
  });

  it('waits twice as long after each failure, and as at first after a success', async () => {
    for (const [index, isOk] of [false, false, true].entries()) {
      await eventually(() => reads.length === index + 1);
      reads[index]?.(isOk);
      await eventually(() => frames.waits.length === index + 1);
      frames.waits[index]?.end();
    }
    expect(pauses()).to.deep.equal([200, 400, 100]);
  });

  it('waits another time while there is nothing to read', async () => {
    isDue = false;
    reads[0]?.(true);
    await eventually(() => frames.waits.length === 1);
    frames.waits[0]?.end();
    await eventually(() => frames.waits.length === 2);
    expect(reads).to.have.length(1);
    isDue = true;
    frames.waits[1]?.end();
    await eventually(() => reads.length === 2);
  });

  it('reads no more once it is closed', async () => {
    polling.close();
    reads[0]?.(true);
    await Promise.resolve();
    await Promise.resolve();
    expect([reads.length, frames.waits.length]).to.deep.equal([1, 0]);
  });
});
