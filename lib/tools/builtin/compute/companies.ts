import { ToolError } from '../../../common/errors.js';
import { MAX_FUNCTION_KEY } from '../../../common/limits.js';
import { ellipsize } from '../../../common/text.js';
import { defineFunction } from './function.js';
import { TEXT_SCHEMA } from '../../schemas/output.js';

interface Company {
  readonly name: string;
  readonly ticker: string;
  /** Month and day on which the fiscal year ends, unless that is the end of the year. */
  readonly yearEnd?: string;
}

const COMPANIES: readonly Company[] = [
  { name: 'adobe', ticker: 'ADBE' },
  { name: 'alphabet', ticker: 'GOOGL' },
  { name: 'amazon', ticker: 'AMZN' },
  { name: 'apple', ticker: 'AAPL', yearEnd: '09-30' },
  { name: 'bank of america', ticker: 'BAC' },
  { name: 'berkshire hathaway', ticker: 'BRK-B' },
  { name: 'cisco', ticker: 'CSCO' },
  { name: 'coca-cola', ticker: 'KO' },
  { name: 'google', ticker: 'GOOGL' },
  { name: 'intel', ticker: 'INTC' },
  { name: 'johnson & johnson', ticker: 'JNJ' },
  { name: 'jpmorgan', ticker: 'JPM' },
  { name: 'meta', ticker: 'META' },
  { name: 'microsoft', ticker: 'MSFT', yearEnd: '06-30' },
  { name: 'netflix', ticker: 'NFLX' },
  { name: 'nvidia', ticker: 'NVDA' },
  { name: 'oracle', ticker: 'ORCL' },
  { name: 'procter & gamble', ticker: 'PG' },
  { name: 'salesforce', ticker: 'CRM' },
  { name: 'tesla', ticker: 'TSLA' },
  { name: 'walmart', ticker: 'WMT', yearEnd: '01-31' },
];

const CALENDAR_YEAR_END = '12-31';

export const COMPANY_INPUT = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_FUNCTION_KEY,
  required: true,
  description: 'the name of the company',
} as const;

/** Words of a name that its users leave out, or write: `Johnson and Johnson` is `Johnson & Johnson`. */
const CONNECTING_WORDS = new Set(['and', 'the']);

/** Names of legal forms, and words that many companies have in their names: alone they name none. */
const COMMON_WORDS = new Set(
  'bank co com company corp corporation group holding holdings inc incorporated limited llc ltd of plc'.split(
    ' ',
  ),
);

/** The words of a name without what differs in writing: `The Coca-Cola Co.` has coca, cola and co. */
function splitName(name: string): string[] {
  const words =
    name
      .toLowerCase()
      .replaceAll(/['’]/g, '')
      .match(/[a-z0-9]+/g) ?? [];
  return words.filter((word) => !CONNECTING_WORDS.has(word));
}

/** The companies by their names in one word, as `JP Morgan` and `JPMorgan` both give it. */
const COMPANIES_BY_KEY = new Map(COMPANIES.map((company) => [splitName(company.name).join(''), company]));
const LONGEST_KEY = Math.max(...[...COMPANIES_BY_KEY.keys()].map(({ length }) => length));

/**
 * Finds a built-in company by its name in any spelling: with further words around it, `Apple Inc.`, but not `Pineapple`;
 * or by its beginning when nothing but common words follows, `Berkshire Inc.`
 */
function findCompany(text: string): Company | undefined {
  const words = splitName(text);
  return findWithin(words) ?? findByBeginning(words);
}

/** Finds the longest name whose letters some successive words have. */
function findWithin(words: readonly string[]): Company | undefined {
  let longest = '';
  for (const start of words.keys()) {
    let key = '';
    for (let end = start; end < words.length && key.length < LONGEST_KEY; end++) {
      key += words[end];
      if (key.length > longest.length && COMPANIES_BY_KEY.has(key)) longest = key;
    }
  }
  return COMPANIES_BY_KEY.get(longest);
}

/** Finds the only company whose name begins with the words that are not common. */
function findByBeginning(words: readonly string[]): Company | undefined {
  const telling = words.filter((word) => !COMMON_WORDS.has(word));
  if (telling.length === 0) return undefined;
  const found = COMPANIES.filter(({ name }) => {
    const own = splitName(name);
    return telling.every((word, position) => own[position] === word);
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Returns month and day of the end of a company's fiscal year: `09-30`. */
export function findYearEnd(company: string): string {
  return findCompany(company)?.yearEnd ?? CALENDAR_YEAR_END;
}

export const tickerLookup = defineFunction({
  name: 'ticker_lookup',
  pure: true,
  description: `Finds the ticker symbol of one of ${COMPANIES.length} well-known companies by its name`,
  inputs: { company: COMPANY_INPUT },
  output: {
    name: 'ticker',
    description: 'the symbol, such as AAPL',
    type: 'string',
    schema: TEXT_SCHEMA,
  },
  run({ company }) {
    const found = findCompany(company);
    if (found !== undefined) return found.ticker;
    throw ToolError.nonRetryable(
      `no ticker is known for ${JSON.stringify(ellipsize(company, 100))}: ` +
        `register an own function "ticker_lookup" that knows it, or write the ticker`,
    );
  },
});

export const fiscalYearEnd = defineFunction({
  name: 'fiscal_year_end',
  pure: true,
  description:
    'Gives the month and day on which the fiscal year of a company ends; 12-31 for unknown companies',
  inputs: { company: COMPANY_INPUT },
  output: {
    name: 'year_end',
    description: 'month and day, such as 09-30',
    type: 'string',
    schema: TEXT_SCHEMA,
  },
  run: ({ company }) => findYearEnd(company),
});
