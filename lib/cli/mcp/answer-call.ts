import { errorMessage, ToolError, WavetrainError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import type { HostAnswer, HostCall, ServedTool } from './served-tool.js';

/**
 * Answers a call of a host. What fails is an answer too, since the model of the host can read nothing else: the error, and
 * its code if it has one. Never rejects.
 *
 * @param reportBug receives an error that nobody expects
 */
export async function answerCall(
  served: readonly ServedTool[],
  name: string,
  args: unknown,
  call: HostCall,
  reportBug: (error: unknown) => void,
): Promise<HostAnswer> {
  try {
    const tool = served.find((candidate) => candidate.name === name);
    if (tool === undefined)
      return failed(`there is no tool "${name}"; there are ${served.map((other) => other.name).join(', ')}`);
    const checked = validateInputs(tool.declared, args as JsonObject);
    return checked.ok ? await tool.answer(checked.inputs, call) : failed(checked.errors.join('; '));
  } catch (error) {
    if (error instanceof WavetrainError) return failed(error.message, error.code);
    if (!(error instanceof ToolError)) reportBug(error);
    return failed(errorMessage(error));
  }
}

function failed(error: string, code?: string): HostAnswer {
  return { value: { error, ...(code !== undefined && { code }) }, isError: true };
}
