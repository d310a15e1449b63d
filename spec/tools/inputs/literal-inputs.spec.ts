import { expect } from 'chai';
import { hintRename } from '../../../lib/definition/problems/hint.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { mock } from '../../../lib/tools/builtin/testing/mock.js';
import { store } from '../../../lib/tools/builtin/values/store.js';
import { transform } from '../../../lib/tools/builtin/values/transform.js';
import { exportFile } from '../../../lib/tools/builtin/export.js';
import { ingestDocument } from '../../../lib/tools/builtin/ingest-document.js';
import { select as selectPages } from '../../../lib/tools/builtin/select/select.js';
import { findLiteralInputProblems } from '../../../lib/tools/inputs/literal-inputs.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

const select = defineTool({
  name: 'select',
  description: 'a tool with nested inputs',
  inputs: {
    where: {
      type: 'array',
      description: 'conditions',
      items: {
        type: 'object',
        required: ['field', 'op'],
        properties: { field: { type: 'string' }, op: { enum: ['eq', 'ne'] }, value: {} },
        additionalProperties: false,
      },
    },
    only: { description: 'one of two', enum: [['a', 'b'], 'all'] },
    either: {
      description: 'a branch',
      type: 'object',
      properties: { x: { anyOf: [{ const: 'a' }, { const: 'b' }] } },
    },
    some: {
      description: 'contains',
      type: 'object',
      properties: { y: { type: 'array', contains: { const: 'x' } } },
    },
  },
  run: () => null,
});

function problemCodes(tool: Tool, inputs: JsonObject): string[] {
  return [...findLiteralInputProblems(tool, inputs)].map(({ code, path }) => [code, ...path].join(' '));
}

