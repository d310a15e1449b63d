import { isNonRetryable, ToolError } from '../../../common/errors.js';
import { describeKind, type Json } from '../../../common/json/json.js';
import { assertStatus } from '../../fetching/status.js';
import {
  createSearchProvider,
  SEARCH_PROVIDERS,
  type SearchOptions,
  type SearchResult,
} from './fetch-data/search-providers.js';
import { defineTool, type Tool } from '../../tool.js';
import { exactObject, TEXT_SCHEMA } from '../../schemas/output.js';

const MAX_QUERIES = 100;

/** Characters of a query: providers read far fewer. */
const MAX_QUERY_LENGTH = 2000;

/** Entries of a list of queries, empty ones included. */
const MAX_ENTRIES = 10_000;

/**
 * Creates the tool that searches the web (D49). A search that fails fails the task: an empty list means that there is
 * nothing to find.
 */
export function createSearchWeb(options: SearchOptions = {}): Tool {
  const standard = options.provider ?? 'duckduckgo';
  return defineTool({
    name: 'search_web',
    description: 'Searches the web with a configured provider',
    inputs: {
      query: { required: true, description: 'what to search for: a text, or a list of them' },
      top_n: { type: 'integer', minimum: 1, maximum: 20, default: 5, description: 'results of each query' },
      provider: {
        type: 'string',
        enum: [...SEARCH_PROVIDERS],
        description: 'who searches; default: the one that the operator has configured, or duckduckgo',
      },
      timeout: {
        type: 'number',
        minimum: 0.001,
        maximum: 600,
        default: 15,
        description: 'time limit of one search, in seconds',
      },
    },
    output: {
      name: 'found',
      description: 'status: "success", and results: title, snippet, url and source_query of each, in order',
      type: 'object',
      schema: exactObject({
        status: { const: 'success' },
        results: {
          type: 'array',
          items: exactObject({
            title: TEXT_SCHEMA,
            snippet: TEXT_SCHEMA,
            url: TEXT_SCHEMA,
            source_query: TEXT_SCHEMA,
          }),
        },
      }),
    },
    async run({ query, top_n: count, provider, timeout }, context) {
      const searcher = createSearchProvider(provider ?? standard, options);
      const results: (SearchResult & { readonly source_query: string })[] = [];
      for (const text of readQueries(query)) {
        const { url, headers } = searcher.request(text, count);
        const response = await context.fetch(url, { headers, timeoutMs: timeout * 1000 });
        assertStatus(response, 'GET', ['2xx'], context.clock);
        const found = await readResults(() => searcher.read(response, context), text);
        results.push(...found.slice(0, count).map((result) => ({ ...result, source_query: text })));
      }
      return { status: 'success', results };
    },
  });
}

async function readResults(
  read: () => Promise<SearchResult[]>,
  query: string,
): Promise<readonly SearchResult[]> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new ToolError(`the search for "${query.slice(0, 100)}" failed: ${error.message}`, {
      retryable: !isNonRetryable(error),
      cause: error.cause,
    });
  }
}

/** The texts to search for, without empty ones. @throws ToolError, not retryable */
function readQueries(query: Json): string[] {
  const entries = Array.isArray(query) ? query : [query];
  if (entries.length > MAX_ENTRIES) throw tooManyQueries(entries.length);
  const queries = entries.map((text) => {
    if (typeof text === 'string' && text.length <= MAX_QUERY_LENGTH) return text.trim();
    if (typeof text === 'string')
      throw ToolError.nonRetryable(
        `a query has ${text.length} characters: at most ${MAX_QUERY_LENGTH} are searched for, so shorten it`,
      );
    throw ToolError.nonRetryable(`"query" must be a text or a list of texts, not ${describeKind(text)}`);
  });
  const present = queries.filter((text) => text !== '');
  if (present.length <= MAX_QUERIES) return present;
  throw tooManyQueries(present.length);
}

function tooManyQueries(count: number): ToolError {
  return ToolError.nonRetryable(`${count} queries are more than ${MAX_QUERIES}: use a fan-out`);
}

/** Searches with DuckDuckGo; a configured variant takes its place. */
export const searchWeb = createSearchWeb();
