import { expect } from 'chai';
import { Outbound } from '../../../../lib/common/requests/outbound.js';
import { catchRejection } from '../../../support/rejection.js';
import { startMariadb } from './mariadb-server.js';
import type { PostgresServer } from './postgres-server.js';
import { skipSuite } from './server-process.js';
import { createSqlTools } from './sql-context.js';

describe('sql_query of MySQL and MariaDB (D92)', () => {
  const { pool, start, query } = createSqlTools();
  let server: PostgresServer;
  let url = '';

  before(async function () {
    const started = await startMariadb();
    if (typeof started === 'string') return skipSuite(this, started);
    server = started;
    ({ url } = server);
    await query({
      url,
      query: `create table t (a bigint, b decimal(9, 2), c datetime(3), d timestamp, e blob, f json, g double,
        h boolean, i date, j varchar(20))`,
    });
  });
  after(async () => {
    await pool.close();
    server?.stop();
  });

  const atWork = async (mark: string): Promise<number> => {
    const { rows } = await query({
      url,
      query: `select count(*) as n from information_schema.processlist
        where info like :mark and id <> connection_id()`,
      params: { mark: `%${mark}%` },
    });
    return Number(rows[0]?.['n']);
  };
  const untilAtWork = async (mark: string, wanted: number): Promise<void> => {
    while ((await atWork(mark)) !== wanted);
  };

  it('encrypts with sslmode=require, and refuses a certificate that nobody has signed with verify-full', async () => {
    const question = "show session status like 'Ssl_version'";
    const versionOf = async (at: string): Promise<unknown> =>
      (await query({ url: at, query: question })).rows[0]?.['Value'];
    expect(await versionOf(url)).to.equal('');
    expect(await versionOf(`${url}?sslmode=require`)).to.match(/^TLS/);
    const refused = await catchRejection(query({ url: `${url}?sslmode=verify-full`, query: question }));
    expect(refused)
      .to.have.property('message')
      .that.matches(/^no connection to MySQL: self.signed certificate/);
  });

  it('trusts the authorities of the operator with verify-full', async () => {
    const outbound = new Outbound({ authorities: [server.authority] });
    const tools = createSqlTools({ allows: (address) => address === '127.0.0.1', outbound });
    const answer = await tools.query({ url: `${url}?sslmode=verify-full`, query: 'select 1 as one' });
    expect(answer.rows).to.deep.equal([{ one: 1 }]);
    await tools.pool.close();
  });

  it('keeps the types of values, and binds params', async () => {
    const { results } = await query({
      url,
      queries: [
        `insert into t values (:a, :b, '2024-01-02 03:04:05.678', '2024-01-02 03:04:05', x'00ff', :f, 1.5, :h,
          '2024-01-02', :j), (7, null, null, null, null, null, null, null, null, null)`,
        'select * from t',
      ],
      params: { a: '9007199254740993', b: '12.50', f: { k: [1] }, h: true, j: "x'; drop table t" },
    });
    expect(results[0]?.changed).to.equal(2);
    expect(results[1]?.rows[0]).to.deep.equal({
      a: '9007199254740993',
      b: '12.50',
      c: '2024-01-02T03:04:05.678',
      d: '2024-01-02T03:04:05Z',
      e: 'AP8=',
      f: { k: [1] },
      g: 1.5,
      h: 1,
      i: '2024-01-02',
      j: "x'; drop table t",
    });
    expect(results[1]?.rows[1]).to.include({ a: 7, b: null });
  });

  it('cuts rows, and writes all of them to a file', async () => {
    const many = 'select seq as n from seq_1_to_5000';
    expect((await query({ url, query: many, max_rows: 2 })).rows).to.deep.equal([{ n: 1 }, { n: 2 }]);
    const { context, output } = start({ url, query: many, format: 'csv', max_rows: 2 });
    expect((await output).row_count).to.equal(5000);
    expect(String(context.written[0]?.bytes).split('\n')).to.have.length(5002);
  });

  it('runs several statements in one transaction: all of them, or none', async () => {
    const queries = ['delete from t', 'insert into nowhere values (1)'];
    expect(String(await catchRejection(query({ url, queries })))).to.include('(ER_NO_SUCH_TABLE)');
    expect((await query({ url, query: 'select count(*) as n from t' })).rows).to.deep.equal([{ n: 2 }]);
  });

  it('refuses writes of a task that only reads', async () => {
    const error = await catchRejection(query({ url, query: 'delete from t', read_only: true }));
    expect(String(error)).to.include('write read_only: false');
  });

  it('ends the statement in the database when the attempt ends', async () => {
    const { context, output } = start({ url, query: 'select sleep(600) /* sleeping */' });
    await untilAtWork('sleeping', 1);
    context.abort();
    expect(String(await catchRejection(output))).to.include('the query was stopped');
    await untilAtWork('sleeping', 0);
  });

  it('describes mistakes without the password, sends no file, and refuses a row that is too long', async () => {
    const mistakes: [url: string, statement: string, message: RegExp][] = [
      [url, 'select nope', /Unknown column 'nope'.*\(ER_BAD_FIELD_ERROR\)/],
      [url.replace('sesame', 'wrong'), 'select 1', /no connection to MySQL: Access denied/],
      [url, "load data local infile '/etc/hosts' into table t", /local infile/i],
    ];
    for (const [address, statement, message] of mistakes) {
      const error = await catchRejection(query({ url: address, query: statement }));
      expect(String(error)).to.match(message).and.not.to.include('98765');
      expect(error).to.have.property('retryable', false);
    }
    const long = "select repeat('x', 16000000) as a, repeat('x', 8000000) as b";
    expect(String(await catchRejection(query({ url, query: long })))).to.match(
      /more than 16 MiB, the maximum/,
    );
    expect((await query({ url, query: 'select 1 as one' })).rows).to.deep.equal([{ one: 1 }]);
  });
});
