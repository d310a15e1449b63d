import { expect } from 'chai';
import type { IncomingHttpHeaders } from 'node:http';
import type { ToolError } from '../../../../../lib/common/errors.js';
import type { JsonObject } from '../../../../../lib/common/json/json.js';
import { validateInputs } from '../../../../../lib/tools/inputs/validate.js';
import { createSecEdgar } from '../../../../../lib/tools/builtin/web/fetch-data/sec-edgar.js';
import type { DataSource, FetchedResponse, ToolContext } from '../../../../../lib/tools/tool.js';
import { settle } from '../../../../support/deferred.js';
import { ManualClock } from '../../../../support/manual-clock.js';
import { catchRejection } from '../../../../support/rejection.js';
import { toolContext } from '../../../../support/tool-context.js';

const INDEX_PATH = '/files/company_tickers.json';

const INDEX = {
  0: { cik_str: 320193, ticker: 'AAPL', title: 'Apple Inc.' },
  2: { cik_str: 1751008, ticker: 'APP', title: 'AppLovin Corp' },
  3: { cik_str: 1418121, ticker: 'APLE', title: 'Apple Hospitality REIT, Inc.' },
  1: { cik_str: 1652044, ticker: 'GOOG', title: 'Alphabet Inc.' },
};

const columns = (rows: readonly (readonly [string, string, string])[]) => ({
  form: rows.map(([form]) => form),
  filingDate: rows.map(([, filed]) => filed),
  reportDate: rows.map(([, , reported]) => reported),
  accessionNumber: rows.map((_, row) => `0000320193-24-00000${row}`),
  primaryDocument: rows.map((_, row) => `report-${row}.htm`),
});

const RECENT = columns([
  ['8-K', '2025-02-01', ''],
  ['10-Q', '2025-01-31', '2024-12-28'],
  ['10-K', '2024-11-01', '2024-09-28'],
  ['10-Q', '2024-08-02', '2024-06-29'],
  ['10-Q', '2024-05-03', '2024-03-30'],
]);

const OLDER = columns([
  ['10-K', '2023-11-03', '2023-09-30'],
  ['10-K', '2022-10-28', '2022-09-24'],
]);

const FACTS = { facts: { 'us-gaap': { Assets: { units: { USD: [{ val: 1 }] } } } } };

const ANSWERS: Record<string, unknown> = {
  [INDEX_PATH]: INDEX,
  '/submissions/CIK0000320193.json': {
    name: 'Apple Inc.',
    filings: {
      recent: RECENT,
      files: [
        { name: 'CIK0000320193-submissions-001.json', filingFrom: '1994-01-26', filingTo: '2023-12-31' },
      ],
    },
  },
  '/submissions/CIK0000320193-submissions-001.json': OLDER,
  '/submissions/CIK0001652044.json': { name: 'Alphabet Inc.', filings: { recent: columns([]), files: [] } },
  '/api/xbrl/companyfacts/CIK0000320193.json': FACTS,
};

interface Filed {
  readonly form: string;
  readonly filing_date: string;
  readonly url: string;
}

