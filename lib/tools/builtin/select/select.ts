import { ToolError } from '../../../common/errors.js';
import { describeKind, type Json, type JsonObject } from '../../../common/json/json.js';
import { DOCUMENT_LIMITS } from '../../../common/limits.js';
import { pauseWhenOver } from '../../../common/scheduling/run-in-slices.js';
import { SELECTION_SCHEMA, shapeOfSelected } from '../../documents/document-schemas.js';
import { isDocument, textPage } from '../../documents/document.js';
import { IndexCache } from './index-cache.js';
import { parseRanges } from './page-ranges.js';
import { type Selection, selectPages } from './select-pages.js';
import { defineTool } from '../../tool.js';

const indexes = new IndexCache();

/** Selects pages of documents: by their numbers, by the words of a prompt, or by a model (D49). */
export const select = defineTool({
  name: 'select',
  pure: true,
  description:
    'Selects pages of a document: by their numbers, by the words of a prompt, by the choice of a language model, or all',
  inputs: {
    document: {
      required: true,
      description:
        'a document, pages that were selected before, a list of these, or a text, which is one page',
    },
    prompt: {
      type: 'string',
      default: null,
      description:
        'what to look for: the pages that share most words with it are selected, or those that a model chooses',
    },
    pages: {
      default: null,
      format: 'page-ranges',
      description:
        'page numbers: 3, "3", "1-3", or a list of these; those that the document does not have are left out, and an empty list counts as ' +
        'none given',
    },
    granularity: {
      type: 'string',
      enum: ['page', 'chunk'],
      default: 'page',
      description:
        'page: compares whole pages with the prompt; chunk: compares parts of about 512 words and tables, and selects ' +
        'the pages of the best',
    },
    top_k: {
      type: 'integer',
      minimum: 1,
      maximum: DOCUMENT_LIMITS.pages,
      default: 15,
      description: 'the number of pages or chunks that are selected by words at most',
    },
    filter: { default: null, description: 'without effect' },
    rerank: { default: null, description: 'without effect' },
    by: {
      type: 'string',
      enum: ['words', 'model'],
      default: null,
      description:
        'how whole pages are compared with the prompt: by their words, or by a language model, which reads the beginning ' +
        'of each; default: words, and model when "model" names one',
    },
    model: {
      type: 'string',
      default: null,
      format: 'model',
      description:
        'provider/model that chooses, such as openai/gpt-4o; default: WAVETRAIN_SELECT_MODEL, then WAVETRAIN_MODEL',
    },
    max_tokens: {
      type: 'integer',
      minimum: 1,
      default: 256,
      description: 'length limit of its answer in tokens; an answer that reaches it fails the task',
    },
  },
  output: {
    name: 'selection',
    description:
      'a page list, or a list of them for a list of several documents: parent_source, parent_format, pages, ' +
      'selector_prompt, metadata; also source, format, filename',
    type: 'object',
    schema: SELECTION_SCHEMA,
  },
  deriveOutput: ({ document }, shapeOf) => shapeOfSelected(shapeOf(document)),
  usesModel: (written) => (isByModel(written) ? 'select' : undefined),
  async run(
    { document, prompt, pages, granularity, top_k: topK, max_tokens: maxTokens, ...inputs },
    context,
  ) {
    const byModel = isByModel({ prompt, pages, granularity, ...inputs });
    const selection: Selection = {
      pages: isGiven(pages) ? parseRanges(pages) : undefined,
      prompt: prompt === null || prompt.trim() === '' ? undefined : prompt,
      granularity,
      topK,
      chooser: byModel ? { model: inputs.model, maxTokens } : undefined,
    };
    if (granularity === 'chunk' && selection.prompt === undefined)
      throw ToolError.nonRetryable('"granularity" is "chunk", which needs a prompt: add "prompt"');
    const documents = toDocuments(document);
    const lists = [];
    for (const each of documents) {
      lists.push(await selectPages(each, selection, indexes, context));
      // A thousand documents with cached indexes would take one turn of the event loop.
      if (documents.length > 1) await pauseWhenOver(context);
    }
    const [first, ...others] = lists;
    return first !== undefined && others.length === 0 ? first : lists;
  },
});

/**
 * Returns true if a language model is asked, by the inputs as they are written or resolved: only for whole pages, for a
 * prompt, and when a model is wanted, so that a prompt alone needs none.
 */
function isByModel({ prompt, pages, granularity, by, model }: Readonly<Record<string, unknown>>): boolean {
  if (!isGiven(prompt) || isGiven(pages) || granularity === 'chunk') return false;
  return isGiven(by) ? by === 'model' : isGiven(model);
}

/** An empty list of pages names none, so that whatever else is given decides. */
function isGiven<T>(value: T): value is Exclude<T, null | undefined> {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function toDocuments(value: Json): JsonObject[] {
  if (typeof value === 'string') return [{ source: '<inline>', format: 'text', pages: [textPage(1, value)] }];
  if (!Array.isArray(value)) return [toDocument(value, '"document"')];
  if (value.length === 0) throw ToolError.nonRetryable('"document" is an empty list: give a document');
  const { documents: most } = DOCUMENT_LIMITS;
  if (value.length > most)
    throw ToolError.nonRetryable(
      `"document" is a list of ${value.length} documents, more than the limit of ${most}: split it`,
    );
  return value.map((member, position) => toDocument(member, `"document"[${position}]`));
}

function toDocument(value: Json, place: string): JsonObject {
  if (isDocument(value)) return value;
  throw ToolError.nonRetryable(
    `${place} is ${describeKind(value)}, not a document: give what ingest_document or select returned`,
  );
}
