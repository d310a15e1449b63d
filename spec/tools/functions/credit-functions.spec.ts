import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { builtinCatalog, type Catalog } from '../../../lib/tools/catalog.js';
import { callRegistered } from '../../../lib/tools/inputs/validate.js';
import { loadTools } from '../../../lib/tools/loading/load-tools.js';
import type { ToolContext } from '../../../lib/tools/tool.js';
import { ROOT } from '../../project/files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { toolContext } from '../../support/tool-context.js';

interface Case {
  readonly function: string;
  readonly arguments: JsonObject;
  readonly gives: JsonObject;
}

const CASES: readonly Case[] = JSON.parse(
  readFileSync(new URL('credit-cases.json', import.meta.url), 'utf8'),
);

describe('The credit functions of examples/13-credit', () => {
  let catalog: Catalog;

  before(async () => {
    const entry = join(ROOT, 'lib/index.ts');
    catalog = builtinCatalog().with(
      await loadTools('./tools.ts', join(ROOT, 'examples/13-credit'), { entry }),
    );
  });

  function call(name: string, args: JsonObject, context: ToolContext = toolContext()): JsonObject {
    const functions = catalog.get('compute')?.registries?.functions;
    return callRegistered('function', functions, name, args, context) as JsonObject;
  }

  function recorded(name: string): Case {
    const found = CASES.find((candidate) => candidate.function === name);
    if (found === undefined) throw new Error(`there is no case of ${name}`);
    return found;
  }

  function recordedMetrics(): JsonObject {
    return recorded('build_financial_spread').gives['canonical_metrics'] as JsonObject;
  }

  it('build_financial_spread gives what was recorded', () => {
    const { arguments: args, gives } = recorded('build_financial_spread');
    expect(call('build_financial_spread', { ...args, as_of: '2025-12-31' })).to.deep.equal(gives);
  });

  it('build_financial_spread counts nothing after its date, which is that of the clock by default', () => {
    const { arguments: args } = recorded('build_financial_spread');
    expect(call('build_financial_spread', { ...args, as_of: '2024-12-31' })['fiscal_years']).to.deep.equal([
      '2022',
      '2023',
    ]);
    const atTime = { ...toolContext(), clock: new ManualClock(Date.UTC(2023, 5, 1)) };
    expect(call('build_financial_spread', args, atTime)['fiscal_years']).to.deep.equal(['2022']);
    expect(() => call('build_financial_spread', { ...args, as_of: '2020-01-01' })).to.throw(
      'no 10-K before 2020-01-01',
    );
  });

  it('validate_spread gives what was recorded, and finds what does not add up', () => {
    const { gives: spread } = recorded('build_financial_spread');
    expect(call('validate_spread', { spread_data: spread })).to.deep.equal(recorded('validate_spread').gives);
    const wrong = { canonical_metrics: { ...recordedMetrics(), net_debt: 5, da: null } };
    const report = call('validate_spread', { spread_data: wrong });
    expect(report).to.deep.include({
      overall_status: 'FAIL',
      errors: ['net_debt is 5, but its parts give 1650'],
      warnings: ['ebitda_gaap cannot be checked: a figure is missing'],
    });
  });

  it('validate_spread says of a spread without amounts that it was skipped, and warns of nothing', () => {
    for (const nothing of [{}, { canonical_metrics: {} }, { canonical_metrics: { revenue: null } }]) {
      const { gates, ...report } = call('validate_spread', { spread_data: nothing });
      expect(report).to.deep.equal({ overall_status: 'SKIPPED', warnings: [], errors: [] });
      expect(Object.values(gates as JsonObject)).to.deep.equal(
        Array.from({ length: 6 }, () => ({ status: 'SKIPPED', delta_pct: null })),
      );
    }
  });

  it('compute_proforma_stress gives the recorded numbers, in a text of as many rows', () => {
    const { arguments: args, gives } = recorded('compute_proforma_stress');
    const stress = call('compute_proforma_stress', { ...args, canonical_metrics: recordedMetrics() });
    const { markdown, ...figures } = stress;
    const { markdown: _, ...expected } = gives;
    expect(roundAll(figures)).to.deep.equal(roundAll(expected));
    expect(
      (typeof markdown === 'string' ? markdown : '').split('\n').filter((line) => line.startsWith('|')),
    ).to.have.length(14);
  });

  it('compute_proforma_stress takes the amount under both of its names, and fails without one', () => {
    const metrics = { canonical_metrics: recordedMetrics() };
    const under = (name: string): unknown =>
      call('compute_proforma_stress', { ...metrics, facility: { [name]: 1000 } })['proforma_leverage'];
    expect(under('facility_amount_mm')).to.equal(under('amount_mm'));
    expect(() => under('amount')).to.throw('the facility has no amount_mm');
  });

  it('run_dcf_model grows with its assumptions, reads them from text, and can be bypassed', () => {
    const run = (assumptions: JsonObject | string): JsonObject =>
      call('run_dcf_model', { canonical_metrics: recordedMetrics(), assumptions });
    const [low, high] = [run({}), run('such as {"beta_u": 0.8, "rev_growth_adj": 0.01}')];
    expect(high['wacc']).to.equal(0.0768);
    expect(Number(high['enterprise_value_base'])).to.be.above(Number(low['enterprise_value_base']));
    expect(Number(high['implied_leverage_base'])).to.be.below(Number(low['implied_leverage_base']));
    expect(run({ bypass: true })['wacc']).to.equal(null);
    expect(() => run({ terminal_growth: 0.5 })).to.throw('below the cost of capital');
  });
});

/** Binary fractions differ in their last digits. */
function roundAll(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'number' ? Number(part.toFixed(9)) : part)),
  );
}
