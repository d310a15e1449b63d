import { callRegistered } from '../../inputs/validate.js';
import { shapeOfRegistered } from '../../schemas/output-shape.js';
import { fiscalYearEnd, tickerLookup } from './companies.js';
import { validateCrossChecks } from './cross-checks.js';
import { calculateDerivedFields, computeDerivedFields } from './derived-fields.js';
import { fiscalPeriodLogic, periodLabel } from './periods.js';
import { financialScaleNormalize } from './scale.js';
import {
  applySegmentNames,
  assembleExtractionSections,
  extractXbrlConceptList,
  finalizeExtraction,
  zipPagesWithPeriods,
} from './sections.js';
import { type ComputeFunction, defineTool } from '../../tool.js';

/** The functions that come with the package, for reports of companies. */
export const BUILTIN_FUNCTIONS: readonly ComputeFunction[] = [
  applySegmentNames,
  assembleExtractionSections,
  calculateDerivedFields,
  computeDerivedFields,
  extractXbrlConceptList,
  finalizeExtraction,
  financialScaleNormalize,
  fiscalPeriodLogic,
  fiscalYearEnd,
  periodLabel,
  tickerLookup,
  validateCrossChecks,
  zipPagesWithPeriods,
];

/** Calls a function of the catalog (D49): those that come with the package, and those of tool files. */
export const compute = defineTool({
  name: 'compute',
  pure: true,
  description: 'Calls a registered function with the other inputs as its arguments',
  inputs: {
    function: {
      type: 'string',
      registry: 'functions',
      required: true,
      description: 'the name of the function; all other inputs are its arguments',
    },
  },
  openInputs: true,
  output: { name: 'result', description: 'what the function gives', type: 'any' },
  deriveOutput: ({ function: name, ...args }, shapeOf, registries) =>
    shapeOfRegistered(registries?.functions, name, args, shapeOf),
  run({ function: name, ...args }, context, registries) {
    return callRegistered('function', registries?.functions, name, args, context);
  },
});
