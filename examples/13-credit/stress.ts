import { defineFunction, type JsonObject, ToolError } from 'wavetrain';
import { readMetric } from './checks.js';

interface Scenario {
  readonly name: string;
  /** What remains of the revenue. */
  readonly revenue: number;
  /** By how much the EBITDA margin falls. */
  readonly margin: number;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'Base (Pro Forma)', revenue: 1, margin: 0 },
  { name: 'Stress (−25% Rev, −200bps margin)', revenue: 0.75, margin: 0.02 },
  { name: 'Severe (−45% Rev, −400bps margin)', revenue: 0.55, margin: 0.04 },
];

/** A covenant, as a task writes it. */
const COVENANT = {
  type: 'object',
  required: ['type', 'value'],
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    type: { enum: ['gross_leverage', 'interest_coverage'] },
    value: { type: 'number' },
    direction: { enum: ['max', 'min'] },
  },
} as const;

export const computeProformaStress = defineFunction({
  name: 'compute_proforma_stress',
  pure: true,
  description: 'Adds a facility to the debt of a company and tests its covenants in three scenarios',
  inputs: {
    canonical_metrics: {
      type: 'object',
      required: true,
      description: 'the metrics of build_financial_spread',
    },
    facility: {
      type: 'object',
      required: true,
      description: 'amount_mm (or facility_amount_mm) in millions, and spread_bps over the base rate',
    },
    covenants: { type: 'list', items: COVENANT, default: [], description: 'limits of leverage and coverage' },
    base_rate_bps: { type: 'number', default: 530, description: 'the base rate, in basis points' },
  },
  output: {
    name: 'stress',
    description: 'markdown, proforma_leverage, proforma_coverage, stress_results and covenant_breaches',
    type: 'object',
  },
  run({ canonical_metrics: metrics, facility, covenants, base_rate_bps: baseRate }) {
    const amount = readMetric(facility, 'amount_mm') ?? readMetric(facility, 'facility_amount_mm');
    if (amount === null) throw invalid('the facility has no amount_mm');
    const rate = (baseRate + (readMetric(facility, 'spread_bps') ?? 0)) / 10_000;
    const revenue = need(metrics, 'revenue');
    const ebitda = need(metrics, 'ebitda_adjusted');
    const debt = need(metrics, 'total_debt') + amount;
    const interest = need(metrics, 'interest_expense') + amount * rate;
    const outcomes = SCENARIOS.map(({ name, revenue: kept, margin }) => {
      // The base is as reported: a margin of it would be rounded.
      const stressed = kept === 1 ? ebitda : revenue * kept * (ebitda / revenue - margin);
      const ratios = { gross_leverage: debt / stressed, interest_coverage: stressed / interest };
      const breaches = covenants.flatMap(({ name: title, id, type, value, direction }) => {
        const ratio = ratios[type];
        // A loss is the opposite of a low leverage.
        const isLoss = type === 'gross_leverage' && stressed <= 0;
        const isBroken =
          isLoss || ((direction ?? DIRECTIONS[type]) === 'max' ? ratio > value : ratio < value);
        return isBroken
          ? [{ scenario: name, covenant: title ?? id ?? type, threshold: value, actual: round(ratio) }]
          : [];
      });
      return { name, stressed, ratios, breaches };
    });
    const base = outcomes[0]?.ratios;
    const results = outcomes.map(({ name, stressed, ratios, breaches }) => ({
      scenario: name,
      stress_ebitda: stressed,
      gross_leverage: ratios.gross_leverage,
      coverage: ratios.interest_coverage,
      pass: breaches.length === 0,
    }));
    const breaches = outcomes.flatMap((outcome) => outcome.breaches);
    return {
      markdown: [
        '## Pro forma',
        '',
        ...table(
          ['Metric', 'Value'],
          [
            ['Debt ($mm)', debt.toFixed(0)],
            ['Interest ($mm)', interest.toFixed(0)],
          ],
        ),
        '',
        '## Stress',
        '',
        ...table(
          ['Scenario', 'EBITDA ($mm)', 'Leverage', 'Coverage', 'Covenants'],
          results.map(({ scenario, stress_ebitda, gross_leverage, coverage, pass }) => [
            scenario,
            stress_ebitda.toFixed(0),
            `${gross_leverage.toFixed(2)}x`,
            `${coverage.toFixed(2)}x`,
            pass ? 'met' : 'broken',
          ]),
        ),
        '',
        '## Breaches',
        '',
        ...table(
          ['Scenario', 'Covenant', 'Limit', 'Actual'],
          breaches.map(({ scenario, covenant, threshold, actual }) => [
            scenario,
            covenant,
            String(threshold),
            String(actual),
          ]),
        ),
      ].join('\n'),
      proforma_leverage: base?.gross_leverage,
      proforma_coverage: base?.interest_coverage,
      stress_results: results,
      covenant_breaches: breaches,
    };
  },
});

const DIRECTIONS = { gross_leverage: 'max', interest_coverage: 'min' } as const;

/** Reads a metric that the computation cannot do without. */
export function need(metrics: JsonObject, name: string): number {
  const value = readMetric(metrics, name);
  if (value === null) throw invalid(`canonical_metrics has no ${name}`);
  return value;
}

/** Creates an error that another attempt would repeat. */
export function invalid(message: string): ToolError {
  return new ToolError(message, { retryable: false });
}

export function round(value: number, places = 2): number {
  return Number(value.toFixed(places));
}

/** Writes a table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
