import { validateSpread } from './checks.js';
import { runDcfModel } from './dcf.js';
import { buildFinancialSpread } from './spread.js';
import { computeProformaStress } from './stress.js';

/** Functions for `compute`, registered like tools: `wavetrain tools compute --tools …` lists them. */
export default [buildFinancialSpread, validateSpread, computeProformaStress, runDcfModel];
