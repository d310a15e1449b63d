import { expect } from 'chai';
import { applyFix } from '../../support/definitions/apply-fix.js';
import { checkTaskList, formatProblems, onlyProblem } from '../../support/definitions/check-pipeline.js';

const HEAD =
  '- id: count\n  tool: mock\n- id: ask\n  tool: sql_query\n  inputs:\n    connection: warehouse\n';

/** A task whose inputs have these lines. */
const asking = (...lines: string[]): string => HEAD + lines.map((line) => `    ${line}\n`).join('');

/** Wraps as `checkTaskList` does, applies the fix of the only problem, and returns the lines of the inputs. */
function fixed(...lines: string[]): string[] {
  const tasks = asking(...lines);
  const text = `pipeline:\n  id: spec\n  goal: be checked\n  tasks:\n${tasks.replaceAll(/^/gm, '    ')}\n`;
  const { fix, code } = onlyProblem(checkTaskList(tasks));
  expect(code).to.equal('template_in_sql');
  if (fix === undefined) throw new Error('there is no fix');
  const after = applyFix(text, fix);
  const written = after
    .split('\n')
    .slice(text.split('\n').findIndex((line) => line.includes('connection:')) + 1);
  return written.map((line) => line.trim()).filter((line) => line !== '');
}

describe('A template in the text of a statement (D92)', () => {
  it('is an error, whose fix binds the value', () => {
    expect(fixed('query: select * from t where id = {{count.output}}')).to.deep.equal([
      'query: select * from t where id = :count',
      'params:',
      'count: "{{count.output}}"',
    ]);
  });

  it('loses its quotes with the fix, which adds to the params that there are', () => {
    expect(
      fixed(`query: "select * from t where a = '{{count.output.name}}' and b = :b"`, 'params:', '  b: 1'),
    ).to.deep.equal([
      'query: "select * from t where a = :name and b = :b"',
      'params:',
      'b: 1',
      'name: "{{count.output.name}}"',
    ]);
  });

  it('is fixed with all others of the statement, also in a block of text', () => {
    expect(
      fixed(
        'query: |',
        '  select * from t',
        '  where a = {{count.output.a}} and b = {{ count.output.b.a }} or a = {{count.output.a}}',
      ),
    ).to.deep.equal([
      'query: |',
      'select * from t',
      'where a = :a and b = :a_2 or a = :a',
      'params:',
      'a: "{{count.output.a}}"',
      'a_2: "{{ count.output.b.a }}"',
    ]);
  });

  it('is fixed from the beginning to the end of the text, also behind the params', () => {
    const tasks = asking('params:', '  b: 1', 'query: select :b, {{count.output}}');
    const { fix } = onlyProblem(checkTaskList(tasks));
    const lines = fix?.edits.map(({ from }) => from.line) ?? [];
    expect(lines)
      .to.deep.equal(lines.toSorted((a, b) => a - b))
      .and.to.have.length(2);
  });

  it('is fixed in a list of statements', () => {
    expect(
      fixed(
        'queries:',
        '  - delete from t',
        '  - insert into t values ({{count.output.a}})',
        'params: {b: 1}',
      ),
    ).to.deep.equal([
      'queries:',
      '- delete from t',
      '- insert into t values (:a)',
      'params: {b: 1, a: "{{count.output.a}}"}',
    ]);
  });

  for (const [what, query] of [
    ['for the name of a table', 'select * from {{count.output.table}}'],
    ['within a text', "select * from t where a like '%{{count.output.a}}%'"],
    ['for the whole', '"{{count.output.sql}}"'],
    ['in a statement that cannot be read', "select 'a where b = {{count.output.a}}"],
  ] as const) {
    it(`is an error without a fix ${what}`, () => {
      const { code, fix, hint } = onlyProblem(checkTaskList(asking(`query: ${query}`)));
      expect([code, fix]).to.deep.equal(['template_in_sql', undefined]);
      expect(hint).to.include('names of tables and columns cannot be bound');
    });
  }

  it('is no problem in params, where its value is bound', () => {
    const tasks = asking('query: select :a', 'params: {a: "{{count.output}}"}');
    expect(formatProblems(checkTaskList(tasks))).to.deep.equal([]);
  });
});

describe('The url of sql_query (D92)', () => {
  const withUrl = (url: string): string =>
    `- id: ask\n  tool: sql_query\n  inputs: {url: "${url}", query: select 1}`;

  it('is better a secret or a connection when it has a password: a warning says so', () => {
    const { code, severity, hint } = onlyProblem(checkTaskList(withUrl('postgres://u:sesame-22@host/db')));
    expect([code, severity]).to.deep.equal(['password_in_url', 'warning']);
    expect(hint).to.include('{{secrets.DATABASE_URL}}').and.include('SERVICE_CONNECTIONS');
  });

  for (const url of ['{{secrets.URL}}', 'postgres://u@host/db', 'sqlite:a.db'])
    it(`is accepted as ${url}`, () => {
      expect(formatProblems(checkTaskList(withUrl(url)))).to.deep.equal([]);
    });
});
