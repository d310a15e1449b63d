import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { ToolError } from '../../../lib/common/errors.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { BUILTIN_FUNCTIONS } from '../../../lib/tools/builtin/compute/compute.js';
import { callRegistered } from '../../../lib/tools/inputs/validate.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { toolContext } from '../../support/tool-context.js';

interface Case {
  readonly function: string;
  readonly arguments: JsonObject;
  readonly gives?: Json;
  readonly fails?: true;
}

const CASES: readonly Case[] = JSON.parse(
  readFileSync(new URL('builtin-cases.json', import.meta.url), 'utf8'),
);

function call(name: string, args: JsonObject): unknown {
  const functions = new Map(BUILTIN_FUNCTIONS.map((each) => [each.name, each]));
  return callRegistered('function', functions, name, args, toolContext());
}

describe('The functions that come with the package (D49)', () => {
  it('have a recorded case each', () => {
    const covered = new Set(CASES.map(({ function: name }) => name));
    expect([...covered].sort()).to.deep.equal(BUILTIN_FUNCTIONS.map(({ name }) => name));
  });

  for (const { function: name, arguments: args, gives, fails } of CASES) {
    it(`${name} of ${JSON.stringify(args).slice(0, 80)} is as recorded`, () => {
      if (fails)
        expect(() => call(name, args))
          .to.throw(ToolError)
          .with.property('retryable', false);
      else if (name === 'validate_cross_checks') expect(call(name, args)).to.containSubset(gives);
      else expect(call(name, args)).to.deep.equal(gives);
    });
  }

  it('fiscal_period_logic takes the year end before the date, and 28 February in the year before', () => {
    const periods = call('fiscal_period_logic', { as_of_date: '2025-01-30', company: 'Walmart' });
    expect(periods).to.containSubset([{ label: 'FY 2023/2024', period_end: '2024-01-31' }]);
    expect(() => call('fiscal_period_logic', { as_of_date: '2023-02-29', company: 'x' })).to.throw(
      '"2023-02-29" is not a date',
    );
  });

  it('period_label names half years, whose type has two names', () => {
    for (const period_type of ['half_year', 'semi_annual']) {
      expect(call('period_label', { date: '2025-07-01', period_type })).to.equal('H2 2025');
      expect(call('period_label', { date: '2025-06-30', period_type })).to.equal('H1 2025');
    }
  });

  it('ticker_lookup and fiscal_year_end find a name in whole words only', () => {
    expect(() => call('ticker_lookup', { company: 'Pineapple Farms' })).to.throw('no ticker is known');
    expect(call('fiscal_year_end', { company: 'Pineapple Farms' })).to.equal('12-31');
  });

  for (const [company, ticker] of [
    ['JP Morgan Chase', 'JPM'],
    ['J.P. Morgan', 'JPM'],
    ['JPMorgan Chase & Co.', 'JPM'],
    ['Procter and Gamble', 'PG'],
    ['Procter Gamble', 'PG'],
    ['Coca Cola', 'KO'],
    ['The Coca-Cola Company', 'KO'],
    ['Johnson and Johnson', 'JNJ'],
    ['Berkshire', 'BRK-B'],
    ['Berkshire Inc.', 'BRK-B'],
    ['Wal-Mart Stores', 'WMT'],
    ['Amazon.com', 'AMZN'],
  ]) {
    it(`ticker_lookup knows ${company}, a name in another spelling, or with a word more or less`, () => {
      expect(call('ticker_lookup', { company: company ?? '' })).to.equal(ticker);
    });
  }

  it('ticker_lookup guesses no company from a word that many have, or from the beginning of another name', () => {
    for (const company of [
      'Bank',
      'Bank of',
      'The Group',
      'Johnson Controls',
      'Morgan Stanley',
      'Chase',
      '&',
      '日本',
    ]) {
      expect(() => call('ticker_lookup', { company }), company).to.throw('no ticker is known');
    }
  });

  it('financial_scale_normalize takes rates, and says which currency has none', () => {
    const args = { value: '3000', source_currency: 'XXX', target_currency: 'USD', target_scale: 'thousands' };
    expect(call('financial_scale_normalize', { ...args, rates: { XXX: 0.5 } })).to.equal(1.5);
    expect(() => call('financial_scale_normalize', args)).to.throw('no rate for "XXX"');
  });

  it('financial_scale_normalize takes currencies in letters of any case, also in its rates', () => {
    const args = { value: 1000, source_currency: 'eur', target_currency: 'USD', target_scale: 'ones' };
    expect(call('financial_scale_normalize', args)).to.equal(1040);
    expect(call('financial_scale_normalize', { ...args, target_currency: ' Eur ' })).to.equal(1000);
    expect(call('financial_scale_normalize', { ...args, rates: { EUR: 2 } })).to.equal(2000);
    expect(
      call('financial_scale_normalize', { ...args, source_currency: 'EUR', rates: { eur: 3 } }),
    ).to.equal(3000);
  });

  it('read lists from a text that has prose around its JSON, and an empty list from anything else', () => {
    const corrections = 'Here they are: [{"a": "2"}] as asked.';
    expect(call('finalize_extraction', { base_fields: '[{"a": "1"}]', corrections })).to.deep.equal([
      { a: '2' },
    ]);
    expect(call('finalize_extraction', { base_fields: 5, corrections: '] none [' })).to.deep.equal([]);
  });

  it('compute_derived_fields computes margins anew, keeps a reported total, and what cannot be computed', () => {
    const [fields] = call('compute_derived_fields', {
      extracted_fields: [
        {
          'Total Revenues': '200',
          'Net Income (Loss)': '(50)',
          'Total Operating Expenses': '150',
          'Cost of Revenues': '20',
          'Net Margin (%)': '99',
          'Operating Margin (%)': '12.0',
        },
      ],
    }) as JsonObject[];
    expect(fields).to.include({
      'Total Operating Expenses': '150',
      'Gross Profit': '180',
      'Net Margin (%)': '-25.0',
      'Operating Margin (%)': '12.0',
      'Effective Tax Rate (%)': '__not_found__',
    });
  });

  it('validate_cross_checks makes five checks, within their tolerances', () => {
    const sound = {
      'Total Revenues': '1,000',
      'Segment Revenue — [1]': '1,001',
      'Total Operating Expenses': 600,
      'Operating Income (Loss)': '400',
      'Other Income (Expense), Net': '(10)',
      'Income Before Income Taxes': '390',
      'Provision for Income Taxes': '90',
      'Net Income (Loss)': '300',
      'Diluted Shares': '100',
      'Diluted EPS': '3.02',
    };
    const broken = {
      ...sound,
      'Segment Revenue — [1]': '900',
      'Operating Income (Loss)': '500',
      'Net Income (Loss)': '310',
      'Diluted EPS': '4',
    };
    const failures = call('validate_cross_checks', { extracted_fields: [sound, broken] }) as JsonObject[];
    expect(failures.map(({ check_id: id, period_label: label }) => [id, label])).to.deep.equal([
      ['segment_revenue_reconciliation', 'Period 2'],
      ['operating_income_identity', 'Period 2'],
      ['pretax_income_identity', 'Period 2'],
      ['net_income_identity', 'Period 2'],
      ['diluted_eps_identity', 'Period 2'],
    ]);
  });

  it('apply_segment_names takes names from a text, and leaves keys without a name', () => {
    expect(
      call('apply_segment_names', {
        extracted_fields: [{ 'seg_[1]': 1, 'seg_[2]': 2, ['__proto__']: 3 }],
        segment_names: 'so: {"[2]": "Cloud & more"}',
      }),
    ).to.deep.equal([{ 'seg_[1]': 1, seg__cloud_more: 2, ['__proto__']: 3 }]);
  });

  it('apply_segment_names finds a label by a key that ends in it, or that has a sign such as &', () => {
    const rename = (fields: JsonObject, names: JsonObject): unknown =>
      call('apply_segment_names', { extracted_fields: [fields], segment_names: names });
    expect(
      rename(
        { 'rev_[1]': 1, 'rev_[2]': 2, x: 3 },
        { 'segment [1]': 'Search', 'seg_name_[2]': 'Cloud', '[2]': 'AI' },
      ),
    ).to.deep.equal([{ rev__search: 1, rev__ai: 2, x: 3 }]);
    expect(rename({ 'of [1] and [2]': 1 }, { '[2]': 'Cloud' })).to.deep.equal([{ 'of [1] and _cloud': 1 }]);
    expect(rename({ 'rev_R&D': 1, 'R&Dx': 2, rev: 3 }, { 'R&D': 'Research', rev: 'Other' })).to.deep.equal([
      { rev__research: 1, 'R&Dx': 2, rev: 3 },
    ]);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`a&${i}`, 'b']));
    expect(() => rename({}, many)).to.throw('"segment_names" has 101 names: at most 100 are read');
  });

  for (const [title, names, fields, expected] of [
    [
      'of other scripts than the Latin one',
      { '[1]': '日本', '[2]': '中国', '[3]': 'Amérique & हिन्दी' },
      { 'rev_[1]': 1, 'rev_[2]': 2, 'rev_[3]': 3 },
      { rev__日本: 1, rev__中国: 2, rev__amérique_हिन्दी: 3 },
    ],
    [
      'that are written alike',
      { '[1]': 'Cloud', '[2]': 'cloud!', '[3]': 'CLOUD' },
      { 'rev_[1]': 1, 'rev_[2]': 2, 'rev_[3]': 3 },
      { rev__cloud: 1, rev__cloud_2: 2, rev__cloud_3: 3 },
    ],
    [
      'that other fields have already',
      { '[1]': 'Cloud', '[2]': 'Cloud' },
      { 'rev_[1]': 1, 'rev_[2]': 2, rev__cloud: 3, rev__cloud_2: 4 },
      { rev__cloud_1: 1, rev__cloud_2_2: 2, rev__cloud: 3, rev__cloud_2: 4 },
    ],
    [
      'without a letter',
      { '[1]': '—', '[2]': '*' },
      { 'rev_[1]': 1, 'rev_[2]': 2 },
      { 'rev_[1]': 1, 'rev_[2]': 2 },
    ],
  ] as const) {
    it(`apply_segment_names loses no segment with names ${title}`, () => {
      const inputs = { extracted_fields: [fields], segment_names: names };
      expect(call('apply_segment_names', inputs)).to.deep.equal([expected]);
    });
  }

  it('limit the lists and the texts that they read', () => {
    const read = (base: Json): unknown => call('finalize_extraction', { base_fields: base, corrections: [] });
    expect(() => read(Array.from({ length: 10_001 }, () => ({})))).to.throw('at most 10000 are read');
    expect(() => read('['.repeat(2 ** 20 + 1))).to.throw('longer than 1 MiB together');
    const wide = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`field ${i}`, i]));
    expect(() => read([wide, wide])).to.throw('more than 20000 fields');
  });

  it('count an object each time it is in a list, and limit one key and all of them', () => {
    const named = (record: Json, times: number): unknown =>
      call('validate_cross_checks', { extracted_fields: Array.from({ length: times }, () => record) });
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field ${i}`, i]));
    expect(() => named(wide, 10_000)).to.throw('more than 20000 fields, an object counting each time');
    expect(() => named({ ['k'.repeat(1001)]: '1' }, 1)).to.throw('a key of 1001 characters: at most 1000');
    expect(() => named({ ['k'.repeat(1000)]: '1' }, 1049)).to.throw('longer than 1 MiB together');
    expect(named({ ['k'.repeat(1000)]: '1' }, 1)).to.deep.equal([]);
  });

  for (const name of ['validate_cross_checks', 'calculate_derived_fields', 'compute_derived_fields']) {
    it(`${name} pauses in long work, and gives the same as in short work`, async () => {
      const record = {
        'Total Revenues': '200',
        'Net Income': '50',
        'Pretax Income': 80,
        'Income Tax': 20,
      } as const;
      const [one] = call(name, { extracted_fields: [record] }) as Json[];
      const many = Array.from({ length: 5000 }, () => ({ ...record }));
      const working = call(name, { extracted_fields: many });
      expect(working).to.be.an.instanceOf(Promise);
      const all = (await working) as JsonObject[];
      const perRecord = all.length / many.length;
      expect(all[perRecord * 4999]).to.deep.equal(
        name === 'validate_cross_checks'
          ? { ...(one as JsonObject), period_index: 4999, period_label: 'Period 5000' }
          : one,
      );
    });
  }

  it('other functions pause in long work, too', async () => {
    const base = Array.from({ length: 5000 }, (_, i) => ({ 'rev [1]': i, other: i }));
    const renamed = await call('apply_segment_names', {
      extracted_fields: base,
      segment_names: { '[1]': 'A' },
    });
    expect(renamed).to.have.length(5000).and.to.deep.include({ 'rev _a': 4999, other: 4999 });
    const corrected = call('finalize_extraction', { base_fields: base, corrections: [] });
    expect(corrected).to.be.an.instanceOf(Promise);
    expect(await corrected).to.deep.equal(base);
    expect(await call('assemble_extraction_sections', { face: base })).to.deep.equal(base);
    const facts = { a: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`c${i}`, 1])) };
    expect(await call('extract_xbrl_concept_list', { facts, max_chars: 500_000 })).to.match(/\na\/c49999$/);
  });

  it('apply_segment_names refuses keys that are alike many times over', () => {
    const alike = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x_a${'_1'.repeat(i)}`, i]));
    const args = { extracted_fields: [{ 'x[1]': 1, ...alike }], segment_names: { '[1]': 'a' } };
    expect(() => call('apply_segment_names', args)).to.throw('more than 8 fields have keys such as "x_a"');
  });

  it('limit the texts that they search', () => {
    const company = 'A'.repeat(1001);
    expect(() => call('fiscal_period_logic', { as_of_date: '2024-12-31', company })).to.throw(
      'input "company" must have at most 1000 characters',
    );
    const amount = { value: 1, source_currency: company, target_currency: 'USD', target_scale: 'ones' };
    expect(() => call('financial_scale_normalize', amount)).to.throw('at most 1000 characters');
    expect(() => call('extract_xbrl_concept_list', { facts: {}, max_chars: 2 ** 21 })).to.throw(
      'at most 1048576',
    );
  });

  itTimed('take time in proportion to their arguments', () => {
    const read = (count: number) => (): unknown =>
      call('finalize_extraction', {
        base_fields: '['.repeat(count),
        corrections: `${'[{'.repeat(count / 2)}]`,
      });
    const few = measureCpuMsSync(read(50_000));
    expect(measureCpuMsSync(read(500_000))).to.be.below(60 * Math.max(few, 5));
  });
});
