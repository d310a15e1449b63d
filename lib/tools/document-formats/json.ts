import { errorMessage } from '../../common/errors.js';
import { type Json, MAX_JSON_DEPTH } from '../../common/json/json.js';
import { DOCUMENT_LIMITS } from '../../common/limits.js';
import { runToEnd } from '../../common/scheduling/steps.js';
import { formatMebibytes } from '../../common/text.js';
import { measureJsonInSteps } from '../../definition/text/lossy-json.js';
import { type DocumentContent, documentError, textPage } from '../documents/document.js';

const AS_TEXT = 'or read it with "format": "text"';
const SPACES = 2;

/**
 * Parses a JSON document; its page has the value indented by two spaces. The depth and the length of that text are checked
 * first: every line is as much longer as it is deeper, so that a short file could become gigabytes.
 *
 * @throws ToolError, not retryable, when the text is not JSON, is nested too deep, or is too long when it is indented
 */
export function parseJson(text: string, source: string): DocumentContent {
  const { depth } = runToEnd(measureJsonInSteps(text));
  if (depth > MAX_JSON_DEPTH)
    throw documentError(source, `is nested deeper than ${MAX_JSON_DEPTH} levels: flatten it, ${AS_TEXT}`);
  const data = parse(text, source);
  const length = JSON.stringify(data).length + measureIndentation(data, 0);
  const { textLength } = DOCUMENT_LIMITS;
  if (length > textLength) {
    const [found, limit] = [length, textLength].map(formatMebibytes);
    throw documentError(
      source,
      `has ${found} of text when it is indented, more than the limit of ${limit}: split it, ${AS_TEXT}`,
    );
  }
  return { data, pages: [textPage(1, JSON.stringify(data, null, SPACES))] };
}

function parse(text: string, source: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const reason = text.trim() === '' ? 'it is empty' : errorMessage(cause);
    throw documentError(source, `is not JSON: ${reason}`, cause);
  }
}

/** The number of line breaks and spaces that indentation adds to a value, which is not nested too deep for the stack. */
function measureIndentation(value: Json, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Array.isArray(value) ? value : Object.values(value);
  if (members.length === 0) return 0;
  const afterKeys = Array.isArray(value) ? 0 : members.length;
  let length = afterKeys + members.length * (1 + SPACES * (depth + 1)) + 1 + SPACES * depth;
  for (const member of members) length += measureIndentation(member, depth + 1);
  return length;
}
