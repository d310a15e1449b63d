import { expect } from 'chai';
import { checkDefinition } from '../../../lib/pipelines/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { checkPipelineText } from '../../support/definitions/check-pipeline.js';
import type { Problem } from '../../../lib/definition/problems/problem.js';

const PARAMS = `{kind: {enum: [invoice, receipt]}, dry_run: {type: boolean, default: false}, text: {}, n: {type: integer,
  minimum: 1, maximum: 10}, maybe: {type: number, default: null}, rows: {type: list}, wrong: {type: date}}`;

/** The problems of a task `b` with a condition, after a task `a` that may be skipped. */
function check(when: string): readonly Problem[] {
  const text = `{id: p, goal: g, params: ${PARAMS}, tasks: [{id: a, tool: mock, when: "{{params.text}}"},
    {id: b, tool: mock, when: ${when}}]}`;
  return checkPipelineText(text).problems.filter(({ path }) => path?.startsWith('/tasks'));
}

/** The problems of a handler with a condition, in one of the lists. */
function checkHandler(list: string, when: string): readonly Problem[] {
  const handler = `{id: h, tool: mock, when: ${when}}`;
  return checkPipelineText(`{id: p, goal: g, tasks: [{id: a, tool: mock}], ${list}: [${handler}]}`).problems;
}

