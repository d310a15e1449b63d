import { ToolError } from '../../../common/errors.js';
import { type Json, type JsonObject, toList } from '../../../common/json/json.js';
import { joinFirst, showValue } from '../../../common/text.js';
import type { PassedPage } from '../../../definition/text/document-text.js';
import { assertPageCount, pagesOf } from '../../documents/document.js';
import { runLongWork } from '../../../common/scheduling/run-in-slices.js';
import type { ToolContext } from '../../tool.js';
import { choosePages } from './choose-pages.js';
import type { Granularity, IndexCache } from './index-cache.js';
import type { PageRange } from './page-ranges.js';

/** The pages of a document that are wanted: `granularity: chunk` wins over `pages`, and `pages` over `prompt`. */
export interface Selection {
  readonly pages: readonly PageRange[] | undefined;
  readonly prompt: string | undefined;
  readonly granularity: Granularity;
  readonly topK: number;
  /** Set when a model compares the pages with the prompt: `provider/model`, or null for the configured one. */
  readonly chooser?: { readonly model: string | null; readonly maxTokens: number } | undefined;
}

/** Pages of one document, in its order. */
export interface PageList {
  readonly parent_source: Json;
  readonly parent_format: Json;
  readonly pages: readonly JsonObject[];
  /** How they were selected. */
  readonly selector_prompt: string;
  readonly metadata: JsonObject;
  readonly source: Json;
  readonly format: Json;
  readonly filename: Json;
}

/** Also of pages that a prompt has chosen: the recorded cases have no label of their own for them. */
const EXPLICIT = '[explicit pages]';
const ALL = '[passthrough]';
const ALL_FOR_LACK_OF_TEXT = '[chunk-fallback-passthrough]';

/** Selects pages of one document. @throws ToolError, not retryable */
export async function selectPages(
  document: JsonObject,
  selection: Selection,
  indexes: IndexCache,
  context: ToolContext,
): Promise<PageList> {
  const source = showValue(document['parent_source'] ?? document['source']).slice(0, MAX_SHOWN);
  assertPageCount(toList(document['pages']).length, source);
  const pages = pagesOf(document);
  const { pages: ranges, prompt, granularity, topK, chooser } = selection;
  if (granularity === 'page' && ranges !== undefined) return toPageList(document, pickPages(pages, ranges));
  if (prompt === undefined || pages.length === 0) return toPageList(document, pages, ALL);
  if (granularity === 'page' && chooser !== undefined) {
    const question = { prompt, model: chooser.model ?? undefined, maxTokens: chooser.maxTokens };
    const chosen = await choosePages(pages, question, context);
    if (chosen.length > 0) return toPageList(document, chosen);
    context.log('the model has chosen no page: passed all on');
    return toPageList(document, pages, ALL);
  }
  const index = await indexes.get(document, granularity, context);
  const best = await runLongWork(context, () => index.search(prompt, topK));
  // No page has a word of the prompt: whoever reads them knows better. Of chunks, the contract wants the first ones then.
  if (granularity === 'page' && best.every(({ score }) => score === 0))
    return toPageList(document, pages, ALL);
  if (best.length === 0) return toPageList(document, pages, ALL_FOR_LACK_OF_TEXT);
  const wanted = new Set(best.map(({ page }) => page));
  return toPageList(
    document,
    pages.filter((_, position) => wanted.has(position)),
  );
}

const MAX_SHOWN = 200;

function toPageList(
  document: JsonObject,
  pages: readonly JsonObject[],
  selectorPrompt: string = EXPLICIT,
): PageList {
  const source = document['parent_source'] ?? document['source'] ?? null;
  const format = document['parent_format'] ?? document['format'] ?? null;
  return {
    parent_source: source,
    parent_format: format,
    pages,
    selector_prompt: selectorPrompt,
    metadata: {},
    source,
    format,
    filename: document['filename'] ?? null,
  };
}

/** Picks pages by their numbers, in the order of the document; numbers that it does not have are left out. */
function pickPages(pages: readonly PassedPage[], ranges: readonly PageRange[]): PassedPage[] {
  const merged = mergeRanges(ranges);
  const picked = pages.filter(({ number }) => isInside(number, merged));
  if (picked.length > 0 || pages.length === 0) return picked;
  const numbers = joinFirst(
    pages.map(({ number }) => String(number)),
    20,
  );
  throw ToolError.nonRetryable(`the document has none of the pages that "pages" names: it has ${numbers}`);
}

/** Sorts ranges and joins those that overlap. */
function mergeRanges(ranges: readonly PageRange[]): PageRange[] {
  const merged: PageRange[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before === undefined || first > before.last) merged.push({ first, last });
    else merged[merged.length - 1] = { first: before.first, last: Math.max(before.last, last) };
  }
  return merged;
}

/** @param ranges sorted, without overlaps */
function isInside(number: number, ranges: readonly PageRange[]): boolean {
  let [from, to] = [0, ranges.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const { first, last } = ranges[middle] ?? { first: 0, last: 0 };
    if (number < first) to = middle;
    else if (number > last) from = middle + 1;
    else return true;
  }
  return false;
}
