import { expect } from 'chai';
import { Outbound } from '../../../../lib/common/requests/outbound.js';
import { catchRejection } from '../../../support/rejection.js';
import { type PostgresServer, startPostgres } from './postgres-server.js';
import { skipSuite } from './server-process.js';
import { createSqlTools } from './sql-context.js';

describe('sql_query of PostgreSQL (D92)', () => {
  const { pool, start, query } = createSqlTools();
  let server: PostgresServer;
  let url = '';

  before(async function () {
    const started = await startPostgres();
    if (typeof started === 'string') return skipSuite(this, started);
    server = started;
    ({ url } = server);
  });
  after(async () => {
    await pool.close();
    server?.stop();
  });

  /** The statements with a mark that the server is at work on. */
  const atWork = async (mark: string): Promise<number> => {
    const { rows } = await query({
      url,
      query: `select count(*) as n from pg_stat_activity
        where state = 'active' and pid <> pg_backend_pid() and query like :mark`,
      params: { mark: `%${mark}%` },
    });
    return Number(rows[0]?.['n']);
  };
  const untilAtWork = async (mark: string, wanted: number): Promise<void> => {
    while ((await atWork(mark)) !== wanted);
  };

  it('encrypts with sslmode=require, and refuses a certificate that nobody has signed with verify-full', async () => {
    const question = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    expect((await query({ url, query: question })).rows).to.deep.equal([{ ssl: false }]);
    expect((await query({ url: `${url}?sslmode=require`, query: question })).rows).to.deep.equal([
      { ssl: true },
    ]);
    const refused = await catchRejection(query({ url: `${url}?sslmode=verify-full`, query: question }));
    expect(refused)
      .to.have.property('message')
      .that.matches(/^no connection to PostgreSQL: self.signed certificate/);
  });

  it('trusts the authorities of the operator with verify-full', async () => {
    const outbound = new Outbound({ authorities: [server.authority] });
    const tools = createSqlTools({ allows: (address) => address === '127.0.0.1', outbound });
    const answer = await tools.query({ url: `${url}?sslmode=verify-full`, query: 'select 1 as one' });
    expect(answer.rows).to.deep.equal([{ one: 1 }]);
    await tools.pool.close();
  });

  it('keeps the types of values: long integers and decimals as texts, times as ISO texts', async () => {
    const { rows, columns } = await query({
      url,
      query: `select 42::int8 a, 9007199254740993::int8 b, 12.50::numeric c, 1.5::float8 d, 'NaN'::float8 e, true f,
        '2024-01-02 03:04:05.678+02'::timestamptz g, '2024-01-02 03:04:05'::timestamp h, '2024-01-02'::date i,
        '\\x00ff'::bytea j, '{"k": [1, null]}'::jsonb k, array[1, null] l, array['a"b', 'c,d', 'NULL'] m,
        array[array[1, 2], array[3, 4]] n, interval '1 day 2 hours' o, null p, 'infinity'::timestamptz q`,
    });
    expect(rows).to.deep.equal([
      {
        a: 42,
        b: '9007199254740993',
        c: '12.50',
        d: 1.5,
        e: 'NaN',
        f: true,
        g: '2024-01-02T01:04:05.678Z',
        h: '2024-01-02T03:04:05',
        i: '2024-01-02',
        j: 'AP8=',
        k: { k: [1, null] },
        l: [1, null],
        m: ['a"b', 'c,d', 'NULL'],
        n: [
          [1, 2],
          [3, 4],
        ],
        o: 'P1DT2H',
        p: null,
        q: 'infinity',
      },
    ]);
    expect(columns.slice(0, 3)).to.deep.equal([
      { name: 'a', type: 'bigint' },
      { name: 'b', type: 'bigint' },
      { name: 'c', type: 'numeric' },
    ]);
  });

  it('binds params: a text that looks like SQL stays a text, and a list is a list', async () => {
    const name = "x'; drop table orders; --";
    const params = { name, ids: [1, 3], tags: ['a"b', 'c\\d', null], data: { a: [1] } };
    const { rows } = await query({
      url,
      query: `select :name::text as name, array(select n from generate_series(1, 4) n where n = any(:ids)) as ids,
        :tags::text[] as tags, :data::jsonb as data, ':name' as quoted, $$:name$$ as dollars /* :name */ -- :name`,
      params,
    });
    const texts = { quoted: ':name', dollars: ':name' };
    expect(rows).to.deep.equal([{ ...params, ...texts }]);
  });

  it('returns rows up to max_rows of a billion, and says that there were more', async () => {
    const { rows, row_count, truncated } = await query({
      url,
      query: 'select generate_series(1, 1000000000) as n, generate_series(1, 1000000000) as n',
      max_rows: 2,
    });
    expect(rows).to.deep.equal([
      { n: 1, n_2: 1 },
      { n: 2, n_2: 2 },
    ]);
    expect([row_count, truncated]).to.deep.equal([2, true]);
    expect((await query({ url, query: 'select 1 as one where false' })).truncated).to.equal(false);
  });

  it('cuts rows that together are more than values of a run may be, and logs it', async () => {
    const { context, output } = start({
      url,
      query: "select repeat('x', 1000000) from generate_series(1, 100)",
    });
    const { row_count, truncated } = await output;
    expect([row_count, truncated]).to.deep.equal([8, true]);
    expect(context.logs.join()).to.include('cut after 8 rows, at 8 MiB');
  });

  it('writes all rows to a file of CSV or of JSON lines', async () => {
    const rows = `select n as id, case n when 1 then null when 2 then '' when 3 then 'a"b,c' else 'name' end as name,
      n = 1 as first, '{"a":1}'::json as data from generate_series(1, 5000) n`;
    const { context, output } = start({ url, query: rows, format: 'csv', max_rows: 1 });
    const { row_count, artifact, rows: values } = await output;
    expect([row_count, values, artifact?.name]).to.deep.equal([5000, [], 'task.csv']);
    const lines = String(context.written[0]?.bytes).split('\n');
    expect(lines.slice(0, 5)).to.deep.equal([
      'id,name,first,data',
      '1,,true,"{""a"":1}"',
      '2,"",false,"{""a"":1}"',
      '3,"a""b,c",false,"{""a"":1}"',
      '4,name,false,"{""a"":1}"',
    ]);
    expect(lines).to.have.length(5002);
    const json = start({ url, query: rows, format: 'jsonl', filename: 'rows.jsonl' });
    expect((await json.output).artifact?.name).to.equal('rows.jsonl');
    const [first = ''] = String(json.context.written[0]?.bytes).split('\n');
    expect(JSON.parse(first)).to.deep.equal({ id: 1, name: null, first: true, data: { a: 1 } });
  });

  it('writes the same lines whether values are made of them or not, however long they are', async () => {
    const columns = `n as id, (n % 3 = 0) as odd, n * 1.25 as amount, null::int as nothing,
      case n % 7 when 0 then null when 1 then '' when 2 then 'a,"b"' when 3 then E'two\nlines\r' when 4 then repeat('é"', n * 50)
        else 'Ünï💡' end as text,
      timestamp '2024-01-01' + n * interval '1.5 second' as at, timestamptz '2024-01-01 00:00+00' + n * interval '1 day' as zoned,
      case n % 5 when 0 then 'infinity'::timestamp when 1 then '0044-03-15 BC' else '12345-01-01' end as far,
      date '2024-01-01' + n as day`;
    const read = async (more: string): Promise<string> => {
      const rows = `select ${columns}${more} from generate_series(1, 3000) n`;
      const { context, output } = start({ url, query: rows, format: 'csv' });
      expect((await output).row_count).to.equal(3000);
      return String(context.written[0]?.bytes);
    };
    const bytes = await read('');
    const values = await read(", '{}'::json as marked");
    expect(bytes).to.equal(values.replaceAll(/,(?:marked|\{\})$/gm, ''));
    expect(bytes.length).to.be.above(2 ** 20);
  });

  it('can be used again after a file that was not finished, and after one that failed', async () => {
    for (const rows of [
      'select 1 as a where false',
      'select 1 / (3 - n) as a from generate_series(1, 5) n',
    ]) {
      await query({ url, query: rows, format: 'csv' }).catch(() => undefined);
      expect((await query({ url, query: 'select 2 as two' })).rows).to.deep.equal([{ two: 2 }]);
    }
  });

  it('runs several statements in one transaction: all of them, or none', async () => {
    await query({ url, query: 'create table orders (id int primary key, note text)' });
    const { results } = await query({
      url,
      queries: ['insert into orders values (:id, :note), (2, null)', 'select count(*) as n from orders'],
      params: { id: 1, note: 'first' },
    });
    expect(results.map(({ changed, rows }) => [changed, rows])).to.deep.equal([
      [2, []],
      [null, [{ n: 2 }]],
    ]);
    const error = await catchRejection(
      query({ url, queries: ['insert into orders values (3, null)', 'insert into orders values (1, null)'] }),
    );
    expect(String(error)).to.include('duplicate key value').and.to.include('(23505)');
    expect((await query({ url, query: 'select count(*) as n from orders' })).rows).to.deep.equal([{ n: 2 }]);
  });

  it('lets a statement that looks like reading not write, and says how it may', async () => {
    await query({ url, query: 'create sequence numbers' });
    const refused = await catchRejection(query({ url, query: "select nextval('numbers')" }));
    expect(String(refused)).to.include('(25006)').and.to.include('write read_only: false');
    const allowed = await query({ url, query: "select nextval('numbers') as n", read_only: false });
    expect(allowed.rows).to.deep.equal([{ n: 1 }]);
    const { rows } = await query({
      url,
      query: 'with added as (insert into orders values (9, null) returning id) select id from added',
    });
    expect(rows).to.deep.equal([{ id: 9 }]);
  });

  it('leaves no lock and no setting of one task to the next, also of statements that read', async () => {
    const locks = async (): Promise<unknown> =>
      (await query({ url, query: "select count(*) n from pg_locks where locktype = 'advisory'" })).rows[0]?.[
        'n'
      ];
    await query({ url, query: 'select pg_advisory_lock(7)' });
    expect(await locks()).to.equal(0);
    await query({ url, query: `select "set_config"('default_transaction_read_only', 'off', false)` });
    const { rows } = await query({ url, query: 'show default_transaction_read_only' });
    expect(rows).to.deep.equal([{ default_transaction_read_only: 'on' }]);
  });

  it('ends the statement in the database when the attempt ends', async () => {
    const { context, output } = start({ url, query: 'select pg_sleep(600) /* sleeping */' });
    await untilAtWork('sleeping', 1);
    context.abort();
    expect(String(await catchRejection(output))).to.include('the query was stopped');
    await untilAtWork('sleeping', 0);
  });

  it('ends a statement whose rows nobody reads any more', async () => {
    const { context, output } = start({
      url,
      query: "select repeat('x', 1000) as text, generate_series(1, 100000000) /* streaming */",
      format: 'csv',
    });
    await untilAtWork('streaming', 1);
    context.abort();
    await catchRejection(output);
    await untilAtWork('streaming', 0);
  });

  it('ends what is at work when its connections are closed', async () => {
    const other = createSqlTools();
    const { output } = other.start({ url, query: 'select pg_sleep(600) /* closing */' });
    await untilAtWork('closing', 1);
    await other.pool.close();
    await catchRejection(output);
    await untilAtWork('closing', 0);
  });

  it('lends a connection to the next task of the same tenant, as new, and to no other tenant', async () => {
    const pid = 'select pg_backend_pid() as pid, current_setting(:name, true) as value';
    const params = { name: 'my.value' };
    const ask = async (tenant: string, read_only: boolean): Promise<unknown> =>
      (await query({ url, query: pid, params, read_only }, { tenant_id: tenant })).rows[0];
    const first = await ask('a', true);
    expect(await ask('a', true)).to.deep.equal(first);
    expect(await ask('b', true)).not.to.deep.equal(first);
    await query({ url, query: "set my.value = 'left'" }, { tenant_id: 'a' });
    expect(await ask('a', false))
      .to.have.property('value')
      .that.is.oneOf([null, '']);
  });

  it('refuses a row that is too long, before it is in memory', async () => {
    const error = await catchRejection(query({ url, query: "select repeat('x', 20000000)" }));
    expect(String(error)).to.include('a row has 19.1 MiB, and 16 MiB are allowed');
  });

  it('describes mistakes without the password, and without another attempt', async () => {
    const mistakes: [url: string, statement: string, message: RegExp][] = [
      [url, 'select nope', /column "nope" does not exist \(42703\)/],
      [url, 'copy orders to stdout', /write the query alone, and format: csv/],
      [url, 'copy orders from stdin', /a task has no data to copy/],
      [
        url.replace('sesame', 'wrong'),
        'select 1',
        /no connection to PostgreSQL: password authentication failed/,
      ],
      [url.replace('wave:sesame-98765', 'wave'), 'select 1', /password/],
    ];
    process.env['PGPASSWORD'] = 'sesame-98765';
    try {
      for (const [address, statement, message] of mistakes) {
        const error = await catchRejection(query({ url: address, query: statement }));
        expect(String(error)).to.match(message).and.not.to.include('98765');
        expect(error).to.have.property('retryable', false);
      }
    } finally {
      delete process.env['PGPASSWORD'];
    }
  });
});