describe('fetch_data: sec_edgar (D49)', () => {
  let requests: string[];
  let headers: IncomingHttpHeaders;
  beforeEach(() => (requests = []));

  const answer = async (
    url: string,
    options: { readonly headers?: Readonly<Record<string, string>> | undefined } = {},
  ): Promise<FetchedResponse> => {
    const { pathname } = new URL(url);
    requests.push(pathname);
    headers = { ...options.headers };
    const found = ANSWERS[pathname];
    const status = found === undefined ? 404 : 200;
    return { url, status, headers: {}, bytes: Buffer.from(JSON.stringify(found ?? 'nothing')) };
  };

  const create = (): DataSource => createSecEdgar({ userAgent: 'Acme admin@acme.example' })[0] as DataSource;

  const read = async (
    inputs: JsonObject,
    source = create(),
    own: Partial<ToolContext> & { readonly clock: ManualClock } = { clock: new ManualClock() },
  ): Promise<JsonObject[]> => {
    const checked = validateInputs(source, inputs);
    if (!checked.ok) throw new Error(checked.errors.join('\n'));
    const context = { ...toolContext({ fetch: answer }), ...own };
    const found = Promise.resolve(source.run(checked.inputs, context));
    let isDone = false;
    found.then(
      () => (isDone = true),
      () => (isDone = true),
    );
    for (; !isDone; await settle(1)) own.clock.advance(100);
    return ((await found) as { results: JsonObject[] }).results;
  };
  const filingsOf = async (inputs: JsonObject): Promise<string[]> => {
    const [first] = await read({ companies: 'AAPL', ...inputs });
    return (first?.['filings'] as unknown as Filed[]).map(({ form, filing_date: date }) => `${form} ${date}`);
  };

  it('gives the company and its filings, with the address of each document', async () => {
    const [apple] = await read({ ticker: 'aapl', forms: '10-k', year: 2024 });
    expect(apple).to.deep.equal({
      company_input: 'aapl',
      company_name: 'Apple Inc.',
      ticker: 'AAPL',
      cik: '0000320193',
      filings: [
        {
          form: '10-K',
          filing_date: '2024-11-01',
          report_date: '2024-09-28',
          accession_no: '0000320193-24-000002',
          url: 'https://www.sec.gov/Archives/edgar/data/320193/000032019324000002/report-2.htm',
          primary_document: 'report-2.htm',
        },
      ],
    });
    expect(headers).to.include({ 'user-agent': 'Acme admin@acme.example' });
  });

  it('finds companies by ticker, name, number, and a ticker with a suffix', async () => {
    const found = await read({
      companies: ['aapl', 'alphabet inc.', '320193', 'Alphabet', 'AAPL.US'],
      count: 1,
    });
    expect(found.map(({ ticker }) => ticker)).to.deep.equal(['AAPL', 'GOOG', 'AAPL', 'GOOG', 'AAPL']);
  });

  it('takes no name for the company whose ticker begins it, and names those that may be meant', async () => {
    const error = await catchRejection(read({ companies: ['Apple', 'AAPLX'] }));
    expect(error).to.include({ retryable: false });
    expect(error).to.have.property(
      'message',
      'the SEC knows no company "AAPLX"; "Apple" may be Apple Hospitality REIT, Inc. (APLE), Apple Inc. (AAPL): ' +
        'use tickers, names as registered, or CIK numbers',
    );
  });

  it('names all companies that it does not know', async () => {
    const error = await catchRejection(read({ companies: ['AAPL', 'Nobody Inc.', 'XXXXXXX'] }));
    expect(error).to.include({ retryable: false });
    expect(error).to.have.property('message').that.includes('knows no company "Nobody Inc.", "XXXXXXX"');
  });

  it('reads older filings only when they may be among those that are asked for', async () => {
    expect(await filingsOf({ count: 5 })).to.have.length(5);
    expect(requests).to.not.include('/submissions/CIK0000320193-submissions-001.json');
    expect(await filingsOf({ count: 7 })).to.have.length(7);
    expect(await filingsOf({ forms: ['10-K'], year: 2022 })).to.deep.equal([
      '10-K 2023-11-03',
      '10-K 2022-10-28',
    ]);
  });

  for (const [inputs, expected] of [
    [{ period_end: '2024-09-28', period_type: 'annual' }, ['10-K 2024-11-01']],
    [{ period_end: '2024-06-29', period_type: 'q' }, ['10-Q 2024-08-02']],
    [{ period_end: '2024-07-31', period_type: 'ytd_current' }, ['10-Q 2024-08-02']],
    [{ period_end: '2024-01-01', period_type: 'quarterly' }, ['10-Q 2024-08-02']],
    [{ period_end: '2023-09-30', period_type: 'annual' }, ['10-K 2023-11-03']],
    [{ year: 2025 }, ['8-K 2025-02-01', '10-Q 2025-01-31']],
    [{ year: '2025', count: 1 }, ['8-K 2025-02-01']],
    [{ year: 1990 }, []],
  ] as const) {
    it(`finds ${expected.join(' and ') || 'nothing'} for ${JSON.stringify(inputs)}`, async () => {
      expect(await filingsOf(inputs)).to.deep.equal(expected);
    });
  }

  it('gives the values of concepts', async () => {
    const [apple] = await read({ companies: 'AAPL', facts: ['Assets', 'Nothing'], count: 1 });
    expect(apple?.['facts']).to.deep.equal({ Assets: { units: { USD: [{ val: 1 }] } }, Nothing: null });
  });

  const indexRequests = (): number => requests.filter((path) => path === INDEX_PATH).length;

  it('reads the index of companies once a day', async () => {
    const source = create();
    const clock = new ManualClock();
    await read({ companies: 'AAPL' }, source, { clock });
    await read({ companies: 'GOOG' }, source, { clock });
    expect(indexRequests()).to.equal(1);
    clock.advance(24 * 3600 * 1000);
    await read({ companies: 'GOOG' }, source, { clock });
    expect(indexRequests()).to.equal(2);
  });

  it('reads the index once for calls at the same time', async () => {
    const source = create();
    const clock = new ManualClock();
    const calls = [1, 2, 3].map(() => read({ companies: 'AAPL' }, source, { clock }));
    for (const [apple] of await Promise.all(calls)) expect(apple).to.include({ ticker: 'AAPL' });
    expect(indexRequests()).to.equal(1);
  });

  it('reads the index again after it could not, for all who waited for it', async () => {
    const source = create();
    const clock = new ManualClock();
    const fetch = async (url: string): Promise<FetchedResponse> => {
      requests.push(new URL(url).pathname);
      return { url, status: 503, headers: {}, bytes: Buffer.from('') };
    };
    const calls = [1, 2].map(() => catchRejection(read({ companies: 'AAPL' }, source, { clock, fetch })));
    for (const error of await Promise.all(calls))
      expect(error).to.have.property('message').that.includes('503');
    expect(indexRequests()).to.equal(1);
    expect((await read({ companies: 'AAPL' }, source, { clock }))[0]).to.include({ ticker: 'AAPL' });
  });

  it('reads the index itself when the attempt that read it is stopped', async () => {
    const source = create();
    const clock = new ManualClock();
    const stopped = toolContext({
      fetch: async () => {
        requests.push(INDEX_PATH);
        await new Promise((_, reject) =>
          stopped.signal.addEventListener('abort', () => reject(new Error('stopped'))),
        );
        throw new Error('unreachable');
      },
    });
    const first = catchRejection(read({ companies: 'AAPL' }, source, { ...stopped, clock }));
    const second = read({ companies: 'AAPL' }, source, { clock });
    await settle();
    stopped.abort();
    expect(await first).to.have.property('message', 'stopped');
    expect((await second)[0]).to.include({ ticker: 'AAPL' });
    expect(indexRequests()).to.equal(2);
  });

  it('says that SEC_USER_AGENT must name somebody, before it sends a request', async () => {
    for (const userAgent of [undefined, 'Acme']) {
      const [source] = createSecEdgar({ userAgent });
      const error = (await catchRejection(read({ companies: 'AAPL' }, source))) as ToolError;
      expect(error).to.include({ retryable: false });
      expect(error.message).to.include('sec_edgar needs SEC_USER_AGENT');
    }
    expect(requests).to.deep.equal([]);
  });

  for (const [inputs, message] of [
    [{}, '"companies" is missing'],
    [{ companies: [{}] }, '"companies" must be a text or a list of texts'],
    [{ companies: 'AAPL', period_end: 'soon' }, '"period_end" must be a date'],
    [{ companies: 'AAPL', year: 'soon' }, '"year" must be a year'],
    [{ companies: Array.from({ length: 101 }, () => 'AAPL') }, '101 companies are more than 100'],
    [{ companies: 'A'.repeat(201) }, '"companies" has a text longer than 200 characters'],
    [{ companies: 'AAPL', forms: Array.from({ length: 1001 }, () => '10-K') }, '"forms" has 1001 entries'],
  ] as const) {
    it(`refuses what it cannot look up: ${message}`, async () => {
      const error = await catchRejection(read(inputs as unknown as JsonObject));
      expect(error).to.have.property('message').that.includes(message);
    });
  }
});
