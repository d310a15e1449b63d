import type { Json, JsonObject } from '../../common/json/json.js';
import { JsonScanner } from '../text/json-syntax-error.js';

/**
 * Finds the JSON list or object in a text, because language models respond in text (D12): the text itself, with or
 * without a code fence around it, or else the first one that stands anywhere in it. Returns undefined when there is none.
 */
export function extractJson(text: string): Json[] | JsonObject | undefined {
  const body = stripFence(text.trim());
  const first = body.search(OPENING);
  if (first < 0) return undefined;
  if (first > 0) return findJson(body, first);
  try {
    return JSON.parse(body) as Json[] | JsonObject;
  } catch {
    // The text only starts like JSON.
    return findJson(body, first);
  }
}

const OPENING = /[[{]/;

/** How many brackets are tried that open no list or object: a text with more of them is no response. */
const MAX_CANDIDATES = 1000;

/**
 * Finds the first list or object at or after an opening bracket. The inside of a broken one is not taken for the
 * whole, and no part of the text is read twice.
 */
function findJson(text: string, first: number): Json[] | JsonObject | undefined {
  let start = first;
  for (let left = MAX_CANDIDATES; left > 0 && start >= 0; left--) {
    const scanner = new JsonScanner(text, start);
    while (scanner.readNext());
    if (scanner.expecting === 'end') {
      return JSON.parse(text.slice(start, scanner.offset)) as Json[] | JsonObject;
    }
    start = indexOfOpening(text, scanner.offset);
  }
  return undefined;
}

function indexOfOpening(text: string, from: number): number {
  ANY_OPENING.lastIndex = from;
  return ANY_OPENING.test(text) ? ANY_OPENING.lastIndex - 1 : -1;
}

const ANY_OPENING = /[[{]/g;

const FENCE = /^(?:`{3,}|~{3,})/;
/** The language after a fence: the rest of its line, or the text before a value on the same line. */
const LANGUAGE = /^[^\n{[]*/;

/** Leaves out a code fence around a trimmed text. */
export function stripFence(text: string): string {
  const fence = FENCE.exec(text)?.[0];
  if (fence === undefined) return text;
  const body = text.slice(fence.length).replace(LANGUAGE, '').trim();
  return body.endsWith(fence) ? body.slice(0, -fence.length).trim() : body;
}
