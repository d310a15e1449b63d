import { pointerOf } from '../../definition/problem.js';
import type { JsonObject } from '../../common/json.js';
import type { Violation } from '../../common/json-schema/violation.js';
import { flatCheck, isFlat } from './flat-check.js';
import { schemaCheck } from './schema-check.js';
import type { Tool } from '../tool.js';
import type { InputCheck, InspectedInputs } from './inspection.js';

const checks = new WeakMap<Tool, InputCheck>();

/**
 * Fills in defaults and finds all violations, by the quickest way that gives the verdict of the JSON Schema.
 * The inputs given are never changed.
 *
 * @throws WavetrainError `bad_tool_file` when the tool's declarations make no JSON Schema.
 */
export function inspectInputs(tool: Tool, inputs: JsonObject): InspectedInputs {
  const inspected = checkOf(tool)(inputs);
  if (inspected.violations.length === 0) return inspected;
  return { ...inspected, violations: withoutEchoes(inspected.violations) };
}

function checkOf(tool: Tool): InputCheck {
  const known = checks.get(tool);
  if (known !== undefined) return known;
  const check = isFlat(tool.inputs) ? flatCheck(tool) : schemaCheck(tool);
  checks.set(tool, check);
  return check;
}

/** A value of the wrong type breaks other rules too; to say so would not help. */
function withoutEchoes(violations: readonly Violation[]): Violation[] {
  const mistyped = new Set(violations.filter(isMistyped).map(({ path }) => pointerOf(path)));
  return violations.filter((violation) => isMistyped(violation) || !mistyped.has(pointerOf(violation.path)));
}

function isMistyped({ keyword }: Violation): boolean {
  return keyword === 'type';
}
