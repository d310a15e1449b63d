import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { systemClock } from '../../../lib/common/clock.js';
import { compileSchema } from '../../../lib/common/json-schema/ajv.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { ANY_SHAPE, shapeOfLiteral, type ValueShape } from '../../../lib/definition/shapes/shape.js';
import { toJsonOutput } from '../../../lib/execution/invocation/json-output.js';
import { createSearchWeb } from '../../../lib/tools/builtin/web/search-web.js';
import { SessionPool } from '../../../lib/tools/builtin/sql-query/session-pool.js';
import { createSqlQuery } from '../../../lib/tools/builtin/sql-query/sql-query.js';
import { createSecEdgar } from '../../../lib/tools/builtin/web/fetch-data/sec-edgar.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { fileAccess } from '../../../lib/tools/files/file-access.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { outputShapeOf } from '../../../lib/tools/schemas/output-shape.js';
import { defineSchema } from '../../../lib/tools/schemas/schema.js';
import type { FetchedResponse, Tool, ToolContext } from '../../../lib/tools/tool.js';
import { ScriptedModels } from '../../models/scripted-models.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { toolContext } from '../../support/tool-context.js';

const SCHEMA = defineSchema({ name: 'invoice', description: 'of an invoice', fields: ['total'] });
const POOL = new SessionPool();
const VARIANTS = [
  ...createSecEdgar({ userAgent: 'spec a@b.example' }),
  createSearchWeb({ provider: 'https://search.example/?q={query}' }),
  createSqlQuery({ pool: POOL }),
];
const CATALOG = VARIANTS.reduce((catalog, tool) => catalog.withVariant(tool), builtinCatalog()).with([
  SCHEMA,
]);

const PAGE = { number: 1, text: 'total 12', is_scanned: false, sheet_name: null };
const DOCUMENT = { source: 'd.txt', format: 'text', pages: [PAGE], text: 'total 12' };
const RECORDS = [{ Revenue: 10, 'Cost of Revenue': 4, 'Operating Income': 9, 'Total Operating Expenses': 8 }];
const RESULT_PAGE = { results: [{ title: 't', content: 's', url: 'https://a.example' }] };

/** The context that a call needs besides its inputs. */
interface Setting {
  readonly answers?: readonly (string | object)[];
  readonly responses?: Readonly<Record<string, unknown>>;
  readonly type?: string;
}

type Call = readonly [inputs: JsonObject, setting?: Setting];

const SEC: Readonly<Record<string, unknown>> = {
  'https://www.sec.gov/files/company_tickers.json': {
    0: { cik_str: 1, ticker: 'AAPL', title: 'Apple Inc.' },
  },
  'https://data.sec.gov/submissions/CIK0000000001.json': {
    name: 'Apple Inc.',
    filings: { recent: { accessionNumber: ['0-1'], form: ['10-K'], primaryDocument: ['a.htm'] }, files: [] },
  },
  'https://data.sec.gov/api/xbrl/companyfacts/CIK0000000001.json': {
    facts: { 'us-gaap': { Assets: { units: {} } } },
  },
};

const secCalls: readonly Call[] = [
  [{ companies: 'AAPL', facts: ['Assets', 'None'] }, { responses: SEC }],
  [{ companies: ['AAPL'] }, { responses: SEC }],
];

