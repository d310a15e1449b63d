import { machineCharts } from './machine-charts.js';
import { validators } from './validators.js';

/** Path to content of every generated file. */
export function generated(): Record<string, string> {
  return { ...validators(), ...machineCharts() };
}
