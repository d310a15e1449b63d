import { assertDefined } from '../../../definition/assert.js';
import { ToolError } from '../../../common/errors.js';
import { ellipsize } from '../../../common/text.js';
import { COMPANY_INPUT, findYearEnd } from './companies.js';
import { defineFunction } from './function.js';
import { exactObject, FLAG_SCHEMA, type OutputOf, TEXT_SCHEMA } from '../../schemas/output.js';

/** A period that a report covers. */
const PERIOD_SCHEMA = exactObject({
  label: TEXT_SCHEMA,
  period_end: TEXT_SCHEMA,
  period_type: TEXT_SCHEMA,
  is_annual: FLAG_SCHEMA,
});

type Period = OutputOf<typeof PERIOD_SCHEMA>;

interface CalendarDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

const DATE_INPUT = { type: 'string', required: true } as const;

/** @throws ToolError, not retryable, for what is no date of the calendar in the form YYYY-MM-DD */
function parseDate(text: string): CalendarDate {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number);
  if (year !== undefined && month !== undefined && day !== undefined) {
    const date = { year, month, day };
    if (month >= 1 && month <= 12 && day >= 1 && day <= lastDay(year, month)) return date;
  }
  const shown = JSON.stringify(ellipsize(text, 40));
  throw ToolError.nonRetryable(`${shown} is not a date: write year, month and day, such as 2024-12-31`);
}

function lastDay(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function formatDate({ year, month, day }: CalendarDate): string {
  return [String(year).padStart(4, '0'), pad(month), pad(day)].join('-');
}

function pad(part: number): string {
  return String(part).padStart(2, '0');
}

/** One year earlier; 28 February for 29 February. */
function yearBefore({ year, month, day }: CalendarDate): CalendarDate {
  return { year: year - 1, month, day: Math.min(day, lastDay(year - 1, month)) };
}

function labelQuarter({ year, month }: CalendarDate): string {
  return `Q${Math.ceil(month / 3)} ${year}`;
}

function labelHalf({ year, month }: CalendarDate): string {
  return `H${month <= 6 ? 1 : 2} ${year}`;
}

/** The functions that make a label, by the type of the period. */
const LABELS: Readonly<Record<string, (date: CalendarDate) => string>> = {
  annual: ({ year }) => `FY ${year}`,
  quarterly: labelQuarter,
  ytd_current: labelQuarter,
  ytd_prior: labelQuarter,
  half_year: labelHalf,
  semi_annual: labelHalf,
};

export const periodLabel = defineFunction({
  name: 'period_label',
  pure: true,
  description: 'Names the period that ends on a date: FY 2024, Q1 2025, H2 2025',
  inputs: {
    date: { ...DATE_INPUT, description: 'the last day of the period, as YYYY-MM-DD' },
    period_type: {
      type: 'string',
      enum: Object.keys(LABELS),
      required: true,
      description: 'how long the period is',
    },
  },
  output: {
    name: 'label',
    description: 'the name of the period',
    type: 'string',
    schema: TEXT_SCHEMA,
  },
  run: ({ date, period_type: type }) => assertDefined(LABELS[type], 'a type of a period')(parseDate(date)),
});

export const fiscalPeriodLogic = defineFunction({
  name: 'fiscal_period_logic',
  pure: true,
  description:
    'Gives the periods that a report of a company at a date covers: the fiscal year when it ends on that date; ' +
    'otherwise the last fiscal year, the quarter of this year and that of the year before',
  inputs: {
    as_of_date: { ...DATE_INPUT, description: 'the date of the report, as YYYY-MM-DD' },
    company: COMPANY_INPUT,
  },
  output: {
    name: 'periods',
    description: 'each with label, period_end, period_type, is_annual',
    type: 'array',
    schema: { type: 'array', items: PERIOD_SCHEMA },
  },
  run({ as_of_date: text, company }) {
    const date = parseDate(text);
    const yearEnd = findYearEnd(company);
    if (text.endsWith(yearEnd)) return [annualPeriod(date, yearEnd)];
    const year = text.slice(5) > yearEnd ? date.year : date.year - 1;
    const [month = 12, day = 31] = yearEnd.split('-').map(Number);
    return [
      annualPeriod({ year, month, day }, yearEnd),
      quarter(date, 'ytd_current'),
      quarter(yearBefore(date), 'ytd_prior'),
    ];
  },
});

/** A fiscal year that is not the calendar year is named by both years. */
function annualPeriod(end: CalendarDate, yearEnd: string): Period {
  const label = yearEnd === '12-31' ? `FY ${end.year}` : `FY ${end.year - 1}/${end.year}`;
  return { label, period_end: formatDate(end), period_type: 'annual', is_annual: true };
}

function quarter(end: CalendarDate, type: string): Period {
  return { label: labelQuarter(end), period_end: formatDate(end), period_type: type, is_annual: false };
}
