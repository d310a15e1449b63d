import { expect } from 'chai';
import type { ToolError } from '../../../../../lib/common/errors.js';
import { textOfHint } from '../../../../../lib/definition/problems/hint.js';
import type { JsonObject } from '../../../../../lib/common/json/json.js';
import { fetchData } from '../../../../../lib/tools/builtin/web/fetch-data/fetch-data.js';
import { builtinCatalog } from '../../../../../lib/tools/catalog.js';
import { fileAccess } from '../../../../../lib/tools/files/file-access.js';
import { findLiteralInputProblems } from '../../../../../lib/tools/inputs/literal-inputs.js';
import { parseTool } from '../../../../../lib/tools/loading/parse-tool.js';
import { defineSource } from '../../../../../lib/tools/builtin/web/fetch-data/source.js';
import { createUrlSource } from '../../../../../lib/tools/builtin/web/fetch-data/url.js';
import type { Tool } from '../../../../../lib/tools/tool.js';
import { catchRejection } from '../../../../support/rejection.js';
import { TemporaryFolder } from '../../../../support/temporary-folder.js';
import { toolContext } from '../../../../support/tool-context.js';
import { LoopbackServer, loopbackFetch } from '../../../fetching/loopback-server.js';

const DECLARATION = {
  name: 'rates',
  description: 'Exchange rates',
  inputs: { day: { type: 'string', required: true, description: 'a date' } },
} as const;

const rates = defineSource({ ...DECLARATION, fetch: ({ day }) => ({ day, rate: 2 }) });

const toolOf = (catalog = builtinCatalog()): Tool => catalog.get('fetch_data') ?? fetchData;

describe('fetch_data: its sources (D49)', () => {
  it('has the sources of the package, and those of tool files', () => {
    expect(
      builtinCatalog()
        .metadata()
        .find(({ name }) => name === 'fetch_data')
        ?.sources?.map(({ name }) => name),
    ).to.deep.equal(['edgar', 'file', 'sec', 'sec_edgar', 'url']);
    const own = toolOf(builtinCatalog().with([parseTool(rates, 'it')]));
    expect(own.run({ source: 'rates', day: 'today' }, toolContext())).to.deep.equal({
      day: 'today',
      rate: 2,
    });
  });

  it('lets an own source take the place of the one of the package (D58), and of nothing else', () => {
    const file = defineSource({ ...DECLARATION, name: 'file', fetch: () => 'mine' });
    const catalog = builtinCatalog().with([file]);
    expect(toolOf(catalog).run({ source: 'file', day: 'x' }, toolContext())).to.equal('mine');
    expect(() =>
      catalog.with([defineSource({ ...DECLARATION, name: 'file', fetch: () => 'other' })]),
    ).to.throw('there are two sources named "file"');
    expect(catalog.get('file')).to.equal(undefined);
  });

  it('reports an unknown source, and inputs that the source does not take, when the pipeline is validated', () => {
    const tool = toolOf(builtinCatalog().with([rates]));
    const problems = (inputs: JsonObject) =>
      [...findLiteralInputProblems(tool, inputs)].map(
        ({ message, hint = '' }) => `${message}; ${textOfHint(hint)}`,
      );
    expect(problems({ source: 'rates', day: 'x' })).to.deep.equal([]);
    expect(problems({ source: '{{a.output}}' })).to.deep.equal([]);
    expect(problems({ source: 'company_info' })).to.deep.equal([
      'there is no source "company_info" (tool "fetch_data"); the sources are edgar, file, rates, sec, sec_edgar, url; --tools adds your own',
    ]);
    expect(problems({ source: 'rate' })[0]).to.include('did you mean "rates"?');
    expect(problems({ source: 'rates' })[0]).to.include('source "rates" needs the input "day"');
    expect(problems({ source: 'rates', day: 'x', month: 1 })[0]).to.include(
      'source "rates" has no input "month"',
    );
    expect(problems({ source: 'url' })[0]).to.include('source "url" needs the input "url"');
    expect(problems({ source: 'sec_edgar', company: 'x', threshold: 1 })).to.deep.equal([]);
  });

  it('names the sources, and the invalid inputs, when a template has named the source', () => {
    const run = (inputs: JsonObject) => () => toolOf().run(inputs, toolContext());
    expect(run({ source: 'nothing' })).to.throw(
      'there is no source "nothing"; the sources are edgar, file, sec',
    );
    expect(run({ source: 'url' })).to.throw('source "url": input "url" is missing');
  });

  it('refuses a source with an input called source', () => {
    const declaration = { ...DECLARATION, inputs: { source: { description: 'x' } }, fetch: () => 1 };
    expect(() => defineSource(declaration)).to.throw('cannot have an input "source"');
  });
});

