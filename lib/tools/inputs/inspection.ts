import { describeViolation as describe, type Violation } from '../../common/json-schema/violation.js';
import type { JsonObject } from '../../common/json.js';

/** Inputs with their defaults, and what is wrong with them. */
export interface InspectedInputs {
  readonly inputs: JsonObject;
  readonly violations: readonly Violation[];
}

/** Completes and checks what a tool is given, without changing it. */
export type InputCheck = (inputs: JsonObject) => InspectedInputs;

const INPUTS = { one: 'input', all: 'inputs' };

/** A sentence about a violation of what a tool declares, for people. */
export function describeViolation(violation: Violation): string {
  return describe(violation, INPUTS);
}
