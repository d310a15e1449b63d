import type { ComputeFunction } from '../tool.js';
import { fiscalYearEnd, tickerLookup } from './companies.js';
import { extractXbrlConceptList } from './concept-list.js';
import { validateCrossChecks } from './cross-checks.js';
import { calculateDerivedFields, computeDerivedFields } from './derived-fields.js';
import { fiscalPeriodLogic, periodLabel } from './periods.js';
import { financialScaleNormalize } from './scale.js';
import {
  applySegmentNames,
  assembleExtractionSections,
  finalizeExtraction,
  zipPagesWithPeriods,
} from './sections.js';

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
