import { defineFunction, type Json, type JsonObject } from 'wavetrain';
import { readMetric } from './checks.js';
import { invalid, need, round, table } from './stress.js';

/** Rates per year. A task may set each of them under its name. */
const ASSUMPTIONS = {
  risk_free_rate: 0.042,
  equity_risk_premium: 0.055,
  /** Unlevered. */
  beta_u: 0.9,
  tax_rate: 0.25,
  growth: 0.03,
  /** Added to the growth. */
  rev_growth_adj: 0,
  terminal_growth: 0.02,
  years: 5,
};

type Assumptions = typeof ASSUMPTIONS;

export const runDcfModel = defineFunction({
  name: 'run_dcf_model',
  pure: true,
  description: 'Values a company by its discounted free cash flows',
  inputs: {
    canonical_metrics: {
      type: 'object',
      required: true,
      description: 'the metrics of build_financial_spread',
    },
    assumptions: {
      default: {},
      description: `an object, or text with JSON: ${Object.keys(ASSUMPTIONS).join(', ')}; bypass: true to value nothing`,
    },
  },
  output: {
    name: 'valuation',
    description:
      'markdown, enterprise_value_base, implied_leverage_base (the debt by the EBITDA of the last year), wacc, and the assumptions that were used',
    type: 'object',
  },
  run({ canonical_metrics: metrics, assumptions: given }) {
    const read = readAssumptions(given);
    if (read['bypass'] === true) {
      return {
        markdown: 'No valuation was asked for.',
        enterprise_value_base: null,
        implied_leverage_base: null,
        wacc: null,
        assumptions: null,
      };
    }
    const used = complete(read);
    const wacc = computeWacc(metrics, used);
    if (wacc <= used.terminal_growth) throw invalid('the terminal growth must be below the cost of capital');
    const flows = project(metrics, used, wacc);
    const value = flows.reduce((sum, { present }) => sum + present, 0);
    const [last] = flows.slice(-1);
    const terminal =
      last === undefined ? 0 : (last.present * (1 + used.terminal_growth)) / (wacc - used.terminal_growth);
    const enterpriseValue = round(value + terminal, 0);
    const grown = (1 + used.growth + used.rev_growth_adj) ** flows.length;
    const leverage = round(need(metrics, 'total_debt') / (need(metrics, 'ebitda_adjusted') * grown));
    return {
      markdown: [
        '## Free cash flow ($mm)',
        '',
        ...table(
          ['Year', 'Free cash flow', 'Present value'],
          flows.map(({ year, flow, present }) => [String(year), flow.toFixed(0), present.toFixed(0)]),
        ),
        '',
        '## Value',
        '',
        ...table(
          ['Metric', 'Value'],
          [
            ['Terminal value ($mm)', terminal.toFixed(0)],
            ['Enterprise value ($mm)', enterpriseValue.toFixed(0)],
            ['WACC', `${(100 * wacc).toFixed(2)} %`],
          ],
        ),
      ].join('\n'),
      enterprise_value_base: enterpriseValue,
      implied_leverage_base: leverage,
      wacc: round(wacc, 4),
      assumptions: used,
    };
  },
});

function readAssumptions(given: Json): JsonObject {
  const value: Json = typeof given === 'string' ? parse(given) : given;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** Reads the JSON in a text, whatever is around it. */
function parse(text: string): Json {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Json;
  } catch {
    return {};
  }
}

function complete(given: JsonObject): Assumptions {
  const values = Object.entries(ASSUMPTIONS).map(([name, fallback]) => [
    name,
    readMetric(given, name) ?? fallback,
  ]);
  return Object.fromEntries(values) as Assumptions;
}

/** The cost of equity and debt, weighted by their book values. */
function computeWacc(
  metrics: JsonObject,
  { risk_free_rate, equity_risk_premium, beta_u, tax_rate }: Assumptions,
): number {
  const debt = need(metrics, 'total_debt');
  const equity = need(metrics, 'equity');
  const costOfDebt = debt === 0 ? 0 : need(metrics, 'interest_expense') / debt;
  const beta = beta_u * (1 + (1 - tax_rate) * (debt / equity));
  const costOfEquity = risk_free_rate + beta * equity_risk_premium;
  return (equity * costOfEquity + debt * costOfDebt * (1 - tax_rate)) / (debt + equity);
}

interface Flow {
  /** From 1. */
  readonly year: number;
  readonly flow: number;
  readonly present: number;
}

function project(
  metrics: JsonObject,
  { growth, rev_growth_adj, tax_rate, years }: Assumptions,
  wacc: number,
): Flow[] {
  const afterTax = need(metrics, 'operating_income') * (1 - tax_rate);
  const first = afterTax + need(metrics, 'da') - need(metrics, 'capex');
  return Array.from({ length: Math.min(Math.max(Math.trunc(years), 1), 20) }, (_, i) => {
    const flow = first * (1 + growth + rev_growth_adj) ** (i + 1);
    return { year: i + 1, flow, present: flow / (1 + wacc) ** (i + 1) };
  });
}
