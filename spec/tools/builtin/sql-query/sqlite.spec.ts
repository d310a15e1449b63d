import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import Sqlite from 'libsql';
import { expect } from 'chai';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { createSqlTools } from './sql-context.js';

describe('sql_query of SQLite (D92)', () => {
  const folder = new TemporaryFolder();
  const root = folder.at('root');
  mkdirSync(root);
  const { pool, start, query } = createSqlTools({}, [root]);
  const url = 'sqlite:shop.db';
  const outside = folder.write('outside.txt', 'sesame-22');

  before(async () => {
    await query({
      url,
      queries: [
        'create table orders (id integer primary key, note text, bytes blob)',
        "insert into orders values (1, :note, x'00ff'), (9223372036854775807, null, null)",
      ],
      params: { note: "it's" },
    });
  });
  after(async () => {
    await pool.close();
    folder.remove();
  });

  it('keeps the types of values, and binds params', async () => {
    const { rows, columns } = await query({
      url,
      query: `select *, 1.5 as f, typeof(:i) as i, :t as t from orders
        where id in (select value from json_each(:ids)) or id > 5 order by id`,
      params: { ids: [1], i: 3, t: true },
    });
    expect(rows).to.deep.equal([
      { id: 1, note: "it's", bytes: 'AP8=', f: 1.5, i: 'integer', t: 1 },
      { id: '9223372036854775807', note: null, bytes: null, f: 1.5, i: 'integer', t: 1 },
    ]);
    expect(columns[0]).to.deep.equal({ name: 'id', type: 'integer' });
  });

  it('writes rows to a file of the run, and cuts those of a value', async () => {
    const many = 'with recursive c(n) as (select 1 union all select n + 1 from c limit 5000) select n from c';
    const { context, output } = start({ url, query: many, format: 'csv' });
    expect((await output).row_count).to.equal(5000);
    expect(String(context.written[0]?.bytes).split('\n')).to.have.length(5002);
    expect((await query({ url, query: many, max_rows: 3 })).truncated).to.equal(true);
    expect((await query({ url, query: 'update orders set note = note' })).changed).to.equal(2);
  });

  it('runs several statements in one transaction: all of them, or none', async () => {
    const queries = [
      'insert into orders values (7, null, null)',
      'insert into orders values (1, null, null)',
    ];
    expect(String(await catchRejection(query({ url, queries })))).to.include('UNIQUE constraint failed');
    expect((await query({ url, query: 'select * from orders where id = 7' })).rows).to.deep.equal([]);
  });

  it('refuses writes of a task that only reads, and a file that is not there', async () => {
    const writing = query({ url, query: 'delete from orders', read_only: true });
    expect(String(await catchRejection(writing))).to.include('attempt to write a readonly database');
    const missing = query({ url: 'sqlite:none.db', query: 'select 1' });
    expect(String(await catchRejection(missing))).to.include('there is no such file');
    expect(existsSync(folder.at('root/none.db'))).to.equal(false);
  });

  it('ends a statement with its process when the attempt ends', async () => {
    const endless = 'with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c';
    const { context, output } = start({ url, query: endless });
    await query({ url, query: 'select 1 as one' });
    context.abort();
    expect(String(await catchRejection(output))).to.include('the query was stopped');
  });

  it('ends a statement that needs too much memory, and says so', async () => {
    const large =
      'select group_concat(hex(zeroblob(1000000))) from (select 1 union all select 2), json_each(:list)';
    const list = Array.from({ length: 400 }, (_, index) => index);
    const error = await catchRejection(query({ url, query: large, params: { list } }));
    expect(String(error)).to.match(/MiB of memory|out of memory|too big/);
  });

  it('takes no journal that names another file, which the recovery would delete', async () => {
    const victim = folder.write('victim.txt', 'kept');
    const name = Buffer.from(victim);
    const tail = Buffer.alloc(8);
    tail.writeUInt32BE(name.length, 0);
    tail.writeUInt32BE(
      [...name].reduce((sum, byte) => sum + byte, 0),
      4,
    );
    const magic = Buffer.from('d9d505f920a163d7', 'hex');
    const journal = folder.write(
      'root/shop.db-journal',
      Buffer.concat([Buffer.alloc(512), name, tail, magic]),
    );
    const error = await catchRejection(query({ url, query: 'select 1' }));
    expect(String(error)).to.include('the journal beside the database names another file');
    expect(existsSync(victim)).to.equal(true);
    for (const path of [journal, victim]) rmSync(path);
  });

  const reaching = [
    `attach '${outside}' as other`,
    `/* a */ ATTACH DATABASE ':memory:' AS other`,
    `detach main`,
    `vacuum into '${folder.at('copy.db')}'`,
    'vacuum',
    `select readfile('${outside}')`,
    `select "readfile"('${outside}')`,
    `select [readfile]('${outside}')`,
    `select ReadFile /* a */ ('${outside}')`,
    `select writefile('${folder.at('written')}', 'x')`,
    `select * from fsdir('${folder.path}')`,
    `select * from 'fsdir'('${folder.path}')`,
    `create virtual table files using fsdir`,
    `create view v as select readfile('${outside}')`,
    `create trigger t after insert on orders begin select writefile('${folder.at('written')}', 'x'); end`,
    `with a as (select readfile('${outside}') as x) select x from a`,
    `insert into orders (note) values (readfile('${outside}'))`,
    `select * from orders order by readfile('${outside}')`,
    `explain query plan select readfile('${outside}')`,
    `select load_extension('${folder.at('x')}')`,
    `pragma temp_store_directory = '${folder.path}'`,
    `pragma data_store_directory = '${folder.path}'`,
    'pragma journal_mode = delete',
    'pragma writable_schema = on',
    'pragma trusted_schema = on',
    'pragma max_page_count = 1000000000',
    'pragma query_only = off',
    `explain attach '${outside}' as other`,
    'select * from sqlite_dbpage',
    'select * from pragma_database_list',
    `select sqlite3mc_config('cipher')`,
    `select 1; attach '${outside}' as other`,
    'begin',
    'savepoint a',
  ];
  for (const statement of reaching)
    it(`reaches nothing but its file: ${statement.replaceAll(folder.path, '')}`, async () => {
      const error = await catchRejection(query({ url, query: statement, read_only: false }));
      expect(String(error)).to.match(/not allowed|not authorized|several statements|no such function/);
      expect(String(error)).not.to.include('sesame');
      expect(readdirSync(folder.path).toSorted()).to.deep.equal(['outside.txt', 'root']);
    });

  it('calls no such function that others have written into a view or a trigger of the file', async () => {
    const database = new Sqlite(folder.at('root/crafted.db'));
    database.exec(
      `create table t(a); insert into t values (1); create view v as select readfile('${outside}') as x;
       create view w as select name from fsdir('${folder.path}');
       create trigger tr after insert on t begin select writefile('${folder.at('written')}', 'x'); end;`,
    );
    database.close();
    for (const statement of ['select * from v', 'select * from w', 'insert into t values (2)']) {
      const error = await catchRejection(query({ url: 'sqlite:crafted.db', query: statement }));
      expect(String(error)).to.match(/not allowed|unsafe use/);
    }
    expect(existsSync(folder.at('written'))).to.equal(false);
  });

  const places: [name: string, message: RegExp][] = [
    [outside, /outside the allowed folders/],
    ['../outside.txt', /may not climb with "\.\."/],
    ['link.db', /outside the allowed folders/],
    ['nowhere.db', /there is no such file/],
    ['linked/new.db', /there is no such file/],
    ['.', /not a regular file|there is no such file/],
    [`file:${outside}`, /there is no such file/],
    ['http://127.0.0.1:1/x', /there is no such file/],
  ];
  for (const [name, message] of places)
    it(`opens and creates no file at ${name.replace(folder.path, '')}`, async () => {
      if (!existsSync(folder.at('root/link.db'))) {
        symlinkSync(outside, folder.at('root/link.db'));
        symlinkSync(folder.at('created.db'), folder.at('root/nowhere.db'));
        symlinkSync(folder.path, folder.at('root/linked'));
      }
      const error = await catchRejection(query({ url: `sqlite:${name}`, query: 'create table t(a)' }));
      expect(String(error)).to.match(message);
      expect(readdirSync(folder.path).toSorted()).to.deep.equal(['outside.txt', 'root']);
    });
});
