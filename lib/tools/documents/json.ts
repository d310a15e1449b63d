import { messageOf, ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json.js';
import type { DocumentContent } from './document.js';

/**
 * Reads a JSON document.
 *
 * @throws ToolError, not retryable, when it is none
 */
export function readJson(text: string, source: string): DocumentContent {
  try {
    const data: Json = JSON.parse(text);
    return { data };
  } catch (error) {
    const what = text.trim() === '' ? 'it is empty' : messageOf(error);
    throw new ToolError(`"${source}" is no JSON: ${what}`, { retryable: false, cause: error });
  }
}