describe('The check of the values that a condition can see (D77)', () => {
  for (const when of [
    '{value: "{{params.kind}}", enum: [bill, receipt]}',
    '{value: "{{params.kind}}", not: {enum: [bill, receipt]}}',
    '{value: "{{params.dry_run}}", const: false}',
    '"{{params.dry_run}}"',
    '{value: "{{params.n}}", minimum: 10}',
    '{value: "{{params.n}}", exclusiveMinimum: 9, maximum: 100}',
    '{value: "{{params.n}}", const: 10}',
    '{value: "{{params.maybe}}", const: null}',
    '{value: "{{params.maybe}}", minimum: 3}',
    '{value: "{{params.n ?? 20}}", minimum: 11}',
    '{value: "{{params.rows[0]}}", minimum: 11}',
    '{value: "{{params.rows.length}}", minimum: 11}',
    '{value: "{{params.wrong}}", minimum: 11}',
    '{value: "{{params.text}}", type: string, minimum: 11}',
    '{value: "{{params.text}}", anyOf: [{const: a}, {minimum: 3}]}',
    '{value: "{{a.status}}", const: skipped}',
    '{value: "{{a.error}}", not: {const: null}}',
    '{value: "{{a.output}}", minimum: 3, maximum: 3}',
    '{value: "no. {{params.n}}", pattern: "^no"}',
  ]) {
    it(`allows ${when}`, () => {
      expect(check(when)).to.deep.equal([]);
    });
  }

  const never: readonly (readonly [when: string, path: string, reason: string, hint?: string])[] = [
    ['{value: "{{params.kind}}", const: bill}', '/const', 'param "kind" is one of "invoice", "receipt"'],
    [
      '{value: "{{params.kind}}", const: Invoices}',
      '/const',
      'param "kind" is one of "invoice", "receipt"',
      'write const: invoice',
    ],
    [
      '{value: "{{params.dry_run}}", const: "true"}',
      '/const',
      'param "dry_run" is true or false',
      'write const: true',
    ],
    [
      '{value: "{{ params.dry_run }}", enum: ["false", "False"]}',
      '/enum',
      'param "dry_run" is true or false',
      'write enum: [false]',
    ],
    ['{value: "{{params.text}}", const: 3}', '/const', 'param "text" is a text', 'write const: "3"'],
    [
      '{value: "{{params.n}}", const: "3"}',
      '/const',
      'param "n" is a whole number from 1 to 10',
      'write const: 3',
    ],
    ['{value: "{{params.n}}", const: 11}', '/const', 'param "n" is a whole number from 1 to 10'],
    ['{value: "{{params.n}}", minimum: 1000}', '/minimum', 'param "n" is a whole number from 1 to 10'],
    [
      '{value: "{{params.n}}", exclusiveMaximum: 1}',
      '/exclusiveMaximum',
      'param "n" is a whole number from 1 to 10',
    ],
    [
      '{value: "{{params.text}}", minimum: 3}',
      '/minimum',
      'param "text" is a text, and minimum needs a number',
    ],
    [
      '{value: "{{params.text}}", not: {minimum: 3}}',
      '/not/minimum',
      'param "text" is a text, and minimum needs a number',
    ],
    [
      '{value: "{{params.maybe}}", pattern: a}',
      '/pattern',
      'param "maybe" is a number or null, and pattern needs a text',
    ],
    [
      '{value: "{{params.n}} items", minimum: 3}',
      '/minimum',
      '"{{params.n}} items" is a text, and minimum needs a number',
    ],
    [
      '{value: "{{params.n}} items", const: 3}',
      '/const',
      '"{{params.n}} items" is a text',
      'write const: "3"',
    ],
    ['{value: "{{a.output}}", minimum: 5, maximum: 3}', '', 'nothing is at least 5 and at most 3'],
    ['{value: "{{a.output}}", exclusiveMinimum: 3, maximum: 3}', '', 'nothing is above 3 and at most 3'],
    ['{value: "{{a.output}}", minItems: 2, maxItems: 1}', '', 'nothing is at least 2 and at most 1'],
    [
      '{value: "{{a.output}}", minimum: 2, minItems: 1}',
      '',
      'minimum needs a number, and minItems needs a list',
    ],
    ['{value: "{{a.output}}", const: 1, minimum: 2}', '', 'no value in "const" satisfies its other keywords'],
    [
      '{value: "{{a.status}}", const: success}',
      '/const',
      '{{a.status}} is one of "succeeded", "failed", "skipped"',
      'write const: succeeded',
    ],
    [
      '{value: "{{a.status}}", enum: [failure, skiped]}',
      '/enum',
      '{{a.status}} is one of "succeeded", "failed", "skipped"',
      'write enum: [failed, skipped]',
    ],
  ];
  for (const [when, path, reason, hint] of never) {
    it(`refuses ${when}, which never holds`, () => {
      const [problem, ...others] = check(when);
      expect(problem).to.deep.include({ severity: 'error', code: 'invalid_value' });
      expect(problem?.message).to.equal(`the condition never holds: ${reason}`);
      expect(problem?.path).to.equal(`/tasks/1/when${path}`);
      expect(problem?.hint).to.equal(hint);
      expect(others).to.deep.equal([]);
    });
  }

  it('refuses "not" that excludes nothing, because the condition always holds', () => {
    const [problem] = check('{value: "{{a.status}}", not: {const: failure}}');
    expect(problem).to.deep.include({
      message: '"not" excludes nothing: {{a.status}} is one of "succeeded", "failed", "skipped"',
      path: '/tasks/1/when/not/const',
      hint: 'write const: failed',
    });
  });

  it('refuses a template alone that is never false, and a value with remarks alone', () => {
    expect(check('"{{a.status}}"')[0]).to.deep.include({
      message: 'the condition always holds: {{a.status}} is one of "succeeded", "failed", "skipped"',
      hint: 'write {value: "{{a.status}}", const: succeeded}',
    });
    expect(check('{value: "{{params.text}}", format: date}')[0]?.message).to.contain(
      'nothing that the value',
    );
  });

  it('knows how the run of a handler has ended (D80)', () => {
    const when = (status: string): string => `{value: "{{run.status}}", const: ${status}}`;
    expect(checkHandler('finally', when('cancelled'))).to.deep.equal([]);
    expect(checkHandler('on_failure', when('failed'))).to.deep.equal([]);
    expect(checkHandler('finally', when('failure'))[0]).to.deep.include({
      message: 'the condition never holds: {{run.status}} is one of "succeeded", "failed", "cancelled"',
      hint: 'write const: failed',
    });
    expect(checkHandler('on_failure', when('success'))[0]?.message).to.equal(
      'the condition never holds: in "on_failure", {{run.status}} is always "failed"',
    );
  });

  it('suggests values for a few listed ones, and none that are long', () => {
    const listed = (count: number, value = 'invoise'): string =>
      `{value: "{{params.kind}}", enum: [${Array.from({ length: count }, () => value).join(', ')}]}`;
    expect(check(listed(10))[0]?.hint).to.equal('write enum: [invoice]');
    expect(check(listed(11))[0]?.hint).to.equal(undefined);
    expect(check(listed(1, `invoice${' '.repeat(200)}x`))[0]?.hint).to.equal(undefined);
  });

  it('shows the beginning of a choice that is a large list', () => {
    const rows = JSON.stringify(Array.from({ length: 1000 }, (_, row) => row));
    const text = `{id: p, goal: g, params: {rows: {type: list, enum: [${rows}]}},
      tasks: [{id: b, tool: mock, when: {value: "{{params.rows}}", const: 7}}]}`;
    const [problem] = checkPipelineText(text).problems.filter(({ path }) => path?.startsWith('/tasks'));
    expect(problem?.message).to.have.length.below(300).and.include('is always [0,1,2,');
  });

  itTimed('takes time in proportion to the conditions, whatever the size of a choice of their param', () => {
    const timeOf = (size: number): number => {
      const rows = Array.from({ length: 100 * size }, (_, row) => ({ row }));
      const when = { value: '{{params.rows}}', minItems: 1 };
      const tasks = Array.from({ length: size }, (_, index) => ({ id: `t${index}`, tool: 'mock', when }));
      const definition = { id: 'p', goal: 'g', params: { rows: { type: 'list', enum: [rows] } }, tasks };
      return measureCpuMsSync(() => void checkDefinition(definition, { catalog: builtinCatalog() }));
    };
    timeOf(20);
    // For 8 times the conditions and 8 times the choice, a check that looks at both together takes 64 times as long.
    expect(timeOf(320)).to.be.below(32 * timeOf(40));
  });

  it('takes the fix for the value of a condition (D8)', () => {
    const [problem] = check('{value: "{{params.dry_run}}", const: "true"}');
    expect(problem?.fix?.edits.map(({ text }) => text)).to.deep.equal(['true']);
  });
});