describe('findLiteralInputProblems (D8, D48)', () => {
  it('reports a name that no file of a run can have, unless it is that of an object or has a template', () => {
    const find = (filename: string): string[] =>
      [...findLiteralInputProblems(exportFile, { data: 1, filename })].map(({ message }) => message);
    expect(find('reports/a.csv')).to.deep.equal([
      'input "filename" cannot name a file: it must be the name of a file, without folders (tool "export")',
    ]);
    for (const name of ['a.csv', '', 's3://bucket/reports/a.csv', 'of/{{params.day}}.csv'])
      expect(find(name), name).to.deep.equal([]);
  });

  it('reports an unknown input with the nearest name', () => {
    expect([...findLiteralInputProblems(store, { key: 'k', value: 1, apend: true })]).to.deep.equal([
      {
        code: 'unknown_input',
        input: 'apend',
        path: ['apend'],
        message: 'tool "store" has no input "apend"',
        hint: hintRename('apend', 'append'),
      },
    ]);
    const [problem] = findLiteralInputProblems(store, { key: 'k', value: 1, something_else: true });
    expect(problem?.hint).to.equal('it takes key, value, append');
  });

  it('reports a missing input with its description', () => {
    expect([...findLiteralInputProblems(store, { key: 'k' })]).to.deep.equal([
      {
        code: 'missing_input',
        input: 'value',
        path: [],
        message: 'tool "store" needs the input "value"',
        hint: 'value: the value to store',
      },
    ]);
  });

  it('reports an invalid literal value', () => {
    const problems = [...findLiteralInputProblems(store, { key: '', value: null, append: 'yes' })];
    expect(problems).to.deep.equal([
      {
        code: 'invalid_input',
        input: 'key',
        path: ['key'],
        message: 'input "key" must not be empty (tool "store")',
      },
      {
        code: 'invalid_input',
        input: 'append',
        path: ['append'],
        message: 'input "append" must be true or false, not a string (tool "store")',
      },
    ]);
  });

  it('suggests the nearest allowed value', () => {
    const tool = defineTool({
      name: 'probe',
      description: '',
      inputs: { format: { enum: ['markdown', 'text'], description: '' } },
      run: () => null,
    });
    expect([...findLiteralInputProblems(tool, { format: 'markdwon' })][0]?.hint).to.deep.equal(
      hintRename('markdwon', 'markdown'),
    );
  });

  it('ignores a value that is or contains a template', () => {
    expect(
      problemCodes(store, { key: '{{params.key}}', value: 1, append: '{{params.append}}' }),
    ).to.deep.equal([]);
    expect(problemCodes(store, { key: 'k', value: 1, append: 'is {{params.append}}' })).to.deep.equal([]);
  });

  it('checks values beside a template inside a list or an object', () => {
    const where = [
      { field: '{{a.output}}', op: '{{b.output}}' },
      { field: 3, op: '{{b.output}}' },
      { field: '{{a.output}}', op: 'gt' },
      { op: '{{b.output}}', extra: 1 },
    ];
    expect(problemCodes(select, { where })).to.have.members([
      'invalid_input where 1 field',
      'invalid_input where 2 op',
      'invalid_input where 3',
      'invalid_input where 3',
    ]);
  });

  it('reports a list in place of a string even when it contains templates', () => {
    expect(problemCodes(store, { key: ['{{a.output}}'], value: 1 })).to.deep.equal(['invalid_input key']);
  });

  it('ignores a violation that a template inside the value may resolve', () => {
    expect(problemCodes(select, { only: ['a', '{{b.output}}'] })).to.deep.equal([]);
    expect(problemCodes(select, { only: ['a', 'c'] })).to.deep.equal(['invalid_input only']);
    expect(problemCodes(select, { either: { x: '{{a.output}}' } })).to.deep.equal([]);
    expect(problemCodes(select, { either: { x: 'c' } })).to.include('invalid_input either x');
    expect(problemCodes(select, { some: { y: ['a', '{{a.output}}'] } })).to.deep.equal([]);
    expect(problemCodes(select, { some: { y: ['a'] } })).to.include('invalid_input some y');
  });

  it('accepts any inputs of mock (D22), and does not change them', () => {
    const inputs = Object.freeze({ a: '{{x.output}}', b: 1 });
    expect([...findLiteralInputProblems(mock, inputs)]).to.deep.equal([]);
  });

  it('reports a syntax error in an expression without templates (D49)', () => {
    expect([
      ...findLiteralInputProblems(transform, { input: 1, expression: '$ { "a": $sum(b) ' }),
    ]).to.deep.equal([
      {
        code: 'invalid_input',
        input: 'expression',
        path: ['expression'],
        at: 15,
        message:
          'input "expression" is not a JSONata expression: Expected "}" before end of expression (at character 17) (tool "transform")',
      },
    ]);
    for (const expression of ['$ {{params.key}', '$sum(', '']) {
      const [first, ...others] = problemCodes(transform, { input: 1, expression });
      expect([first, ...others]).to.deep.equal(
        expression.includes('{{') ? [undefined] : ['invalid_input expression'],
      );
    }
    expect(problemCodes(transform, { input: 1, expression: '$.a[/x/]' })).to.deep.equal([]);
  });

  it('reports a syntax error in an expression of a tool that declares the format jsonata (D48)', () => {
    const filter = defineTool({
      name: 'filter',
      description: '',
      inputs: { where: { type: 'string', format: 'jsonata', description: '' } },
      run: () => null,
    });
    expect(problemCodes(filter, { where: 'a >' })).to.deep.equal(['invalid_input where']);
    expect(problemCodes(filter, { where: 'a > 1' })).to.deep.equal([]);
    expect(problemCodes(filter, {})).to.deep.equal([]);
  });

  itTimed('reports one violation of large inputs, in linear time', () => {
    const where = Array.from({ length: 100_000 }, () => ({ field: '{{a.output}}', op: 'gt' }));
    const cpuMs = measureCpuMsSync(() => {
      expect(problemCodes(select, { where })).to.deep.equal(['invalid_input where 0 op']);
    });
    expect(cpuMs).to.be.lessThan(1000);
  });

  it('reports page numbers and types of columns that a built-in tool refuses in any case', () => {
    const find = (tool: Tool, inputs: JsonObject): unknown[] =>
      [...findLiteralInputProblems(tool, inputs)].map(({ path, message, hint }) => [path, message, hint]);
    const usage = 'use page numbers such as 3, or "1-3"';
    const inSelect = (pages: Json): unknown[] => find(selectPages, { document: 'x', pages });
    expect(inSelect(['3-2', 1, '{{x}}-1', 'x'])).to.deep.equal([
      [
        ['pages', 0],
        'input "pages[0]" holds "3-2", a range that ends before it begins (tool "select")',
        'did you mean "2-3"?',
      ],
      [['pages', 3], 'input "pages[3]" holds "x" (tool "select")', usage],
    ]);
    expect(inSelect('1-3, 9-7')).to.deep.equal([
      [
        ['pages'],
        'input "pages" holds "9-7", a range that ends before it begins (tool "select")',
        'did you mean "7-9"?',
      ],
    ]);
    for (const wrong of [0, 1.5, true, '3-', { a: 1 }, [null]])
      expect(inSelect(wrong), JSON.stringify(wrong)).to.have.length(1);
    for (const right of [null, 3, '3', '1-3, 5', [1, '2-3'], '{{x}}'])
      expect(inSelect(right)).to.deep.equal([]);
    const columns = { price: 'nummer', day: 'dollars', ok: 'number', later: '{{x}}' };
    expect(find(ingestDocument, { path: 'a.csv', columns })).to.deep.equal([
      [
        ['columns', 'price'],
        'input "columns.price" has the type "nummer", which does not exist (tool "ingest_document")',
        'did you mean "number"?',
      ],
      [
        ['columns', 'day'],
        'input "columns.day" has the type "dollars", which does not exist (tool "ingest_document")',
        'use string, integer, number, boolean, date',
      ],
    ]);
  });
});
