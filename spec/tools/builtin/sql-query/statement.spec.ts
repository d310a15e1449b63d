import { expect } from 'chai';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { bindStatements } from '../../../../lib/tools/builtin/sql-query/statement.js';
import {
  type Dialect,
  DUCKDB,
  MYSQL,
  POSTGRES,
  SQLITE,
} from '../../../../lib/tools/builtin/sql-query/tokens.js';
import { createSqlTools } from './sql-context.js';
import { catchRejection } from '../../../support/rejection.js';

const bind = (text: string, params: JsonObject, dialect: Dialect = POSTGRES): unknown[] => {
  const [statement] = bindStatements([text], params, dialect);
  return [statement?.text, ...(statement?.values ?? [])];
};

describe('The params of a statement (D92)', () => {
  const written: [text: string, dialect: Dialect, bound: string][] = [
    ['select :a, :a::int, :b', POSTGRES, 'select $1, $1::int, $2'],
    ['select :a, :a, :b', MYSQL, 'select ?, ?, ?'],
    ['select :a, :a, :b', SQLITE, 'select ?1, ?1, ?2'],
    ['select \':a\', ":a", :a, :b', POSTGRES, 'select \':a\', ":a", $1, $2'],
    ["select 'it''s :a', :a, :b", DUCKDB, "select 'it''s :a', $1, $2"],
    [String.raw`select E'\':a', :a, :b`, POSTGRES, String.raw`select E'\':a', $1, $2`],
    [String.raw`select '\':a', :a, :b`, MYSQL, String.raw`select '\':a', ?, ?`],
    [String.raw`select '\', :a, :b`, SQLITE, String.raw`select '\', ?1, ?2`],
    ['select $$:a$$, $x$:a$$:a$x$, :a, :b', POSTGRES, 'select $$:a$$, $x$:a$$:a$x$, $1, $2'],
    ['select /* :a /* :a */ :a */ :a, :b -- :a', POSTGRES, 'select /* :a /* :a */ :a */ $1, $2 -- :a'],
    ['select /* :a /* */ :a, :b', SQLITE, 'select /* :a /* */ ?1, ?2'],
    ['select `:a`, :a, :b # :a', MYSQL, 'select `:a`, ?, ? # :a'],
    ['select 3--1, :a, :b', MYSQL, 'select 3--1, ?, ?'],
    ['select [:a], :a, :b', SQLITE, 'select [:a], ?1, ?2'],
    ['select x[1:2], f(n := :a), :b', POSTGRES, 'select x[1:2], f(n := $1), $2'],
    ["select data ? 'k', :a, :b;", POSTGRES, "select data ? 'k', $1, $2;"],
    ['select @x := :a, :b', MYSQL, 'select @x := ?, ?'],
  ];
  for (const [text, dialect, bound] of written)
    it(`are placeholders of ${dialect.name} in ${text}`, () => {
      expect(bind(text, { a: 1, b: 2 }, dialect)[0]).to.equal(bound);
    });

  it('have their values in the order of the placeholders', () => {
    expect(bind('select :b, :a, :b', { a: 1, b: 2 })).to.deep.equal(['select $1, $2, $1', 2, 1]);
    expect(bind('select :b, :a, :b', { a: 1, b: 2 }, MYSQL)).to.deep.equal(['select ?, ?, ?', 2, 1, 2]);
  });

  const mistakes: [text: string, params: JsonObject, message: RegExp, dialect?: Dialect][] = [
    ['select :ids', { id: 1 }, /the query has :ids, and there is no param "ids": did you mean "id"\?/],
    ['select :a', {}, /there is no param "a": write params: \{a: …\}/],
    ['select :toString', {}, /there is no param "toString"/],
    ['select 1', { a: 1 }, /no query has the param "a": write :a where its value belongs, or remove it/],
    ['select $1', {}, /has the placeholder \$1: write :name/],
    ['select ?', {}, /has the placeholder \?: write :name/, MYSQL],
    ['select @a', {}, /has the placeholder @a/, SQLITE],
    ["select 'a", {}, /a text that does not end, at character 8/],
    ['select /* a', {}, /a comment that does not end/],
    ['select $$ a', {}, /a text that does not end/],
    [' -- nothing\n;', {}, /is empty/],
    ['select 1; drop table t', {}, /has several statements: write them as a list in "queries"/],
    ['select \0', {}, /a NUL character/],
    [`select ${'1'.repeat(300_000)}`, {}, /more than 262,144 characters/],
  ];
  for (const [text, params, message, dialect] of mistakes)
    it(`are refused in ${text.slice(0, 30)}`, () => {
      expect(() => bind(text, params, dialect))
        .to.throw(message)
        .with.property('retryable', false);
    });
});

describe('A call of sql_query (D68, D92)', () => {
  const repeatable: [inputs: string, isRepeatable: boolean][] = [
    ['query: select 1', true],
    ['query: "/* a */ (select 1)"', true],
    ['query: with a as (select 1) select * from a', true],
    ['query: "insert into t values (1)"', false],
    ['query: with a as (delete from t returning id) select * from a', false],
    ['query: select 1 from t for update', false],
    ['query: select pay(1), read_only: false', false],
    ['query: call report(), read_only: true', true],
    ['queries: [select 1, delete from t]', false],
    ['queries: [select 1, select 2]', true],
    // MySQL reads another text in it than PostgreSQL.
    [`query: "with x as (select '\\\\'' as a) delete from t where b = 'x' and c = '\\\\''"`, false],
    ['query: "select 1 /*! into outfile \'f\' */"', false],
  ];
  for (const [inputs, isRepeatable] of repeatable)
    it(`is ${isRepeatable ? '' : 'not '}made again after a crash with ${inputs}`, () => {
      const { tasks } = parsePipeline(
        `{id: p, goal: g, tasks: [{id: a, tool: sql_query, inputs: {connection: c, ${inputs}}}]}`,
      );
      expect(tasks.get('a')?.isRepeatable).to.equal(isRepeatable);
    });

  const { query } = createSqlTools();
  const mistakes: [inputs: JsonObject, message: RegExp][] = [
    [{ query: 'select 1' }, /write either "connection" or "url"/],
    [{ url: 'sqlite:a', connection: 'b', query: 'select 1' }, /write either "connection" or "url"/],
    [{ url: 'sqlite:a' }, /write either "query" or "queries"/],
    [{ connection: 'a', query: 'select 1' }, /there is no connection "a"/],
    [{ url: 'https://u:sesame-22@host', query: 'select 1' }, /the url must begin with postgres:/],
    [
      { url: 'postgres://u@h/db?host=/tmp', query: 'select 1' },
      /the parameter "host": only sslmode is known/,
    ],
    [{ url: 'postgres://u@h/db?sslcert=/etc/x', query: 'select 1' }, /the parameter "sslcert"/],
    [{ url: 'mysql://u@h/db?socketPath=/tmp/s', query: 'select 1' }, /the parameter "socketPath"/],
    [
      { url: 'postgres://u@%2Ftmp/db', query: 'select 1' },
      /the url must be like|must be a name or an address/,
    ],
    [{ url: 'postgres://host/db', query: 'select 1' }, /the url names no user/],
    [{ url: 'postgres://u@h/db?sslmode=prefer', query: 'select 1' }, /sslmode of the url must be/],
  ];
  for (const [inputs, message] of mistakes)
    it(`is refused with ${JSON.stringify(inputs)}`, async () => {
      const error = await catchRejection(query(inputs));
      expect(String(error)).to.match(message).and.not.to.include('sesame');
      expect(error).to.have.property('retryable', false);
    });
});
