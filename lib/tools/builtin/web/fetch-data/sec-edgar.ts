import { ToolError } from '../../../../common/errors.js';
import { isObject, type Json } from '../../../../common/json/json.js';
import { SEC_LIMITS } from '../../../../common/limits.js';
import { ellipsize, joinFirst } from '../../../../common/text.js';
import { readContent } from '../../../fetching/content.js';
import { assertStatus } from '../../../fetching/status.js';
import type { DataSource, ToolContext } from '../../../tool.js';
import { exactObject, TEXT_SCHEMA } from '../../../schemas/output.js';
import { chooseFilings, type Filing, type FilingQuery, matchFilings, readFilings } from './filings.js';
import { RateLimiter } from '../../../../common/scheduling/rate-limiter.js';
import { type Registrant, RegistrantIndex } from './registrants.js';
import { defineSource } from './source.js';

export interface SecEdgarOptions {
  /** Names the sender of the requests, and how to reach them: the SEC refuses others. Tasks fail without it. */
  readonly userAgent?: string | undefined;
  /** The servers; default: those of the SEC. */
  readonly dataUrl?: string;
  readonly archiveUrl?: string;
}

const FORMS: Readonly<Record<string, readonly string[]>> = {
  annual: ['10-K'],
  ytd_current: ['10-Q'],
  ytd_prior: ['10-Q'],
  quarterly: ['10-Q'],
  q: ['10-Q'],
};

/** The index changes about once a day. */
const INDEX_AGE_MS = 24 * 3600 * 1000;

/** Characters of a company, and companies, in a message. */
const MAX_SHOWN_LENGTH = 100;
const MAX_SHOWN = 20;

const FILING_SCHEMA = exactObject({
  form: TEXT_SCHEMA,
  filing_date: TEXT_SCHEMA,
  report_date: TEXT_SCHEMA,
  accession_no: TEXT_SCHEMA,
  url: TEXT_SCHEMA,
  primary_document: TEXT_SCHEMA,
});

const SEC_SCHEMA = exactObject({
  status: { const: 'success' },
  source: { const: 'sec_edgar' },
  results: {
    type: 'array',
    items: exactObject(
      {
        company_input: TEXT_SCHEMA,
        company_name: TEXT_SCHEMA,
        ticker: TEXT_SCHEMA,
        cik: TEXT_SCHEMA,
        filings: { type: 'array', items: FILING_SCHEMA },
        facts: { type: 'object' },
      },
      ['facts'],
    ),
  },
});

/** The index of companies, or that which an attempt is reading. */
interface KeptIndex {
  readonly registrants: Promise<RegistrantIndex>;
  readonly expiresMs: number;
  readonly signal: AbortSignal;
}

/**
 * Creates the source `sec_edgar`, and the same by its short names `sec` and `edgar`: the filings of companies with the US
 * Securities and Exchange Commission, and the values that they have reported.
 */
export function createSecEdgar(options: SecEdgarOptions = {}): DataSource[] {
  const edgar = new Edgar(options);
  const source = defineSource({
    name: 'sec_edgar',
    description: 'Filings of companies with the US Securities and Exchange Commission, and values in them',
    inputs: {
      companies: { description: 'tickers, names as registered, or CIK numbers: a text or a list' },
      ticker: { description: 'the same as companies' },
      year: { description: 'the year of the filings; default: that of period_end' },
      period_end: { description: 'the end of the period that they report, as 2024-09-28' },
      period_type: { description: `in place of forms: ${Object.keys(FORMS).join(', ')}` },
      forms: { description: 'the forms, such as 10-K: a text or a list; default: any' },
      count: { type: 'integer', minimum: 1, maximum: 1000, default: 20, description: 'filings per company' },
      facts: {
        type: 'list',
        maxItems: SEC_LIMITS.namesInList,
        items: { type: 'string', maxLength: SEC_LIMITS.nameLength },
        description: 'concepts to give values of, such as Assets',
      },
    },
    openInputs: true,
    output: {
      name: 'data',
      description:
        'status: "success", source, results: for each company company_input, company_name, ticker, cik, filings (form, ' +
        'filing_date, report_date, accession_no, url, primary_document), and with facts the values of each concept',
      type: 'object',
      schema: SEC_SCHEMA,
    },
    version: '1',
    async fetch(inputs, context) {
      const query = readQuery(inputs);
      const registrants = await edgar.find(textsOf(inputs.companies ?? inputs.ticker, 'companies'), context);
      const results = [];
      for (const [input, registrant] of registrants)
        results.push(await edgar.describe(input, registrant, query, inputs.facts, context));
      return { status: 'success', source: 'sec_edgar', results };
    },
  });
  const alias = (name: string): DataSource => ({ ...source, name, description: 'The same as sec_edgar' });
  return [source, alias('sec'), alias('edgar')];
}

