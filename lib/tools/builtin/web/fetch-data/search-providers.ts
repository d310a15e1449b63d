import { ToolError } from '../../../../common/errors.js';
import { isObject } from '../../../../common/json/json.js';
import { decodeBody, type ParsingAttempt, readContent } from '../../../fetching/content.js';
import type { FetchedResponse } from '../../../tool.js';

/** One result of a search. */
export interface SearchResult {
  readonly title: string;
  readonly snippet: string;
  readonly url: string;
}

/** Somebody who answers searches. */
export interface SearchProvider {
  /** The request for the results of a text. Throws a ToolError, not retryable, when a key is missing. */
  request(query: string, count: number): { readonly url: string; readonly headers: Record<string, string> };
  /** Reads the results, the best first. Rejects with a ToolError for an answer without any list of results. */
  read(response: FetchedResponse, context: ParsingAttempt): Promise<SearchResult[]>;
}

export interface SearchOptions {
  /** A name, or a URL with `{query}`, and perhaps `{count}`, that gives JSON with `results`. Default: duckduckgo. */
  readonly provider?: string | undefined;
  readonly braveKey?: string | undefined;
  readonly serpapiKey?: string | undefined;
  /** The servers by the names of the providers; default: their own. */
  readonly servers?: Readonly<Record<string, string>> | undefined;
}

export const SEARCH_PROVIDERS = ['duckduckgo', 'brave', 'serpapi'] as const;

/** @throws ToolError, not retryable, for a name that is none */
export function createSearchProvider(name: string, options: SearchOptions): SearchProvider {
  const server = (standard: string): string => options.servers?.[name] ?? standard;
  if (name === 'duckduckgo') return duckDuckGo(server('https://html.duckduckgo.com'));
  if (name === 'brave') return brave(server('https://api.search.brave.com'), options.braveKey);
  if (name === 'serpapi') return serpApi(server('https://serpapi.com'), options.serpapiKey);
  if (name.includes('{query}')) return byTemplate(name);
  throw ToolError.nonRetryable(`there is no search provider "${name}": use ${SEARCH_PROVIDERS.join(', ')}`);
}

function brave(server: string, key: string | undefined): SearchProvider {
  return {
    request: (query, count) => ({
      url: `${server}/res/v1/web/search?q=${encodeQuery(query)}&count=${count}`,
      headers: { 'x-subscription-token': requireKey(key, 'brave', 'BRAVE_API_KEY') },
    }),
    read: readResults(['web', 'results'], 'url', ['description']),
  };
}

function serpApi(server: string, key: string | undefined): SearchProvider {
  return {
    request: (query, count) => {
      const apiKey = encodeURIComponent(requireKey(key, 'serpapi', 'SERPAPI_API_KEY'));
      const values = `engine=google&q=${encodeQuery(query)}&num=${count}&api_key=${apiKey}`;
      return { url: `${server}/search.json?${values}`, headers: {} };
    },
    read: readResults(['organic_results'], 'link', ['snippet']),
  };
}

function byTemplate(template: string): SearchProvider {
  return {
    request: (query, count) => ({
      url: template.replaceAll('{query}', () => encodeQuery(query)).replaceAll('{count}', String(count)),
      headers: {},
    }),
    read: readResults(['results'], 'url', ['snippet', 'content', 'description']),
  };
}

/** Encodes a text for a URL. Half of a character, as a cut text may end with, has no encoding and is replaced. */
function encodeQuery(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

function requireKey(key: string | undefined, provider: string, variable: string): string {
  if (key !== undefined) return key;
  throw ToolError.nonRetryable(`the search provider ${provider} needs a key: set ${variable}`);
}

/** Reads results of JSON. A missing list is no list without entries: it may be the error of a provider. */
function readResults(
  path: readonly string[],
  urlField: string,
  snippetFields: readonly string[],
): SearchProvider['read'] {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return async (response, context) => {
    let found: unknown = await readContent(response, context, 'json');
    for (const name of path) found = isObject(found) ? found[name] : undefined;
    if (!Array.isArray(found)) {
      const { host } = new URL(response.url);
      throw new ToolError(`the answer of ${host} has no list "${path.join('.')}"`);
    }
    return found.filter(isObject).map((entry) => ({
      title: text(entry['title']),
      snippet: text(snippetFields.map((field) => entry[field]).find((value) => typeof value === 'string')),
      url: text(entry[urlField]),
    }));
  };
}

/** DuckDuckGo's page of results without scripts, which needs no key. */
function duckDuckGo(server: string): SearchProvider {
  return {
    request: (query) => ({
      url: `${server}/html/?q=${encodeQuery(query)}`,
      headers: { 'user-agent': 'Mozilla/5.0 (compatible; wavetrain)' },
    }),
    async read(response) {
      const page = decodeBody(response);
      const results = await readResultPage(page, response.url);
      if (results.length > 0 || page.includes('no-results')) return results;
      throw new ToolError(
        'DuckDuckGo has answered without results, as it does when it takes requests for those of a robot: ' +
          'try again later, or set SERVICE_SEARCH_PROVIDER to a provider with a key',
      );
    },
  };
}

type ResultField = 'title' | 'snippet';

async function readResultPage(page: string, base: string): Promise<SearchResult[]> {
  const { Parser } = await import('htmlparser2');
  const results: { title: string; snippet: string; url: string }[] = [];
  let field: ResultField | undefined;
  let depth = 0;
  const parser = new Parser({
    onopentag(name, { class: classes = '', href = '' }) {
      if (field !== undefined) {
        depth++;
        return;
      }
      const names = classes.split(/\s+/);
      if (name === 'a' && names.includes('result__a')) {
        results.push({ title: '', snippet: '', url: unwrapLink(href, base) });
        field = 'title';
      } else if (names.includes('result__snippet') && results.length > 0) field = 'snippet';
    },
    ontext(text) {
      const last = results.at(-1);
      if (field !== undefined && last !== undefined) last[field] += text;
    },
    onclosetag() {
      if (field === undefined) return;
      if (depth === 0) field = undefined;
      else depth--;
    },
  });
  parser.end(page);
  const clean = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  return results
    .filter(({ url }) => url !== '')
    .map(({ title, snippet, url }) => ({ title: clean(title), snippet: clean(snippet), url }));
}

/** The page leads through a link of its own, which has the address in `uddg`. Empty for advertisements. */
function unwrapLink(href: string, base: string): string {
  if (!URL.canParse(href, base)) return '';
  const link = new URL(href, base);
  if (link.pathname === '/y.js') return '';
  return link.searchParams.get('uddg') ?? link.href;
}
