import { expect } from 'chai';
import type { JsonObject } from '../../../lib/common/json.js';
import { mock, store } from '../../../lib/tools/builtin/basic.js';
import { literalInputProblems } from '../../../lib/tools/inputs/input-check.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';

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

function codesOf(tool: Tool, inputs: JsonObject): string[] {
  return literalInputProblems(tool, inputs).map(({ code, path }) => [code, ...path].join(' '));
}

describe('literalInputProblems (D8, D48)', () => {
  it('reports an unknown input with the nearest name', () => {
    expect(literalInputProblems(store, { key: 'k', value: 1, apend: true })).to.deep.equal([
      {
        code: 'unknown_input',
        input: 'apend',
        path: ['apend'],
        message: 'tool "store" has no input "apend"',
        hint: 'did you mean "append"?',
      },
    ]);
    const [problem] = literalInputProblems(store, { key: 'k', value: 1, something_else: true });
    expect(problem?.hint).to.equal('it takes key, value, append');
  });

  it('reports a missing input, and says what it is for', () => {
    expect(literalInputProblems(store, { key: 'k' })).to.deep.equal([
      {
        code: 'missing_input',
        input: 'value',
        path: [],
        message: 'tool "store" needs the input "value"',
        hint: 'value: what to store',
      },
    ]);
  });

  it('reports a literal value that the tool cannot take', () => {
    const problems = literalInputProblems(store, { key: '', value: null, append: 'yes' });
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

  it('suggests the allowed value that was probably meant', () => {
    const tool = defineTool({
      name: 'probe',
      description: '',
      inputs: { format: { enum: ['markdown', 'text'], description: '' } },
      run: () => null,
    });
    expect(literalInputProblems(tool, { format: 'markdwon' })[0]?.hint).to.equal('did you mean "markdown"?');
  });

  it('leaves a value alone that is or holds a template', () => {
    expect(codesOf(store, { key: '{{params.key}}', value: 1, append: '{{params.append}}' })).to.deep.equal(
      [],
    );
    expect(codesOf(store, { key: 'k', value: 1, append: 'is {{params.append}}' })).to.deep.equal([]);
  });

  it('checks what stands beside a template inside a list or an object', () => {
    const where = [
      { field: '{{a.output}}', op: '{{b.output}}' },
      { field: 3, op: '{{b.output}}' },
      { field: '{{a.output}}', op: 'gt' },
      { op: '{{b.output}}', extra: 1 },
    ];
    expect(codesOf(select, { where })).to.have.members([
      'invalid_input where 1 field',
      'invalid_input where 2 op',
      'invalid_input where 3',
      'invalid_input where 3',
    ]);
  });

  it('refuses a list where a string must stand, whatever templates it holds', () => {
    expect(codesOf(store, { key: ['{{a.output}}'], value: 1 })).to.deep.equal(['invalid_input key']);
  });

  it('does not judge a whole whose verdict a template inside it may change', () => {
    expect(codesOf(select, { only: ['a', '{{b.output}}'] })).to.deep.equal([]);
    expect(codesOf(select, { only: ['a', 'c'] })).to.deep.equal(['invalid_input only']);
    expect(codesOf(select, { either: { x: '{{a.output}}' } })).to.deep.equal([]);
    expect(codesOf(select, { either: { x: 'c' } })).to.include('invalid_input either x');
    expect(codesOf(select, { some: { y: ['a', '{{a.output}}'] } })).to.deep.equal([]);
    expect(codesOf(select, { some: { y: ['a'] } })).to.include('invalid_input some y');
  });

  it('has nothing to say about the inputs of mock (D22), and changes nothing', () => {
    const inputs = Object.freeze({ a: '{{x.output}}', b: 1 });
    expect(literalInputProblems(mock, inputs)).to.deep.equal([]);
  });

  it('takes time in proportion to the inputs', () => {
    const where = Array.from({ length: 20_000 }, () => ({ field: '{{a.output}}', op: 'gt' }));
    const before = performance.now();
    expect(literalInputProblems(select, { where })).to.have.length(20_000);
    expect(performance.now() - before).to.be.lessThan(3000);
  });
});