/** Asks the servers of the SEC. All runs share its index of companies, which is public. */
class Edgar {
  readonly #options: SecEdgarOptions;
  readonly #rateLimiter = new RateLimiter(SEC_LIMITS.requestsPerSecond);
  readonly #dataUrl: string;
  readonly #archiveUrl: string;
  #index: KeptIndex | undefined;

  constructor(options: SecEdgarOptions) {
    this.#options = options;
    this.#dataUrl = options.dataUrl ?? 'https://data.sec.gov';
    this.#archiveUrl = options.archiveUrl ?? 'https://www.sec.gov';
  }

  /** Finds each company. Rejects with a ToolError that names all that are unknown, and all that may be several. */
  async find(inputs: readonly string[], context: ToolContext): Promise<[string, Registrant][]> {
    if (inputs.length === 0)
      throw ToolError.nonRetryable('"companies" is missing: name tickers, such as AAPL, or companies');
    if (inputs.length > SEC_LIMITS.companies)
      throw ToolError.nonRetryable(
        `${inputs.length} companies are more than ${SEC_LIMITS.companies}: use a fan-out`,
      );
    const index = await this.#loadIndex(context);
    const found = inputs.map((input) => [input, index.find(input)] as const);
    const problems = describeProblems(found);
    if (problems.length > 0)
      throw ToolError.nonRetryable(
        `${problems.join('; ')}: use tickers, names as registered, or CIK numbers`,
      );
    return found.flatMap(([input, registrants]) =>
      registrants.map((registrant): [string, Registrant] => [input, registrant]),
    );
  }

