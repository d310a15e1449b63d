import { ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { extractJson, stripFence } from '../../definition/template/extract-json.js';
import type { ModelAnswer } from '../../models/model.js';
import { withoutThoughts } from '../../models/thoughts.js';

/** @throws ToolError, not retryable, when the rest of the answer is missing: parts of it could pass for the whole */
export function assertComplete({ finish, model }: ModelAnswer, maxTokens: number | undefined): void {
  if (finish === 'filter')
    throw ToolError.nonRetryable(`${model} withheld the answer: its content filter took effect`);
  if (finish !== 'length') return;
  const limit = maxTokens === undefined ? 'its maximum of tokens' : `"max_tokens" (${maxTokens})`;
  throw ToolError.nonRetryable(
    `the answer of ${model} ends early, because it has reached ${limit}: raise "max_tokens", or ask for less at once`,
  );
}

/**
 * Reads an answer whose form is free: JSON alone, in a fence, or an object with words around it. Returns undefined when it
 * is a text.
 */
export function readFreeAnswer(text: string): Json | undefined {
  const body = withoutThoughts(text).trim();
  try {
    return JSON.parse(stripFence(body)) as Json;
  } catch {
    // A list inside of a text is more likely a reference, such as [1].
    const found = extractJson(body);
    return Array.isArray(found) ? undefined : found;
  }
}
