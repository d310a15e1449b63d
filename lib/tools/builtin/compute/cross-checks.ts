import { isObject, type Json, type JsonObject } from '../../../common/json/json.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import { AmountReader, type Amounts } from './derived-fields.js';
import { defineFunction, runWithPausesIfLong } from './function.js';
import { ArgumentReader, readAmount, RECORDS_INPUT } from './values.js';
import { exactObject, INTEGER_SCHEMA, type OutputOf, TEXT_SCHEMA } from '../../schemas/output.js';

/** How far a computed and a reported amount may be apart. */
const TOLERANCE = 1;
const TOLERANCE_PER_SHARE = 0.02;

/** Binary fractions: 3.02 - 3 is slightly more than 0.02. */
const ROUNDING = 1e-9;

interface Check {
  readonly id: string;
  readonly section: string;
  readonly description: string;
  readonly tolerance?: number;
  /** Returns undefined when an amount that the check needs was not found. */
  readonly compute: (amounts: Amounts, record: JsonObject) => number | undefined;
  readonly report: (amounts: Amounts) => number | undefined;
}

const CHECKS: readonly Check[] = [
  {
    id: 'segment_revenue_reconciliation',
    section: 'segments',
    description: 'the revenues of the segments add up to the total revenues',
    compute: (_, record) => sumSegments(record),
    report: ({ revenue }) => revenue,
  },
  {
    id: 'operating_income_identity',
    section: 'face',
    description: 'total revenues less total operating expenses are the operating income',
    compute: ({ revenue, totalExpenses }) => subtract(revenue, totalExpenses),
    report: ({ operatingIncome }) => operatingIncome,
  },
  {
    id: 'pretax_income_identity',
    section: 'other_income',
    description: 'operating income and other income add up to the income before taxes',
    compute: ({ operatingIncome, otherIncome }) =>
      operatingIncome === undefined || otherIncome === undefined ? undefined : operatingIncome + otherIncome,
    report: ({ pretaxIncome }) => pretaxIncome,
  },
  {
    id: 'net_income_identity',
    section: 'face',
    description: 'income before taxes less taxes is the net income',
    compute: ({ pretaxIncome, tax }) => subtract(pretaxIncome, tax),
    report: ({ netIncome }) => netIncome,
  },
  {
    id: 'diluted_eps_identity',
    section: 'per_share',
    description: 'net income by diluted shares is the diluted income per share',
    tolerance: TOLERANCE_PER_SHARE,
    compute: ({ netIncome, dilutedShares }) =>
      netIncome === undefined || dilutedShares === undefined || dilutedShares === 0
        ? undefined
        : netIncome / dilutedShares,
    report: ({ dilutedEps }) => dilutedEps,
  },
];

/** A sum that does not add up. */
const FAILURE_SCHEMA = exactObject({
  check_id: TEXT_SCHEMA,
  period_label: TEXT_SCHEMA,
  period_index: INTEGER_SCHEMA,
  description: TEXT_SCHEMA,
  section: TEXT_SCHEMA,
  computed_value: { type: 'number' },
  reported_value: { type: 'number' },
  discrepancy: { type: 'number' },
});

type CheckFailure = OutputOf<typeof FAILURE_SCHEMA>;

export const validateCrossChecks = defineFunction({
  name: 'validate_cross_checks',
  pure: true,
  description: `Checks ${CHECKS.length} sums of an income statement for each period and lists those that do not add up`,
  inputs: {
    extracted_fields: RECORDS_INPUT,
    periods: { default: [], description: 'the periods with label, in the same order' },
  },
  output: {
    name: 'failures',
    description:
      'each with check_id, period_label, period_index, description, section, computed_value, reported_value and ' +
      'discrepancy; empty when all sums that can be checked add up',
    type: 'array',
    schema: { type: 'array', items: FAILURE_SCHEMA },
  },
  run: ({ extracted_fields: records, periods }, context) =>
    runWithPausesIfLong(context, checkRecords(records, periods)),
});

function* checkRecords(records: Json, periods: Json): Steps<CheckFailure[]> {
  const args = new ArgumentReader();
  const reader = new AmountReader();
  const labels = args.readList(periods).map((period) => (isObject(period) ? period['label'] : period));
  const failures: CheckFailure[] = [];
  for (const [i, record] of args.readRecords(records).entries()) {
    const amounts = yield* reader.read(record);
    const label = labels[i];
    failures.push(...checkRecord(record, amounts, i, typeof label === 'string' ? label : `Period ${i + 1}`));
  }
  return failures;
}

function checkRecord(record: JsonObject, amounts: Amounts, index: number, label: string): CheckFailure[] {
  return CHECKS.flatMap(({ id, section, description, tolerance = TOLERANCE, compute, report }) => {
    const computed = compute(amounts, record);
    const reported = report(amounts);
    if (computed === undefined || reported === undefined) return [];
    const discrepancy = Math.abs(computed - reported);
    if (discrepancy <= tolerance + ROUNDING) return [];
    return [
      {
        check_id: id,
        period_label: label,
        period_index: index,
        description,
        section,
        computed_value: computed,
        reported_value: reported,
        discrepancy,
      },
    ];
  });
}

/** Adds the revenues of the segments: `Segment Revenue — [1]`, `seg_rev__google_services`. */
function sumSegments(record: JsonObject): number | undefined {
  const found = Object.entries(record)
    .filter(([key]) => /^(?:segment revenue|segment_revenue|seg_rev)/i.test(key))
    .flatMap(([, value]) => readAmount(value) ?? []);
  return found.length === 0 ? undefined : found.reduce((sum, amount) => sum + amount, 0);
}

function subtract(whole: number | undefined, part: number | undefined): number | undefined {
  return whole === undefined || part === undefined ? undefined : whole - part;
}
