import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { freePort } from './server-process.js';
import { createSqlTools } from './sql-context.js';

describe('sql_query of DuckDB (D92)', () => {
  const folder = new TemporaryFolder();
  const root = folder.at('root');
  mkdirSync(root);
  const { pool, start, query } = createSqlTools({}, [root]);
  const url = 'duckdb:';
  const csv = folder.write('root/a.csv', 'id,name\n1,Ada\n2,Ben\n');
  folder.write('root/b.csv', 'id,name\n3,Cem\n');
  folder.write('root/c.jsonl', '{"id": 2, "tags": ["x", "y"]}\n');
  const outside = folder.write('outside.csv', 'id\nsesame-22\n');
  symlinkSync(outside, folder.at('root/link.csv'));

  after(async () => {
    await pool.close();
    folder.remove();
  });

  it('reads CSV, JSON and Parquet as tables, and binds params', async () => {
    const files = { people: ['a.csv', 'b.csv'], more: 'c.jsonl' };
    const { rows } = await query({
      url,
      query: `select p.id, p.name, m.tags from people p left join more m using (id)
        where list_contains(:ids, p.id) order by id`,
      params: { ids: [2, 3] },
      files,
    });
    expect(rows).to.deep.equal([
      { id: 2, name: 'Ben', tags: ['x', 'y'] },
      { id: 3, name: 'Cem', tags: null },
    ]);
  });

  it('keeps the types of values', async () => {
    const { rows } = await query({
      url,
      query: `select 42::bigint a, 9007199254740993::bigint b, 12.50::decimal(9, 2) c, [1, 2]::bigint[] d,
        timestamp '2024-01-02 03:04:05.5' e, timestamptz '2024-01-02 03:04:05+02' f, date '2024-01-02' g,
        '\\x00'::blob h, {k: 9007199254740993} i, true j, null k, 'nan'::double l`,
    });
    expect(rows).to.deep.equal([
      {
        a: 42,
        b: '9007199254740993',
        c: '12.50',
        d: [1, 2],
        e: '2024-01-02T03:04:05.5',
        f: '2024-01-02T01:04:05Z',
        g: '2024-01-02',
        h: 'AA==',
        i: { k: '9007199254740993' },
        j: true,
        k: null,
        l: 'NaN',
      },
    ]);
  });

  it('keeps tables in a file, in one transaction, and cuts a billion rows', async () => {
    const { results } = await query({
      url: 'duckdb:new.duckdb',
      queries: ['create table t (a int)', 'insert into t values (1), (2)', 'select * from t'],
    });
    expect(results.map(({ changed, rows }) => [changed, rows])).to.deep.equal([
      [null, []],
      [2, []],
      [null, [{ a: 1 }, { a: 2 }]],
    ]);
    const cut = await query({
      url: 'duckdb:new.duckdb',
      query: 'select * from range(1000000000)',
      max_rows: 2,
    });
    expect([cut.rows, cut.truncated]).to.deep.equal([[{ range: 0 }, { range: 1 }], true]);
    const { context, output } = start({ url, query: 'select * from range(10000) t(n)', format: 'csv' });
    expect((await output).row_count).to.equal(10_000);
    expect(String(context.written[0]?.bytes).split('\n')).to.have.length(10_002);
  });

  it('ends a statement with its process when the attempt ends', async () => {
    const { context, output } = start({
      url,
      query: 'select count(*) from range(10000000000) a, range(1000000) b',
    });
    await query({ url, query: 'select 1 as one' });
    context.abort();
    expect(String(await catchRejection(output))).to.include('the query was stopped');
  });

  const reaching = [
    `select * from '${outside}'`,
    `select * from read_csv('${outside}')`,
    `select * from read_csv('${folder.path}/*.csv')`,
    `select * from read_csv(['/' || '${outside.slice(1)}'])`,
    `select * from read_text('${outside}')`,
    `select * from read_blob('${outside}')`,
    `select * from read_parquet('${outside}')`,
    `select * from read_json('${outside}')`,
    `select * from sniff_csv('${outside}')`,
    `select * from glob('${folder.path}/*')`,
    `select * from query('select * from read_text(''${outside}'')')`,
    `create table t as from read_csv('${outside}')`,
    `create macro m() as table select * from read_text('${outside}')`,
    `copy (select 1) to '${folder.at('written.csv')}'`,
    `copy (select 1) to '${csv}'`,
    `explain analyze copy (select 1) to '${csv}' (use_tmp_file false)`,
    `export database '${folder.at('exported')}'`,
    `import database '${folder.at('exported')}'`,
    `attach '${folder.at('other.db')}'`,
    `attach ':memory:' as other`,
    'install httpfs',
    'load httpfs',
    `load '${folder.at('x.duckdb_extension')}'`,
    'set enable_external_access = true',
    `set allowed_directories = ['/']`,
    'set lock_configuration = false',
    'reset enable_external_access',
    `pragma enable_profiling = 'json'`,
    `set profiling_output = '${folder.at('profile')}'`,
    `set temp_directory = '${folder.path}'`,
    'call enable_logging()',
    `create persistent secret s (type http, bearer_token 'x')`,
    `select 1; copy (select 1) to '${folder.at('written.csv')}'`,
    `prepare p as copy (select 1) to '${folder.at('written.csv')}'`,
    'checkpoint',
  ];
  for (const statement of reaching)
    it(`reaches nothing but its tables: ${statement.replaceAll(folder.path, '')}`, async () => {
      const error = await catchRejection(
        (async () => {
          await query({ url, query: statement, files: { a: 'a.csv' }, read_only: false });
          if (statement.startsWith('create macro'))
            throw new Error('the macro is not allowed to read, and is not run here');
        })(),
      );
      expect(String(error)).to.match(
        /not allowed|disabled|locked|several statements|Permission|not supported/i,
      );
      expect(String(error)).not.to.include('sesame');
      expect(readdirSync(folder.path).toSorted()).to.deep.equal(['outside.csv', 'root']);
      expect(readFileSync(csv, 'utf8')).to.equal('id,name\n1,Ada\n2,Ben\n');
    });

  it('copies no file into a table', async () => {
    const queries = ['create table t (id text)', `copy t from '${outside}'`];
    expect(String(await catchRejection(query({ url, queries })))).to.match(/not allowed|disabled/);
  });

  it('reads no address, neither of HTTP nor of S3', async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.end('id\n1\n');
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    for (const address of [`http://127.0.0.1:${port}/a.csv`, 's3://bucket/a.csv']) {
      const error = await catchRejection(query({ url, query: `select * from read_csv('${address}')` }));
      expect(String(error)).to.match(/disabled by configuration/);
      const named = await catchRejection(query({ url, query: 'select * from a', files: { a: address } }));
      expect(String(named)).to.match(/no such file|no file/);
    }
    server.close();
    expect(requests).to.deep.equal([]);
  });

  it('reads no file beyond the folders, also not by a link, and none of another kind', async () => {
    writeFileSync(folder.at('root/a.bin'), 'x');
    const wrong: [file: string, message: RegExp][] = [
      [outside, /outside the allowed folders/],
      ['link.csv', /outside the allowed folders/],
      ['../outside.csv', /may not climb/],
      ['a.bin', /must end with \.csv/],
    ];
    for (const [file, message] of wrong) {
      const error = await catchRejection(query({ url, query: 'select * from a', files: { a: file } }));
      expect(String(error)).to.match(message);
    }
    const inSqlite = await catchRejection(
      query({ url: 'sqlite::memory:', query: 'select 1', files: { a: 'a.csv' } }),
    );
    expect(String(inSqlite)).to.include('"files" are read by DuckDB');
  });
});
