import { expect } from 'chai';
import type { ToolError } from '../../../../lib/common/errors.js';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { createSearchWeb } from '../../../../lib/tools/builtin/web/search-web.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import type { SearchOptions } from '../../../../lib/tools/builtin/web/fetch-data/search-providers.js';
import { catchRejection } from '../../../support/rejection.js';
import { toolContext } from '../../../support/tool-context.js';
import { LoopbackServer, loopbackFetch } from '../../fetching/loopback-server.js';

const PAGE = `<html><body>
  <div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">An advertisement</a></div>
  <div class="result"><h2><a rel="nofollow" class="result__a"
    href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2Fa%3Fb%3D1&amp;rut=x">One &amp; <b>only</b></a></h2>
    <a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">The  <b>first</b>
      snippet</a></div>
  <div class="result"><a class="result__a" href="https://two.example/">Two</a></div>
</body></html>`;

describe('search_web (D49)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  const search = async (inputs: JsonObject, options: SearchOptions = {}): Promise<JsonObject> => {
    const { url } = server;
    const tool = createSearchWeb({ servers: { duckduckgo: url, brave: url, serpapi: url }, ...options });
    const checked = validateInputs(tool, inputs);
    if (!checked.ok) throw new Error(checked.errors.join('\n'));
    return (await tool.run(checked.inputs, toolContext({ fetch: loopbackFetch() }))) as JsonObject;
  };
  const fail = async (inputs: JsonObject, options?: SearchOptions): Promise<ToolError> =>
    (await catchRejection(search(inputs, options))) as ToolError;

  it('reads the page of DuckDuckGo without a key: unwrapped links, no advertisements', async () => {
    server.handler = (_, response) => response.setHeader('content-type', 'text/html').end(PAGE);
    expect(await search({ query: 'a b&c' })).to.deep.equal({
      status: 'success',
      results: [
        {
          title: 'One & only',
          snippet: 'The first snippet',
          url: 'https://one.example/a?b=1',
          source_query: 'a b&c',
        },
        { title: 'Two', snippet: '', url: 'https://two.example/', source_query: 'a b&c' },
      ],
    });
    expect(server.requests).to.deep.equal(['GET /html/?q=a%20b%26c']);
  });

  it('searches for each text of a list in order, leaves out empty ones, and gives top_n of each', async () => {
    server.handler = (_, response) => response.end(PAGE);
    const { results } = await search({ query: ['one', ' ', 'two'], top_n: 1 });
    expect((results as JsonObject[]).map(({ source_query }) => source_query)).to.deep.equal(['one', 'two']);
    expect(await search({ query: [] })).to.deep.equal({ status: 'success', results: [] });
  });

  const found = [{ title: 'T', snippet: 'S', url: 'https://t.example/', source_query: 'q' }];

  for (const [provider, answer, path] of [
    [
      'brave',
      { web: { results: [{ title: 'T', description: 'S', url: 'https://t.example/' }] } },
      '/res/v1/web/search?q=q&count=5',
    ],
    [
      'serpapi',
      { organic_results: [{ title: 'T', snippet: 'S', link: 'https://t.example/' }] },
      '/search.json?engine=google&q=q&num=5&api_key=k',
    ],
  ] as const) {
    it(`asks ${provider} with its key, and says when it is missing`, async () => {
      let key: unknown;
      server.handler = ({ headers }, response) => {
        key = headers['x-subscription-token'];
        response.end(JSON.stringify(answer));
      };
      const { results } = await search({ query: 'q', provider }, { braveKey: 'k', serpapiKey: 'k' });
      expect(results).to.deep.equal(found);
      expect(server.requests).to.deep.equal([`GET ${path}`]);
      expect(key).to.equal(provider === 'brave' ? 'k' : undefined);
      const error = await fail({ query: 'q' }, { provider });
      expect(error).to.include({ retryable: false });
      expect(error.message).to.match(
        new RegExp(`the search provider ${provider} needs a key: set ${provider.toUpperCase()}_API_KEY`),
      );
    });
  }

  it('asks any server by the template of a URL', async () => {
    server.handler = (_, response) =>
      response.end(JSON.stringify({ results: [{ title: 'T', content: 'S', url: 'https://t.example/' }] }));
    const provider = `${server.url}/search?q={query}&n={count}&format=json`;
    expect((await search({ query: 'q' }, { provider }))['results']).to.deep.equal(found);
    expect(server.requests).to.deep.equal(['GET /search?q=q&n=5&format=json']);
  });

  it('fails for a failed search, without the key in the message, instead of finding nothing', async () => {
    server.handler = (_, response) => response.writeHead(503, { 'retry-after': '2' }).end('busy');
    const error = await fail({ query: 'q', provider: 'serpapi' }, { serpapiKey: 'secret' });
    expect(error).to.include({ retryable: true, retryAfterMs: 2000 });
    expect(error.message).to.include('answered 503').and.not.include('secret');
  });

  it('fails when the provider answers without results', async () => {
    server.handler = (_, response) => response.end('<html>Are you a robot?</html>');
    expect((await fail({ query: 'q' })).message).to.include('takes requests for those of a robot');
    server.handler = (_, response) => response.end('{"error": "no"}');
    expect((await fail({ query: 'q', provider: 'brave' }, { braveKey: 'k' })).message).to.include(
      'has no list "web.results"',
    );
  });

  it('finds nothing when the provider says so', async () => {
    server.handler = (_, response) => response.end('<div class="no-results">No results.</div>');
    expect(await search({ query: 'q' })).to.deep.equal({ status: 'success', results: [] });
  });

  it('refuses a query that is no text, and too many', async () => {
    expect((await fail({ query: 1 })).message).to.include(
      '"query" must be a text or a list of texts, not a number',
    );
    expect((await fail({ query: 'q'.repeat(2001) })).message).to.include(
      'a query has 2001 characters: at most 2000',
    );
    expect((await fail({ query: Array.from({ length: 10_001 }, () => '') })).message).to.include(
      'use a fan-out',
    );
    const query = Array.from({ length: 101 }, () => 'q');
    expect((await fail({ query })).message).to.include('101 queries are more than 100');
  });
});
