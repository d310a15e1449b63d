import type { JsonObject } from '../../common/json.js';
import { inspectInputs } from './inspect-inputs.js';
import type { Tool } from '../tool.js';
import { describeViolation } from './inspection.js';

export { type LiteralProblem, literalInputProblems } from './literal-inputs.js';

type CheckedInputs =
  | { readonly ok: true; readonly inputs: JsonObject }
  | { readonly ok: false; readonly errors: string[] };

/** More sentences than this help nobody; the rest is counted. */
const TOLD = 10;

/**
 * Checks the resolved inputs of one invocation against what its tool declares, and fills in defaults (D48).
 * The inputs given are never changed; those returned may share values with them.
 *
 * @throws WavetrainError `bad_tool_file` when the tool's declarations make no JSON Schema.
 */
export function checkInputs(tool: Tool, inputs: JsonObject): CheckedInputs {
  const { inputs: complete, violations } = inspectInputs(tool, inputs);
  if (violations.length === 0) return { ok: true, inputs: complete };
  const errors = violations.slice(0, TOLD).map(describeViolation);
  if (violations.length > TOLD) errors.push(`and ${violations.length - TOLD} more`);
  return { ok: false, errors };
}
