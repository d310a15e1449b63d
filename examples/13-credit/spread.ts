import { defineFunction, type Json, type JsonObject, ToolError } from 'wavetrain';

/** Amounts by fiscal year, in millions of US dollars; null where the filings have none. */
type Years = Record<string, number | null>;

const INCOME = [
  'revenue',
  'cogs',
  'gross_profit',
  'operating_income',
  'ebitda_gaap',
  'net_income',
  'da',
  'interest_expense',
];
const BALANCE = ['total_assets', 'total_debt', 'cash', 'equity'];
const CASH_FLOW = ['cfo', 'capex'];

/** Fields that follow from others unless the mapping names a concept for them. */
const COMPUTED = ['gross_profit', 'ebitda_gaap'];

export const buildFinancialSpread = defineFunction({
  name: 'build_financial_spread',
  pure: true,
  description:
    'Arranges the XBRL facts of a company by field and fiscal year, with the metrics of the latest year',
  inputs: {
    xbrl_data: { type: 'object', required: true, description: 'with ticker and facts' },
    schema_mapping: {
      type: 'object',
      required: true,
      description: 'the concept of each field, such as us-gaap/Revenues; null for none',
    },
    fiscal_years: { type: 'integer', minimum: 1, maximum: 20, default: 3, description: 'how many years' },
    as_of: {
      type: 'string',
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      description: 'the date after which nothing counts, as YYYY-MM-DD; without it, the time of the clock',
    },
  },
  output: {
    name: 'spread',
    description:
      'ticker, fiscal_years, income_statement, balance_sheet, cash_flow, canonical_metrics, maturity_schedule and provenance',
    type: 'object',
  },
  run({ xbrl_data: data, schema_mapping: mapping, fiscal_years: count, as_of }, context) {
    const asOf = as_of ?? new Date(context.clock.now()).toISOString().slice(0, 10);
    const provenance = Object.entries(mapping).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    const found = new Map(
      provenance.map(([field, concept]) => [field, readConcept(data['facts'], concept, asOf)]),
    );
    const years = [...(found.get('revenue')?.keys() ?? [])].sort().slice(-count);
    const latest = years.at(-1);
    if (latest === undefined) {
      throw new ToolError(
        `no 10-K before ${asOf} has revenue: check the concept of "revenue" in schema_mapping`,
        {
          retryable: false,
        },
      );
    }
    const amount = (field: string, year: string): number | null => {
      const reported = found.get(field)?.get(year);
      return reported ?? (COMPUTED.includes(field) ? compute(field, (other) => amount(other, year)) : null);
    };
    const section = (fields: readonly string[]): Record<string, Years> =>
      Object.fromEntries(
        fields.map((field) => [field, Object.fromEntries(years.map((year) => [year, amount(field, year)]))]),
      );
    return {
      ticker: data['ticker'] ?? null,
      fiscal_years: years,
      income_statement: section(INCOME),
      balance_sheet: section(BALANCE),
      cash_flow: section(CASH_FLOW),
      canonical_metrics: createMetrics(latest, (field) => amount(field, latest)),
      maturity_schedule: {},
      provenance: Object.fromEntries(provenance),
    };
  },
});

function compute(field: string, amount: (field: string) => number | null): number | null {
  return field === 'gross_profit'
    ? combine(amount('revenue'), amount('cogs'), (revenue, cogs) => revenue - cogs)
    : combine(amount('operating_income'), amount('da'), (income, da) => income + da);
}

/** Calls `operate` with two amounts that are both known. */
export function combine(
  a: number | null,
  b: number | null,
  operate: (a: number, b: number) => number,
): number | null {
  return a === null || b === null ? null : operate(a, b);
}

/** The metrics that the other functions read: one set of names, all in millions. */
function createMetrics(latest: string, amount: (field: string) => number | null): JsonObject {
  const ebitda = amount('ebitda_gaap');
  const netDebt = combine(amount('total_debt'), amount('cash'), (debt, cash) => debt - cash);
  const ratio = (part: number | null, whole: number | null): number | null =>
    combine(part, whole === 0 ? null : whole, (a, b) => a / b);
  const fields = [...INCOME, ...BALANCE, ...CASH_FLOW].map((field) => [field, amount(field)] as const);
  return {
    latest_fy: latest,
    currency_scale: 'millions_usd',
    precision_dp: 0,
    ...Object.fromEntries(fields),
    ebitda_adjusted: ebitda,
    net_debt: netDebt,
    fcf: combine(amount('cfo'), amount('capex'), (cfo, capex) => cfo - capex),
    gross_leverage_adj: ratio(amount('total_debt'), ebitda),
    net_leverage_adj: ratio(netDebt, ebitda),
    interest_coverage_adj: ratio(ebitda, amount('interest_expense')),
    mgmt_ebitda_adjusted: null,
    maturity_schedule: {},
  };
}

interface Fact {
  readonly form: string;
  readonly start?: string;
  readonly end: string;
  readonly filed: string;
  readonly val: number;
}

/** Reads the yearly amounts of a concept from 10-K filings; the filing that was made last counts. */
function readConcept(facts: Json | undefined, concept: string, asOf: string): Map<string, number> {
  const [taxonomy = '', name = ''] = concept.split('/');
  const units = get(get(get(facts, taxonomy), name), 'units');
  const reported = get(units, 'USD');
  const latest = new Map<string, Fact>();
  for (const fact of Array.isArray(reported) ? reported.filter(isFact) : []) {
    if (fact.form !== '10-K' || fact.filed > asOf || fact.end > asOf || isPartOfYear(fact)) continue;
    const year = fact.end.slice(0, 4);
    const before = latest.get(year);
    if (before === undefined || [fact.end, fact.filed].join() > [before.end, before.filed].join())
      latest.set(year, fact);
  }
  return new Map([...latest].map(([year, { val }]) => [year, toMillions(val)]));
}

const DAYS_IN_MS = 24 * 60 * 60 * 1000;

/** 10-K filings also repeat quarters. Amounts at a date have no start. */
function isPartOfYear({ start, end }: Fact): boolean {
  return start !== undefined && Date.parse(end) - Date.parse(start) < 300 * DAYS_IN_MS;
}

/** Rounds to one dollar. */
function toMillions(dollars: number): number {
  return Math.round(dollars) / 1e6;
}

function isFact(value: Json): value is Json & Fact {
  const isText = (key: string): boolean => typeof get(value, key) === 'string';
  return isText('form') && isText('end') && isText('filed') && typeof get(value, 'val') === 'number';
}

function get(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
