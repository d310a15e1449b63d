import { ToolError } from '../../../common/errors.js';
import type { Json } from '../../../common/json/json.js';
import { formatNumber, showValue } from '../../../common/text.js';
import type { FormatProblem } from '../../tool.js';

/** Page numbers, both included. */
export interface PageRange {
  readonly first: number;
  readonly last: number;
}

const MAX_RANGES = 10_000;
const RANGE = /^\s*(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?\s*$/;
const USAGE = 'use page numbers such as 3, or "1-3"';

/** Reads page numbers: 3, "3", "1-3", or a list of these. @throws ToolError, not retryable */
export function parseRanges(pages: Json): PageRange[] {
  const named: Json[] = [];
  for (const entry of Array.isArray(pages) ? pages : [pages]) {
    named.push(...splitEntry(entry));
    if (named.length > MAX_RANGES)
      throw ToolError.nonRetryable(`"pages" has more than ${formatNumber(MAX_RANGES)} entries: use ranges`);
  }
  return named.map((entry) => {
    const range = parseRange(entry);
    if ('first' in range) return range;
    const { message, hint } = range;
    throw ToolError.nonRetryable(`"pages" holds ${message}: ${hint}`);
  });
}

/** Finds what is wrong with page numbers as they are written, leaving out what a template may change. */
export function* findRangeProblems(pages: Json): Generator<FormatProblem> {
  if (pages === null) return;
  const isList = Array.isArray(pages);
  for (const [index, entry] of (isList ? pages : [pages]).slice(0, MAX_RANGES).entries()) {
    if (typeof entry === 'string' && entry.includes('{{')) continue;
    for (const part of splitEntry(entry)) {
      const range = parseRange(part);
      if ('first' in range) continue;
      yield { path: isList ? [index] : [], message: `holds ${range.message}`, hint: range.hint };
    }
  }
}

function splitEntry(entry: Json): Json[] {
  return typeof entry === 'string' ? entry.split(',', MAX_RANGES + 1) : [entry];
}

function parseRange(entry: Json): PageRange | { readonly message: string; readonly hint: string } {
  const [, from, to] = RANGE.exec(typeof entry === 'number' ? String(entry) : showValue(entry)) ?? [];
  const [first, last] = [Number(from), Number(to ?? from)];
  if (from !== undefined && first >= 1 && last >= first) return { first, last };
  const shown = JSON.stringify(showValue(entry).trim().slice(0, 50));
  if (to === undefined || last < 1) return { message: shown, hint: USAGE };
  return {
    message: `${shown}, a range that ends before it begins`,
    hint: `did you mean "${last}-${first}"?`,
  };
}
