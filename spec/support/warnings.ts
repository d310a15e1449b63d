import { settle } from './deferred.js';

/** Warnings that Wavetrain has emitted and no spec has taken yet. */
let pending: string[] = [];

const [print] = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name === 'WavetrainWarning') pending.push(warning.message);
  else print?.(warning);
});

/** Returns the warnings that Wavetrain has emitted in this test; a test that leaves any of them fails. */
export async function takeWarnings(): Promise<string[]> {
  await settle(1);
  const taken = pending;
  pending = [];
  return taken;
}

/** Mocha runs these around every test, because .mocharc.json requires this file. */
export const mochaHooks = {
  async afterEach(): Promise<void> {
    const left = await takeWarnings();
    if (left.length > 0) throw new Error(`the test did not expect these warnings: ${left.join('; ')}`);
  },
};
