import type { Steps } from '../../../common/scheduling/steps.js';
import { isObject, type Json, type JsonObject } from '../../../common/json/json.js';
import { defineFunction, runWithPausesIfLong } from './function.js';
import {
  ArgumentReader,
  formatAmount,
  formatPlaces,
  isFound,
  StepMeter,
  readAmount,
  toSlug,
  withFields,
  RECORDS_INPUT,
} from './values.js';
import { FIELD_NOT_FOUND } from '../../schemas/schema.js';

/** The items of an income statement, with the names that documents have for them, as slugs. */
const ITEMS = {
  revenue: 'revenue revenues total_revenue total_revenues net_revenue net_revenues net_sales sales',
  cost: 'cost_of_revenue cost_of_revenues cost_of_sales cost_of_goods_sold cogs',
  research: 'research_and_development r_d',
  marketing: 'sales_and_marketing selling_and_marketing marketing',
  administration: 'general_and_administrative selling_general_and_administrative sg_a',
  totalExpenses: 'total_operating_expenses total_costs_and_expenses',
  operatingIncome: 'operating_income operating_income_loss income_from_operations operating_profit',
  otherIncome: 'other_income_expense_net total_other_income_expense other_income_net other_income',
  pretaxIncome:
    'pretax_income income_before_tax income_before_taxes income_before_income_taxes pre_tax_income',
  tax: 'income_tax_expense provision_for_income_taxes income_taxes tax_expense income_tax',
  netIncome: 'net_income net_income_loss net_earnings net_profit',
  dilutedShares: 'diluted_shares diluted_shares_outstanding weighted_average_diluted_shares',
  dilutedEps: 'diluted_eps eps_diluted diluted_earnings_per_share diluted_net_income_per_share',
  grossProfit: 'gross_profit',
} as const;

const NAMES_OF_ITEMS = Object.entries(ITEMS).map(([item, names]) => [item, names.split(' ')] as const);

/** The amounts of one period that were found, by item; undefined for the others. */
export type Amounts = Readonly<Record<keyof typeof ITEMS, number | undefined>>;

/**
 * Reads the amounts of the records of one call, whatever the spelling of their names. Records share most of their keys, and
 * the same record may be there many times.
 */
export class AmountReader {
  readonly meter = new StepMeter();
  readonly #slugs = new Map<string, string>();
  readonly #known = new Map<JsonObject, Amounts>();

  *read(record: JsonObject): Steps<Amounts> {
    if (this.meter.isOverAfterRecord()) yield;
    const known = this.#known.get(record);
    if (known !== undefined) return known;
    const bySlug = new Map<string, number>();
    for (const [key, value] of Object.entries(record)) {
      const amount = readAmount(value);
      if (amount !== undefined) bySlug.set(this.#toSlug(key), amount);
      if (this.meter.isOverAfterField(key)) yield;
    }
    const amounts = selectItems(bySlug);
    this.#known.set(record, amounts);
    return amounts;
  }

  #toSlug(key: string): string {
    const slug = this.#slugs.get(key) ?? toSlug(key);
    this.#slugs.set(key, slug);
    return slug;
  }
}

function selectItems(bySlug: ReadonlyMap<string, number>): Amounts {
  const found = NAMES_OF_ITEMS.map(([item, names]) => {
    const name = names.find((candidate) => bySlug.has(candidate));
    return [item, name === undefined ? undefined : bySlug.get(name)];
  });
  return Object.fromEntries(found) as Amounts;
}

/** In per cent, but for the gross profit. */
type Ratios = Readonly<
  Record<'grossProfit' | 'grossMargin' | 'operatingMargin' | 'netMargin' | 'taxRate', number | undefined>
>;

function computeRatios(amounts: Amounts): Ratios {
  const { revenue, cost, operatingIncome, netIncome, pretaxIncome, tax } = amounts;
  const grossProfit = revenue === undefined || cost === undefined ? amounts.grossProfit : revenue - cost;
  return {
    grossProfit,
    grossMargin: percent(grossProfit, revenue),
    operatingMargin: percent(operatingIncome, revenue),
    netMargin: percent(netIncome, revenue),
    taxRate: percent(tax, pretaxIncome),
  };
}

function percent(part: number | undefined, whole: number | undefined): number | undefined {
  if (part === undefined || whole === undefined || whole === 0) return undefined;
  return (100 * part) / whole;
}

/** Keeps what the document says where the amounts for a computation are missing. */
function derived(
  record: JsonObject,
  name: string,
  value: number | undefined,
  format: (value: number) => string,
): readonly [string, Json] {
  const extracted = Object.hasOwn(record, name) ? record[name] : undefined;
  return [name, value === undefined ? (isFound(extracted) ? extracted : FIELD_NOT_FOUND) : format(value)];
}

