import fc from 'fast-check';

/** True in `npm run spec:long`, which tries many random cases. */
const isLong = process.env['SPEC_LONG'] === '1';

/** `npm run spec` tries few cases, and the same at each run, so that it fails by what was changed alone. */
const SEED = 1;
const FEWER = 5;
const ENOUGH = 25;

const MORE = 5;

/** Of properties that say nothing of their cases. Mocha loads this before any spec, because .mocharc.json requires it. */
fc.configureGlobal(isLong ? { numRuns: 100 * MORE } : { seed: SEED });

/**
 * How many cases a property gets for which `usual` would do, and from which seed: at least half of a number that is small,
 * since each case takes long. A property that is repeated until its cases were of every kind passes the number of the
 * round, and gets others in each.
 */
export function cases(usual: number, round = 0): { numRuns: number; seed?: number } {
  if (isLong) return { numRuns: usual * MORE };
  return {
    numRuns: Math.max(Math.ceil(usual / FEWER), Math.min(Math.ceil(usual / 2), ENOUGH)),
    seed: SEED + round,
  };
}