  /** Reads the index of companies once a day, for all who need it at once; one that could not be read is forgotten. */
  async #loadIndex(context: ToolContext): Promise<RegistrantIndex> {
    const nowMs = context.clock.monotonicNow();
    const kept = this.#index;
    if (kept === undefined || nowMs >= kept.expiresMs) return this.#readIndex(context, nowMs);
    try {
      return await kept.registrants;
    } catch (error) {
      // Only the attempt that read it is stopped.
      if (kept.signal.aborted && !context.signal.aborted) return this.#loadIndex(context);
      throw error;
    }
  }

  #readIndex(context: ToolContext, nowMs: number): Promise<RegistrantIndex> {
    const registrants = this.#get(`${this.#archiveUrl}/files/company_tickers.json`, context)
      .then((index) => RegistrantIndex.read(index))
      .catch((error: unknown) => {
        if (this.#index === kept) this.#index = undefined;
        throw error;
      });
    const kept: KeptIndex = { registrants, expiresMs: nowMs + INDEX_AGE_MS, signal: context.signal };
    this.#index = kept;
    return registrants;
  }

  async describe(
    input: string,
    registrant: Registrant,
    query: FilingQuery,
    facts: readonly string[] | undefined,
    context: ToolContext,
  ) {
    const { cik } = registrant;
    const submissions = await this.#get(`${this.#dataUrl}/submissions/CIK${cik}.json`, context);
    const filings = await this.#collect(submissions, cik, query, context);
    const { name } = isObject(submissions) ? submissions : {};
    return {
      company_input: input,
      company_name: registrant.name || (typeof name === 'string' ? name : ''),
      ticker: registrant.ticker,
      cik,
      filings: chooseFilings(filings, query),
      ...(facts !== undefined && { facts: await this.#readFacts(cik, facts, context) }),
    };
  }

  /** Reads the recent filings, and the older ones while they could be among those that are asked for. */
  async #collect(
    submissions: unknown,
    cik: string,
    query: FilingQuery,
    context: ToolContext,
  ): Promise<Filing[]> {
    const { recent, files } = readBlocks(submissions);
    const found = matchFilings(readFilings(recent, cik, this.#archiveUrl), query);
    for (const { name, from, to } of files) {
      if (!mayContain(from, to, query) || isEnough(found, query)) continue;
      const older = await this.#get(`${this.#dataUrl}/submissions/${name}`, context);
      found.push(...matchFilings(readFilings(older, cik, this.#archiveUrl), query));
    }
    return found;
  }

  async #readFacts(cik: string, concepts: readonly string[], context: ToolContext): Promise<object> {
    const all = await this.#get(`${this.#dataUrl}/api/xbrl/companyfacts/CIK${cik}.json`, context);
    const taxonomies = isObject(all) && isObject(all['facts']) ? Object.values(all['facts']) : [];
    return Object.fromEntries(
      concepts.map((concept) => {
        const holder = taxonomies.find((taxonomy) => isObject(taxonomy) && Object.hasOwn(taxonomy, concept));
        return [concept, isObject(holder) ? holder[concept] : null];
      }),
    );
  }

  async #get(url: string, context: ToolContext): Promise<Json | Buffer> {
    const { userAgent = '' } = this.#options;
    if (!/@|https?:/.test(userAgent))
      throw ToolError.nonRetryable(
        'sec_edgar needs SEC_USER_AGENT, because the SEC asks who reads its data: set it to a name and an address, ' +
          'as in SEC_USER_AGENT="Acme Research admin@acme.example"',
      );
    await this.#rateLimiter.wait(context);
    const response = await context.fetch(url, {
      headers: { 'user-agent': userAgent },
      accept: 'application/json',
      maxBytes: SEC_LIMITS.responseBytes,
    });
    assertStatus(response, 'GET', ['2xx'], context.clock);
    return readContent(response, context, 'json', SEC_LIMITS.responseBytes);
  }
}

/** Names the inputs that are no company, and those that may be several. */
function describeProblems(found: readonly (readonly [string, readonly Registrant[]])[]): string[] {
  const quote = (input: string): string => `"${ellipsize(input, MAX_SHOWN_LENGTH)}"`;
  const unknown = found.filter(([, { length }]) => length === 0).map(([input]) => quote(input));
  const ambiguous = found
    .filter(([, { length }]) => length > 1)
    .map(([input, candidates]) => {
      const names = candidates.map(({ name, ticker }) => `${name} (${ticker})`);
      return `${quote(input)} may be ${joinFirst(names, MAX_SHOWN)}`;
    });
  const none = unknown.length === 0 ? [] : [`the SEC knows no company ${joinFirst(unknown, MAX_SHOWN)}`];
  return [...none, ...ambiguous];
}

/** A file of older filings, with the dates of the first and the last one. */
interface OlderFile {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

function readBlocks(submissions: unknown): {
  readonly recent: unknown;
  readonly files: readonly OlderFile[];
} {
  const filings = isObject(submissions) ? submissions['filings'] : undefined;
  if (!isObject(filings)) throw new ToolError('the SEC has answered without the filings of the company');
  const files = Array.isArray(filings['files']) ? filings['files'] : [];
  const older = files.flatMap((file: unknown): OlderFile[] => {
    if (!isObject(file)) return [];
    const { name, filingFrom, filingTo } = file;
    if (typeof name !== 'string' || !/^[\w.-]{1,100}$/.test(name)) return [];
    return [{ name, from: String(filingFrom), to: String(filingTo) }];
  });
  return { recent: filings['recent'], files: older.slice(0, SEC_LIMITS.olderFiles) };
}

function mayContain(from: string, to: string, { year }: FilingQuery): boolean {
  return year === undefined || (from.slice(0, 4) <= String(year + 1) && to.slice(0, 4) >= String(year));
}

/** A period may be reported by any filing of its year. */
function isEnough(found: readonly Filing[], { count, periodEnd }: FilingQuery): boolean {
  return periodEnd === undefined
    ? found.length >= count
    : found.some(({ report_date: date }) => date === periodEnd);
}

/** @throws ToolError, not retryable, for values that are none */
function readQuery(inputs: {
  readonly year?: Json;
  readonly period_end?: Json;
  readonly period_type?: Json;
  readonly forms?: Json;
  readonly count: number;
}): FilingQuery {
  const periodEnd = inputs.period_end ?? undefined;
  if (periodEnd !== undefined && (typeof periodEnd !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(periodEnd)))
    throw ToolError.nonRetryable('"period_end" must be a date, as 2024-09-28');
  const year = Number(inputs.year ?? periodEnd?.slice(0, 4) ?? Number.NaN);
  if (inputs.year !== undefined && inputs.year !== null && !Number.isInteger(year))
    throw ToolError.nonRetryable('"year" must be a year, as 2024');
  const named = textsOf(inputs.forms, 'forms').map((form) => form.toUpperCase());
  const type = typeof inputs.period_type === 'string' ? inputs.period_type.toLowerCase() : '';
  return {
    year: Number.isNaN(year) ? undefined : year,
    periodEnd,
    forms: named.length > 0 || !Object.hasOwn(FORMS, type) ? named : (FORMS[type] ?? []),
    count: inputs.count,
  };
}

function textsOf(value: Json | undefined, name: string): string[] {
  if (value === undefined || value === null) return [];
  const values = Array.isArray(value) ? value : [value];
  if (values.length > SEC_LIMITS.namesInList)
    throw ToolError.nonRetryable(
      `"${name}" has ${values.length} entries: at most ${SEC_LIMITS.namesInList} are read; use a fan-out`,
    );
  return values.map((one) => {
    if (typeof one === 'string' && one.length > SEC_LIMITS.nameLength)
      throw ToolError.nonRetryable(`"${name}" has a text longer than ${SEC_LIMITS.nameLength} characters`);
    if (typeof one === 'string' || typeof one === 'number') return String(one);
    throw ToolError.nonRetryable(`"${name}" must be a text or a list of texts`);
  });
}
