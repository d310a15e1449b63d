import { ToolError } from '../../../common/errors.js';
import { MAX_FUNCTION_KEY } from '../../../common/limits.js';
import { ellipsize } from '../../../common/text.js';
import { defineFunction } from './function.js';

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

/** Finds a built-in company by its name, in whole words of a longer one: `Apple Inc.`, but not `Pineapple`. */
function findCompany(text: string): Company | undefined {
  const words = ` ${text.toLowerCase().replaceAll(/[^a-z0-9&-]+/g, ' ')} `;
  const found = COMPANIES.filter(({ name }) => words.includes(` ${name} `));
  return found.toSorted((a, b) => b.name.length - a.name.length)[0];
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
  output: { name: 'ticker', description: 'the symbol, such as AAPL', type: 'string' },
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
  output: { name: 'year_end', description: 'month and day, such as 09-30', type: 'string' },
  run: ({ company }) => findYearEnd(company),
});
