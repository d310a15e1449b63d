import { ToolError } from '../../../common/errors.js';
import type { JsonObject } from '../../../common/json/json.js';
import { joinFirst } from '../../../common/text.js';
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
import { validateInputs } from '../../inputs/validate.js';
import { type ComputeFunction, defineTool, type Registries, type ToolContext } from '../../tool.js';

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

const MAX_LISTED_FUNCTIONS = 20;

/** Calls a function of the catalog (D49): those that come with the package, and those of tool files. */
export const compute = defineTool({
  name: 'compute',
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
  run({ function: name, ...args }, context, registries) {
    return callFunction(findFunction(name, registries?.functions ?? new Map()), args, context);
  },
});

/** @throws ToolError, not retryable, that lists the functions */
function findFunction(name: string, functions: Registries['functions']): ComputeFunction {
  const found = functions.get(name);
  if (found !== undefined) return found;
  const names = joinFirst([...functions.keys()].sort(), MAX_LISTED_FUNCTIONS);
  throw ToolError.nonRetryable(`there is no function "${name}"; the functions are ${names}`);
}

/**
 * Checks the arguments, fills in their defaults and calls the function. Returns what it returns, perhaps a promise.
 *
 * @throws ToolError, not retryable, that names the function and its invalid arguments
 */
export function callFunction(called: ComputeFunction, args: JsonObject, context: ToolContext): unknown {
  const validated = validateInputs(called, args);
  if (validated.ok) return called.run(validated.inputs, context);
  throw ToolError.nonRetryable(`function "${called.name}": ${validated.errors.join('; ')}`);
}
