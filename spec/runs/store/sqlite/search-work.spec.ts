import { expect } from 'chai';
import { createRequire } from 'node:module';
import type Database from 'libsql';
import { countRuns, readPage } from '../../../../lib/runs/store/sqlite/thread/run-list.js';
import { migrate } from '../../../../lib/runs/store/sqlite/thread/schema.js';
import type { RunQuery } from '../../../../lib/runs/views/run-query.js';
import { ManualClock } from '../../../support/manual-clock.js';

const Driver = createRequire(import.meta.url)('libsql') as typeof Database;

/** A statement that was executed, with the values of its parameters. */
interface Executed {
  readonly sql: string;
  readonly values: readonly unknown[];
}

describe('The work that one statement of a search does, which nothing can interrupt (D74)', () => {
  let database: Database.Database;
  let recorded: Database.Database;
  let executed: Executed[];

  beforeEach(() => {
    database = new Driver(':memory:');
    migrate(database);
    executed = [];
    const prepare = (sql: string): unknown => {
      const statement = database.prepare(sql);
      const all = (values: readonly unknown[]): unknown => {
        executed.push({ sql, values });
        return statement.all(values);
      };
      return { all };
    };
    recorded = { prepare } as unknown as Database.Database;
  });

  afterEach(() => database.close());

  /** Adds settled runs with these numbers, whose ids are in the order of their numbers and begin with 01a1. */
  function addRuns(
    tenant: string,
    from: number,
    to: number,
    text: string,
    labels: readonly string[] = [],
  ): void {
    const numbers = `WITH RECURSIVE each (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM each WHERE n < ${to})`;
    database.exec('BEGIN');
    database
      .prepare(
        `INSERT INTO run (number, id, created_at, tenant, state, kind, pipeline, goal, starter, progress, finished_at)
         ${numbers} SELECT n, printf('01a1%04x-%04x-7000-8000-%012x', n / 65536, n % 65536, n * 2654435761 % 281474976710656),
           n, ?, 2, 'pipeline', 'p', 'goal', 'cli', '[]', n FROM each`,
      )
      .run([tenant]);
    database
      .prepare(`INSERT INTO run_text (tenant, number, text) ${numbers} SELECT ?, n, ? FROM each`)
      .run([tenant, text]);
    database
      .prepare(
        'INSERT OR IGNORE INTO usage (tenant, succeeded, failed, cancelled, bytes) VALUES (?, 0, 0, 0, 0)',
      )
      .run([tenant]);
    for (const label of labels) {
      database
        .prepare(`INSERT INTO label (tenant, label, state, number) ${numbers} SELECT ?, ?, 2, n FROM each`)
        .run([tenant, label]);
    }
    database.exec('COMMIT');
  }

  function list(query: Partial<RunQuery>): readonly number[] {
    const range = { before: Number.POSITIVE_INFINITY, limit: 51 };
    return readPage(recorded, { limit: 50, tenants: ['a'], ...query }, range, new ManualClock()).runs.map(
      ({ number }) => number,
    );
  }

  function count(query: Partial<RunQuery>): number {
    const { counts, next } = countRuns(
      recorded,
      { limit: 50, tenants: ['a'], ...query },
      Number.POSITIVE_INFINITY,
      new ManualClock(),
    );
    expect(next).to.equal(undefined);
    return counts.succeeded + counts.failed + counts.cancelled;
  }

  /** The plans of the statements that look for a beginning of ids. */
  function plansOfPrefixes(): string[] {
    return executed
      .filter(({ sql }) => /\bid >= \?/.test(sql))
      .map(({ sql, values }) => {
        const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[];
        return steps.map(({ detail }) => detail).join('; ');
      });
  }

  const OF_TENANT = 'SEARCH run USING COVERING INDEX run_by_id (tenant=? AND id>? AND id<?)';

  for (const query of [{ id: '01a1' }, { id: '01a1', status: 'failed' }, { text: '01a100' }] as const) {
    it(`a beginning of ids, in ${JSON.stringify(query)}, is looked up once a request, and only among the runs of the tenant`, () => {
      addRuns('a', 1, 10, 'text');
      addRuns('b', 11, 12_000, 'text');
      expect(list(query)).to.have.length('status' in query ? 0 : 10);
      expect(plansOfPrefixes()).to.deep.equal([OF_TENANT]);
      executed = [];
      expect(count(query)).to.equal(10);
      expect(plansOfPrefixes()).to.deep.equal([OF_TENANT]);
    });
  }

  it('an end of ids is looked up once a request, in the index of their last four characters', () => {
    addRuns('a', 1, 1000, '');
    const { id } = database.prepare('SELECT id FROM run WHERE number = 7').all([])[0] as { id: string };
    for (const query of [
      { id: id.slice(-5) },
      { text: id.slice(-8).toUpperCase(), status: 'succeeded' },
    ] as const) {
      executed = [];
      expect(list(query)).to.deep.equal([7]);
      const lookups = executed.filter(({ sql }) => sql.includes('substr(id, ?)'));
      expect(lookups.map(({ sql }) => / INDEXED BY (\w+)/.exec(sql)?.[1])).to.deep.equal(['run_by_tail']);
    }
  });

  it('of the runs of all tenants whose ids begin with some characters, the newest 1,000 are looked at', () => {
    for (const [index, tenant] of ['a', 'b', 'c'].entries())
      addRuns(tenant, 1 + index * 600, 600 + index * 600, '');
    expect(count({ id: '01a1', tenants: ['c', 'a', 'b'] })).to.equal(1000);
    expect(list({ id: '01a1', tenants: ['b', 'a', 'c'] })[0]).to.equal(1800);
    expect(count({ id: '01a1', tenants: undefined })).to.equal(1000);
    expect(count({ id: '01a1', tenants: ['a'] })).to.equal(600);
  });

  /** The texts that each statement has looked into, of the tenant a: their number and their bytes. */
  function measureSearched(): readonly { readonly runs: number; readonly bytes: number }[] {
    const sql = `SELECT count(*) AS runs, total(octet_length(text)) AS bytes FROM run_text
      WHERE tenant = 'a' AND number >= ? AND number < ?`;
    const searches = executed.filter((each) => each.sql.includes('instr('));
    return searches.flatMap(({ values }) => {
      // After the searched text come the bounds.
      const [low, high] = values.slice(values.indexOf('nowhere') + 1);
      return database.prepare(sql).all([low, high]) as { runs: number; bytes: number }[];
    });
  }

  it('looks into a bounded number of bytes, also where many long texts follow a gap or many short ones', () => {
    addRuns('a', 1, 3000, 'x'.repeat(6000));
    addRuns('a', 3001, 20_000, 'short');
    addRuns('b', 200_000, 200_010, 'short');
    for (const search of [list, count]) {
      for (const query of [{}, { pipeline_id: 'p' }]) {
        executed = [];
        search({ ...query, text: 'nowhere' });
        const searched = measureSearched();
        expect(searched.reduce((sum, { runs }) => sum + runs, 0)).to.equal(20_000);
        for (const { runs, bytes } of searched) {
          expect(runs).to.be.most(2000);
          if (runs > 200) expect(bytes).to.be.most(2 ** 20);
        }
        // Nor is each gap, or each short text, a statement.
        expect(searched.length).to.be.most(120);
      }
    }
  });

  it('finds and counts each run once, in slices of several tenants, also when each takes too long', () => {
    for (const [index, tenant] of ['a', 'b', 'a', 'c', 'b'].entries()) {
      const first = 10_000 * index + 1;
      addRuns(tenant, first, first + 699, `${index % 2 === 0 ? 'even' : 'odd'} ${'x'.repeat(200 * index)}`, [
        'k:v',
      ]);
    }
    const many = Array.from({ length: 21 }, (_, index) => String.fromCharCode(97 + index));
    for (const tenants of [['a', 'b'], many, undefined]) {
      const query = { limit: 2000, tenants, text: 'even' };
      for (const filter of [{}, { pipeline_id: 'p' }, { labels: ['k:v'] }, { id: '01a1' }]) {
        const clock = new ManualClock();
        clock.monotonicNow = () => (clock.advance(60), clock.now());
        const numbers: number[] = [];
        let counted = 0;
        let parts = 0;
        for (let before: number | undefined = Number.POSITIVE_INFINITY; before !== undefined; parts++) {
          const page = readPage(recorded, { ...query, ...filter }, { before, limit: 2001 }, clock);
          numbers.push(...page.runs.map(({ number }) => number));
          before = page.searchedTo;
        }
        for (let before: number | undefined = Number.POSITIVE_INFINITY; before !== undefined; ) {
          const part = countRuns(recorded, { ...query, ...filter }, before, clock);
          counted += part.counts.succeeded;
          before = part.next;
        }
        const found = database
          .prepare("SELECT number FROM run_text WHERE text LIKE 'even%' ORDER BY number DESC")
          .all([]) as { number: number }[];
        const expected = found.map(({ number }) => number);
        // Of the ids that begin so, the newest 1,000 are looked at.
        if ('id' in filter) expected.splice(700 + (tenants?.length === 2 ? 300 : 0));
        expect(numbers).to.deep.equal(expected);
        expect(counted).to.equal(expected.length);
        expect(parts).to.be.greaterThan(1);
      }
    }
  });

  const LABELS = Array.from({ length: 20 }, (_, index) => `label-${index}:x`);

  it('chooses among few labels, without the texts of their runs', () => {
    addRuns('a', 1, 1500, 'short', LABELS);
    expect(list({ labels: LABELS, text: 'nowhere' })).to.deep.equal([]);
    const choosing = executed.slice(
      0,
      executed.findIndex(({ sql }) => sql.includes('instr(')),
    );
    const counting = choosing.filter(({ sql }) => sql.includes('FROM label') && !sql.includes('AS bytes'));
    const counted = new Set(counting.map(({ values }) => values[1]));
    expect(counted.size).to.be.within(1, 3);
    for (const { sql } of counting) {
      expect(sql).to.match(/LIMIT [1-9]\d{0,2}\b/);
      expect(sql).not.to.contain('run_text').and.not.to.contain('JOIN');
    }
  });

  it('chooses no index, and searches nothing, when no run was submitted within the times', () => {
    addRuns('a', 1, 100, 'short', LABELS);
    for (const search of [list, count]) {
      search({ labels: LABELS, text: 'nowhere', createdAfterMs: Date.UTC(2030, 0, 1) });
      expect(executed.filter(({ sql }) => /\blabel\b|run_text/.test(sql))).to.deep.equal([]);
    }
  });
});
