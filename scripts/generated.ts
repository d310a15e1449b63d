import { generateCharts } from './machine-charts.js';
import { generateValidators } from './validators.js';

/** Generates all files: path to content. */
export function generateAll(): Record<string, string> {
  return { ...generateValidators(), ...generateCharts() };
}
