import type { Json } from '../../common/json.js';

/**
 * The list or object that a text holds as JSON, with or without a code fence around it: language models answer
 * in text (D12). Undefined when it holds neither.
 */
export function jsonIn(text: string): Json[] | { [key: string]: Json } | undefined {
  const body = unfenced(text.trim());
  if (!body.startsWith('{') && !body.startsWith('[')) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    // A text that only begins like JSON is a text.
    return undefined;
  }
}

const FENCE = /^(?:`{3,}|~{3,})/;
/** The language named beside a fence: the rest of its line, or what stands before a value on the same line. */
const LANGUAGE = /^[^\n{[]*/;

function unfenced(text: string): string {
  const fence = FENCE.exec(text)?.[0];
  if (fence === undefined) return text;
  const body = text.slice(fence.length).replace(LANGUAGE, '').trim();
  return body.endsWith(fence) ? body.slice(0, -fence.length).trim() : body;
}