/** Calls of all built-in tools; those of functions and of sources are after the name of their tool. */
const CALLS: Readonly<Record<string, readonly Call[]>> = {
  assert: [[{ input: { a: 1 }, that: 'a = 1' }]],
  command: [[{ run: ['x'] }], [{ run: ['x'], output: 'lines' }], [{ run: ['x'], output: 'json' }]],
  compute: [],
  'compute apply_segment_names': [[{ extracted_fields: RECORDS, segment_names: { '[1]': 'a' } }]],
  'compute assemble_extraction_sections': [[{ face: RECORDS }]],
  'compute calculate_derived_fields': [[{ extracted_fields: RECORDS }]],
  'compute compute_derived_fields': [[{ extracted_fields: RECORDS, periods: ['a'] }]],
  'compute extract_xbrl_concept_list': [[{ facts: { 'us-gaap': { Assets: {} } } }]],
  'compute finalize_extraction': [[{ base_fields: RECORDS, corrections: RECORDS }]],
  'compute financial_scale_normalize': [
    [{ value: 1, source_currency: 'EUR', target_currency: 'USD', target_scale: 'ones' }],
  ],
  'compute fiscal_period_logic': [[{ as_of_date: '2024-06-30', company: 'Apple' }]],
  'compute fiscal_year_end': [[{ company: 'Apple' }]],
  'compute period_label': [[{ date: '2024-12-31', period_type: 'annual' }]],
  'compute ticker_lookup': [[{ company: 'Apple' }]],
  'compute validate_cross_checks': [[{ extracted_fields: RECORDS }]],
  'compute zip_pages_with_periods': [[{ pages_list: [1, 2], periods: ['2024-12-31', null] }]],
  copy_file: [[{ from: 'a.txt', to: 'b.txt' }], [{ from: 'a.txt', to: 'written.txt', if_exists: 'skip' }]],
  export: [
    [{ data: [{ a: 1 }], filename: 'a.csv' }],
    [{ data: { total: 1 }, filename: 'a.json', schema: { fields: ['total'], source: 's' } }],
  ],
  extract_fields: [
    [
      { document: DOCUMENT, schema: { total: 'number', buyer: 'text' } },
      { answers: [{ total: 12, buyer: null }] },
    ],
    [
      { document: DOCUMENT, schema: ['total'], provenance: true },
      { answers: [{ fields: { total: 12 }, sources: { total: { page: 1, quote: 'total 12' } } }] },
    ],
    [
      {
        document: DOCUMENT,
        schema: { type: 'object', properties: { lines: { type: 'array', maxItems: 1 } } },
      },
      { answers: [{ lines: [1] }] },
    ],
  ],
  extract_from_tables: [
    [{ document: DOCUMENT }, { answers: [{ tables: [{ headers: ['a'], rows: [['1'], { a: 2 }] }] }] }],
  ],
  extract_from_texts: [
    [{ document: DOCUMENT, prompt: 'x' }, { answers: [{ a: 1 }] }],
    [{ document: DOCUMENT, prompt: 'x' }, { answers: ['no JSON'] }],
  ],
  fail: [[{ times: 0 }]],
  fetch_data: [],
  'fetch_data edgar': secCalls,
  'fetch_data file': [[{ path: 'a.txt' }], [{ path: 'a.csv' }], [{ path: 'a.json' }]],
  'fetch_data sec': secCalls,
  'fetch_data sec_edgar': secCalls,
  'fetch_data url': [[{ url: 'https://a.example' }, { responses: { 'https://a.example': { a: 1 } } }]],
  http_request: [
    [{ url: 'https://a.example' }, { responses: { 'https://a.example': { a: 1 } } }],
    [{ url: 'https://a.example', parse: 'text' }, { responses: { 'https://a.example': 'x' } }],
    [{ url: 'https://a.example', parse: 'bytes' }, { responses: { 'https://a.example': 'x' } }],
    [{ url: 'https://a.example' }, { responses: { 'https://a.example': 'x' }, type: 'image/png' }],
  ],
  ingest_document: [
    ...['a.txt', 'a.md', 'a.csv', 'a.json', 'a.html', 'a.png'].map((path): Call => [{ path }]),
    [{ path: ['a.txt'] }],
    [{ path: ['a.txt', 'a.csv'] }],
    [{ path: DOCUMENT }],
    [{ path: [{ parent_source: 'x', pages: [], own: 1 }] }],
  ],
  list_files: [[{ path: '.', include: 'all' }], [{ path: '.', max_entries: 1 }]],
  llm_job: [[{ prompt: 'x' }, { answers: ['an answer'] }]],
  load_schema: [
    [{ source: 'invoice' }],
    [{ source: 'schema.yaml', task_id: 't' }],
    [{ source: ['total', { name: 'buyer', type: 'text' }] }],
    [{ source: { total: 'number' } }],
    [{ source: { fields: [{ name: 'a', unit: 'kg' }], source: 's', raw: 1, own: 2 } }],
    [{ source: { ...DOCUMENT, columns: ['a'] } }],
  ],
  mock: [[{ a: 1 }]],
  read_file: [
    ...['text', 'lines', 'base64', 'file'].map((output): Call => [{ path: 'a.txt', output }]),
    [{ path: 'a.json', output: 'json' }],
  ],
  run_pipeline: [[{ pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] } }]],
  search_web: [[{ query: ['x'] }]],
  select: [
    [{ document: DOCUMENT }],
    [{ document: 'a text' }],
    [{ document: [DOCUMENT, DOCUMENT], pages: [1] }],
    [{ document: [DOCUMENT], prompt: 'total' }],
  ],
  sleep: [[{ seconds: 0 }], [{ seconds: 0, value: [1] }]],
  sql_query: [
    [{ url: 'duckdb:', query: 'select 1 as a, null as b' }],
    [{ url: 'duckdb:', query: 'create table t (a integer)' }],
    [{ url: 'duckdb:', query: 'select 1 as a', format: 'csv' }],
    [{ url: 'duckdb:', queries: ['select 1 as a', 'select 2 as b'] }],
  ],
  store: [[{ key: 'k', value: { a: [1] } }]],
  transform: [[{ input: 1, expression: '$ + 1' }]],
  write_file: [
    [{ path: 'out.txt', content: 'x' }],
    [{ path: 'written.txt', content: 'x', if_exists: 'skip' }],
  ],
};

