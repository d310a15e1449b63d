import { defineFunction, type JsonObject } from 'wavetrain';
import { combine } from './spread.js';

type Status = 'PASS' | 'WARN' | 'FAIL' | 'SKIPPED';

interface Gate {
  readonly status: Status;
  /** How far a computed amount is from the reported one. */
  readonly delta_pct: number | null;
  readonly message?: string;
}

/** Reads an amount; null for what is no number. */
export function readMetric(metrics: JsonObject, name: string): number | null {
  const value = metrics[name];
  return typeof value === 'number' ? value : null;
}

export const validateSpread = defineFunction({
  name: 'validate_spread',
  pure: true,
  description: 'Checks six things that hold for a sound financial spread',
  inputs: {
    spread_data: { type: 'object', required: true, description: 'what build_financial_spread gives' },
  },
  output: {
    name: 'report',
    description:
      'overall_status (PASS, WARN or FAIL; SKIPPED for a spread without amounts), gates, warnings and errors',
    type: 'object',
  },
  run({ spread_data: spread }) {
    const given = spread['canonical_metrics'];
    const metrics = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};
    const gates = checkMetrics(metrics);
    if (Object.keys(metrics).every((name) => readMetric(metrics, name) === null)) return skipAll(gates);
    const texts = (status: Status): string[] =>
      Object.values(gates).flatMap((gate) =>
        gate.status === status && gate.message !== undefined ? [gate.message] : [],
      );
    const [errors, warnings] = [texts('FAIL'), texts('WARN')];
    const overall: Status = errors.length > 0 ? 'FAIL' : warnings.length > 0 ? 'WARN' : 'PASS';
    const shown = Object.entries(gates).map(([name, { status, delta_pct }]) => [name, { status, delta_pct }]);
    return { overall_status: overall, gates: Object.fromEntries(shown), warnings, errors };
  },
});

/** The report of a spread without amounts: there is nothing to warn of. */
function skipAll(gates: Readonly<Record<string, Gate>>): JsonObject {
  const skipped = Object.keys(gates).map((name) => [name, { status: 'SKIPPED', delta_pct: null }]);
  return { overall_status: 'SKIPPED', gates: Object.fromEntries(skipped), warnings: [], errors: [] };
}

function checkMetrics(metrics: JsonObject): Record<string, Gate> {
  const read = (name: string): number | null => readMetric(metrics, name);
  const identity = (result: string, a: string, b: string, operate: (a: number, b: number) => number): Gate =>
    checkIdentity(result, combine(read(a), read(b), operate), read(result));
  return {
    ebitda_identity: identity('ebitda_gaap', 'operating_income', 'da', (a, b) => a + b),
    net_debt_identity: identity('net_debt', 'total_debt', 'cash', (a, b) => a - b),
    fcf_identity: identity('fcf', 'cfo', 'capex', (a, b) => a - b),
    leverage_sanity: checkRange('gross_leverage_adj', read('gross_leverage_adj'), 0, 15),
    revenue_positive: checkRevenue(read('revenue')),
    ebitda_margin_sanity: checkRange(
      'the EBITDA margin',
      combine(read('ebitda_gaap'), read('revenue') || null, (a, b) => a / b),
      -0.5,
      0.8,
    ),
  };
}

/** More than one per cent is an error. */
const TOLERANCE_PCT = 1;

function checkIdentity(name: string, computed: number | null, reported: number | null): Gate {
  const delta = combine(computed, reported, (a, b) =>
    a === b ? 0 : (100 * Math.abs(a - b)) / Math.max(Math.abs(b), Number.EPSILON),
  );
  if (delta === null)
    return { status: 'WARN', delta_pct: null, message: `${name} cannot be checked: a figure is missing` };
  if (delta <= TOLERANCE_PCT) return { status: 'PASS', delta_pct: delta };
  return {
    status: 'FAIL',
    delta_pct: delta,
    message: `${name} is ${reported}, but its parts give ${computed}`,
  };
}

function checkRange(name: string, value: number | null, least: number, most: number): Gate {
  if (value === null) return { status: 'WARN', delta_pct: null, message: `${name} is not known` };
  if (value >= least && value <= most) return { status: 'PASS', delta_pct: null };
  return {
    status: 'WARN',
    delta_pct: null,
    message: `${name} is ${value}, not between ${least} and ${most}`,
  };
}

function checkRevenue(revenue: number | null): Gate {
  if (revenue !== null && revenue > 0) return { status: 'PASS', delta_pct: null };
  return { status: 'FAIL', delta_pct: null, message: 'revenue is not positive' };
}