export const calculateDerivedFields = defineFunction({
  name: 'calculate_derived_fields',
  pure: true,
  description:
    'Adds gross profit, margins and the tax rate to the fields of each period, under names in lower case',
  inputs: {
    extracted_fields: RECORDS_INPUT,
  },
  output: {
    name: 'fields',
    description:
      'with gross_profit, gross_margin_pct, operating_margin_pct, net_margin_pct and effective_tax_rate, as text; ' +
      '__not_found__ for what cannot be computed',
    type: 'array',
    schema: { type: 'array', items: { type: 'object' } },
  },
  run: ({ extracted_fields: records }, context) => runWithPausesIfLong(context, calculateFields(records)),
});

function* calculateFields(records: Json): Steps<JsonObject[]> {
  const reader = new AmountReader();
  const calculated: JsonObject[] = [];
  for (const record of new ArgumentReader().readRecords(records)) {
    const ratios = computeRatios(yield* reader.read(record));
    calculated.push(
      withFields(record, [
        derived(record, 'gross_profit', ratios.grossProfit, formatAmount),
        derived(record, 'gross_margin_pct', ratios.grossMargin, formatPlaces),
        derived(record, 'operating_margin_pct', ratios.operatingMargin, formatPlaces),
        derived(record, 'net_margin_pct', ratios.netMargin, formatPlaces),
        derived(record, 'effective_tax_rate', ratios.taxRate, formatPlaces),
      ]),
    );
  }
  return calculated;
}

export const computeDerivedFields = defineFunction({
  name: 'compute_derived_fields',
  pure: true,
  description: 'Adds totals, margins, the tax rate and the growth to the fields of each period, under titles',
  inputs: {
    extracted_fields: RECORDS_INPUT,
    periods: { default: [], description: 'the periods with period_type, in the same order' },
  },
  output: {
    name: 'fields',
    description:
      'with Total Operating Expenses, Gross Profit, Gross Margin (%), Operating Margin (%), Net Margin (%), Effective Tax ' +
      'Rate (%), and YoY Growth (%) in the period ytd_current; __not_found__ for what cannot be computed',
    type: 'array',
    schema: { type: 'array', items: { type: 'object' } },
  },
  run: ({ extracted_fields: records, periods }, context) =>
    runWithPausesIfLong(context, computeFields(records, periods)),
});

function* computeFields(fields: Json, periods: Json): Steps<JsonObject[]> {
  const args = new ArgumentReader();
  const reader = new AmountReader();
  const records = args.readRecords(fields);
  const types = args
    .readList(periods)
    .map((period) => (isObject(period) ? period['period_type'] : undefined));
  const priorRecord = records[types.indexOf('ytd_prior')];
  const prior = priorRecord === undefined ? undefined : yield* reader.read(priorRecord);
  const computed: JsonObject[] = [];
  for (const [i, record] of records.entries()) {
    const amounts = yield* reader.read(record);
    const growth = types[i] === 'ytd_current' ? [deriveGrowth(record, amounts, prior)] : [];
    computed.push(withFields(record, [...deriveTitled(record, amounts), ...growth]));
  }
  return computed;
}

function deriveTitled(record: JsonObject, amounts: Amounts): (readonly [string, Json])[] {
  const ratios = computeRatios(amounts);
  return [
    derived(record, 'Total Operating Expenses', amounts.totalExpenses ?? sumExpenses(amounts), formatAmount),
    derived(record, 'Gross Profit', ratios.grossProfit, formatAmount),
    derived(record, 'Gross Margin (%)', ratios.grossMargin, formatPlaces),
    derived(record, 'Operating Margin (%)', ratios.operatingMargin, formatPlaces),
    derived(record, 'Net Margin (%)', ratios.netMargin, formatPlaces),
    derived(record, 'Effective Tax Rate (%)', ratios.taxRate, formatPlaces),
  ];
}

function sumExpenses({ cost, research, marketing, administration }: Amounts): number | undefined {
  const found = [cost, research, marketing, administration].filter((part) => part !== undefined);
  return found.length === 0 ? undefined : found.reduce((sum, part) => sum + part, 0);
}

function deriveGrowth(record: JsonObject, now: Amounts, prior: Amounts | undefined): readonly [string, Json] {
  const before = prior?.revenue;
  const grown = now.revenue === undefined || before === undefined ? undefined : now.revenue - before;
  const whole = before === undefined ? undefined : Math.abs(before);
  return derived(record, 'YoY Growth (%)', percent(grown, whole), formatPlaces);
}
