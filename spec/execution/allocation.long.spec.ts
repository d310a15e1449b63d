import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { AllocatedBytes } from '../support/measuring/allocation.js';

const program = fileURLToPath(new URL('../support/measuring/allocation.ts', import.meta.url));

// Allocation does not depend on how busy the machine is, and the collector takes a third of the time of a task.
describe('The memory that a run allocates', () => {
  it('is bounded for each task of a chain and of a wide wave, and for each item of a fan-out', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program]);
    const { chain, wave, item } = JSON.parse(stdout) as AllocatedBytes;
    expect(chain).to.be.within(1000, 8500);
    expect(wave).to.be.within(1000, 6900);
    expect(item).to.be.within(500, 2000);
  });
});