const shapeOf = (value: Json | undefined): ValueShape =>
  value === undefined ? ANY_SHAPE : shapeOfLiteral(value);

describe('The outputs of the built-in tools', () => {
  const folder = new TemporaryFolder();
  folder.write('a.txt', 'one\ntwo\n');
  folder.write('a.md', '# Title\n\ntext');
  folder.write('a.csv', 'name,price\nrope,3\n');
  folder.write('a.json', '{"a": [1]}');
  folder.write('a.html', '<h1>Title</h1><table><tr><td>1</td></tr></table>');
  folder.write('a.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  folder.write('schema.yaml', 'fields: [total]');
  folder.write('out/written.txt', 'x');
  mkdirSync(folder.at('in'));
  after(async () => {
    await POOL.close();
    folder.remove();
  });

  function contextOf({ answers = [], responses = {}, type }: Setting): ToolContext {
    return {
      ...toolContext({
        files: fileAccess([folder.path], undefined, { writable: { folders: [folder.at('out')] } }),
        llm: new ScriptedModels(...answers.map((answer) => JSON.stringify(answer))),
        fetch: (url) => Promise.resolve(respond(url, responses[url] ?? RESULT_PAGE, type)),
        runPipeline: () => Promise.resolve({ outputs: { a: 1 }, waves_executed: 1, tasks_executed: 1 }),
        command: () =>
          Promise.resolve({
            status: 0,
            signal: null,
            succeeded: true,
            stdout: '[1]',
            cut: undefined,
            lastLines: [],
          }),
      }),
      clock: systemClock,
    };
  }

  const entries: [string, Tool][] = CATALOG.names().flatMap((name) => {
    const tool = CATALOG.get(name) as Tool;
    const named = name === 'compute' ? tool.registries?.functions : tool.registries?.sources;
    const registered = ['compute', 'fetch_data'].includes(name) ? [...(named ?? [])] : [];
    return [[name, tool], ...registered.map(([one, entry]): [string, Tool] => [`${name} ${one}`, entry])];
  });

  it('have a call here for every tool, function and source', () => {
    expect(Object.keys(CALLS).toSorted()).to.deep.equal(entries.map(([name]) => name).toSorted());
  });

  for (const [name, tool] of entries) {
    for (const [inputs, setting = {}] of CALLS[name] ?? []) {
      it(`${name} returns what its schema says, and what is derived of ${JSON.stringify(inputs).slice(0, 100)}`, async () => {
        const validated = validateInputs(tool, inputs);
        if (!validated.ok) throw new Error(validated.errors.join('; '));
        const returned = await tool.run(validated.inputs, contextOf(setting), tool.registries);
        const output = toJsonOutput(returned, { limitBytes: 1e6, artifactPath: () => '/file' });
        if (!output.ok) throw new Error(output.error);
        for (const shape of [tool.output.schema ?? true, outputShapeOf(tool, inputs, shapeOf)]) {
          if (typeof shape === 'boolean') continue;
          const validate = compileSchema(shape);
          expect(validate(output.value), JSON.stringify([validate.errors, output.value])).to.equal(true);
        }
      });
    }
  }
});

function respond(url: string, body: unknown, type?: string): FetchedResponse {
  const isText = typeof body === 'string';
  const headers = { 'content-type': type ?? (isText ? 'text/plain' : 'application/json') };
  return { url, status: 200, headers, bytes: Buffer.from(isText ? body : JSON.stringify(body)) };
}
