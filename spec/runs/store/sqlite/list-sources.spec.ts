import { expect } from 'chai';
import { createRequire } from 'node:module';
import type Database from 'libsql';
import { planSources } from '../../../../lib/runs/store/sqlite/thread/list-sources.js';
import { migrate } from '../../../../lib/runs/store/sqlite/thread/schema.js';
import type { RunQuery } from '../../../../lib/runs/views/run-query.js';

const Driver = createRequire(import.meta.url)('libsql') as typeof Database;

describe('The indexes that lists of settled runs use (D74)', () => {
  const database = new Driver(':memory:');

  before(() => migrate(database));

  after(() => database.close());

  /** The steps of each part of a page, as SQLite plans them. */
  function explain(query: Partial<RunQuery>): string[] {
    const { sources } = planSources(database, { limit: 50, tenants: ['a'], ...query });
    return sources.flatMap(({ from, ordered, where, values }) => {
      const page = `SELECT run.number FROM ${from} WHERE ${where} AND ${ordered}.number < 9 ORDER BY ${ordered}.number DESC LIMIT 51`;
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${page}`).all(values) as { detail: string }[];
      return steps.map(({ detail }) => detail);
    });
  }

  const byState = 'SEARCH run USING COVERING INDEX run_by_state (tenant=? AND state=? AND number<?)';
  const byPipeline =
    'SEARCH run USING COVERING INDEX run_by_pipeline (tenant=? AND pipeline=? AND state=? AND number<?)';
  const CASES: readonly (readonly [string, Partial<RunQuery>, readonly string[]])[] = [
    ['all runs of a tenant', {}, [byState, byState, byState]],
    ['runs with a status', { status: 'failed' }, [byState]],
    ['runs of a pipeline', { pipeline_id: 'p' }, [byPipeline, byPipeline, byPipeline]],
    ['failed runs of a pipeline', { pipeline_id: 'p', status: 'failed' }, [byPipeline]],
    [
      'runs that one key has started',
      { startedBy: { kind: 'key', name: 'ci' } },
      ['SEARCH run USING INDEX run_by_starter (tenant=? AND starter=? AND starter_name=? AND number<?)'],
    ],
    [
      'runs with a text',
      { text: 'acme' },
      [
        'SEARCH run_text USING PRIMARY KEY (tenant=? AND number<?)',
        'SEARCH run USING INTEGER PRIMARY KEY (rowid=?)',
      ],
    ],
  ];

  for (const [title, query, plan] of CASES) {
    it(`${title} are found and ordered by one index, without a sort`, () => {
      expect(explain(query)).to.deep.equal(plan);
    });
  }

  it('many tenants are one walk: a union has a bounded number of parts', () => {
    const tenants = Array.from({ length: 21 }, (_, index) => `tenant ${index}`);
    const plan = planSources(database, { limit: 50, tenants, status: 'failed' });
    expect(plan.sources).to.have.length(1);
    expect(plan.isSearch).to.equal(true);
  });
});