describe('fetch_data: file (D49, D51)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  for (const [name, content, data] of [
    ['a.json', '{"a": [1]}', { a: [1] }],
    ['a.csv', 'x,y\n1,b\n', [{ x: 1, y: 'b' }]],
    ['a.txt', 'text', 'text'],
  ] as const) {
    it(`reads ${name}`, async () => {
      folder.write(name, content);
      const context = toolContext({ files: fileAccess([folder.path]) });
      const found = (await toolOf().run({ source: 'file', path: name }, context)) as JsonObject;
      expect(found).to.include({ status: 'success', source: 'file', path: name });
      expect(found['data']).to.deep.equal(data);
    });
  }

  it('says that a file is no JSON', async () => {
    folder.write('b.json', '{');
    const context = toolContext({ files: fileAccess([folder.path]) });
    const error = await catchRejection(
      Promise.resolve(toolOf().run({ source: 'file', path: 'b.json' }, context)),
    );
    expect(error)
      .to.have.property('message')
      .that.matches(/^"b\.json" is not JSON: /);
  });
});

describe('fetch_data: url (D49)', () => {
  let server: LoopbackServer;
  beforeEach(async () => (server = await LoopbackServer.start()));
  afterEach(() => server.close());

  const source = createUrlSource();
  const get = async (inputs: JsonObject = {}, tenantId = 'tenant') => {
    const context = toolContext({ fetch: loopbackFetch(), tenant_id: tenantId });
    const all = { method: 'GET', timeout: 20, url: `${server.url}/data`, ...inputs };
    return (await source.run(all, context)) as JsonObject;
  };

  it('gives JSON by its type, else a text', async () => {
    server.handler = (_, response) => response.setHeader('content-type', 'application/json').end('{"a":1}');
    expect(await get()).to.deep.equal({
      status: 'success',
      source: 'url',
      url: `${server.url}/data`,
      content_type: 'application/json',
      data: { a: 1 },
    });
    server.handler = (_, response) => response.setHeader('content-type', 'text/csv').end('a,b');
    expect((await get())['data']).to.equal('a,b');
    server.handler = (_, response) => response.setHeader('content-type', 'application/json').end('not JSON');
    expect((await get())['data']).to.equal('not JSON');
  });

  it('asks whether a response has changed, and uses the earlier one if not', async () => {
    const asked: unknown[] = [];
    server.handler = ({ headers }, response) => {
      asked.push(headers['if-none-match']);
      response.setHeader('etag', '"1"').setHeader('content-type', 'text/plain');
      if (headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else response.end(`version ${asked.length}`);
    };
    expect((await get())['data']).to.equal('version 1');
    expect((await get())['data']).to.equal('version 1');
    expect((await get({ headers: { 'X-User': 'other' } }))['data']).to.equal('version 3');
    expect((await get({}, 'another tenant'))['data']).to.equal('version 4');
    expect(asked).to.deep.equal([undefined, '"1"', undefined, undefined]);
  });

  it('sends headers as http_request does: numbers too, null not, and no lists', async () => {
    server.handler = ({ headers }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify([headers['x-key'], headers['x-flag'], 'x-none' in headers]));
    };
    const headers = { 'X-Key': 7, 'x-flag': true, 'x-none': null };
    expect((await get({ headers }))['data']).to.deep.equal(['7', 'true', false]);
    const error = await catchRejection(get({ headers: { a: ['b'] } }));
    expect(error).to.have.property(
      'message',
      'the header "a" must be a text, a number or a boolean, not a list',
    );
  });

  it('keeps nothing that the server forbids to keep, or that has no version', async () => {
    for (const headers of [{ etag: '"1"', 'cache-control': 'private, No-Store' }, {}] as Record<
      string,
      string
    >[]) {
      server.handler = (sent, response) =>
        response.writeHead(200, headers).end(sent.headers['if-none-match'] ?? 'unconditional');
      await get({ headers: { a: JSON.stringify(headers) } });
      expect((await get({ headers: { a: JSON.stringify(headers) } }))['data']).to.equal('unconditional');
    }
  });

  it('forgets the least recently used responses beyond 16 MiB', async () => {
    const large = 'x'.repeat(900_000);
    server.handler = ({ headers }, response) => {
      if (headers['if-none-match'] !== undefined) response.writeHead(304).end();
      else response.setHeader('etag', '"1"').end(large);
    };
    for (let n = 0; n < 25; n++) await get({ url: `${server.url}/${n}` });
    const conditional = async (n: number): Promise<boolean> => {
      let was = false;
      server.handler = ({ headers }, response) => {
        was = headers['if-none-match'] !== undefined;
        response.end('x');
      };
      await get({ url: `${server.url}/${n}` });
      return was;
    };
    expect(await conditional(0)).to.equal(false);
    expect(await conditional(24)).to.equal(true);
  });

  it('fails like http_request for a status that is no success', async () => {
    server.handler = (_, response) => response.writeHead(503, { 'retry-after': '3' }).end('later');
    const error = (await catchRejection(get())) as ToolError;
    expect(error.message).to.equal(`GET ${server.url}/data answered 503 Service Unavailable: later`);
    expect(error).to.include({ retryable: true, retryAfterMs: 3000 });
  });
});
