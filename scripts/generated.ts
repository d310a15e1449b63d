import { machineCharts } from './machine-charts.js';
import { pipelineValidator } from './pipeline-validator.js';

/** Path to content of every generated file. */
export function generated(): Record<string, string> {
  return { ...pipelineValidator(), ...machineCharts() };
}
