import { expect } from 'chai';
import { WavetrainError } from '../../../lib/common/errors.js';
import type { JsonObject } from '../../../lib/common/json.js';
import { checkInputs } from '../../../lib/tools/inputs/input-check.js';
import { defineTool, type InputDeclarations, type Tool } from '../../../lib/tools/tool.js';

function toolWith(inputs: InputDeclarations, openInputs = false): Tool {
  return defineTool({
    name: 'probe',
    description: 'a tool to be checked',
    inputs,
    openInputs,
    run: () => null,
  });
}

const flat = toolWith({
  key: { type: 'string', minLength: 1, required: true, description: 'the key' },
  times: { type: 'integer', minimum: 0, maximum: 5, default: null, description: 'how often' },
  format: { enum: ['auto', 'text'], default: 'auto', description: 'the format' },
});

const nested = toolWith({
  rows: {
    type: 'array',
    required: true,
    description: 'the rows',
    items: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'integer' }, note: { type: 'string', default: 'none' } },
      additionalProperties: false,
    },
  },
  code: { type: 'string', pattern: '^[A-Z]+$', default: 'A', description: 'a code' },
});

function errorsOf(tool: Tool, inputs: JsonObject): string[] {
  const checked = checkInputs(tool, inputs);
  return checked.ok ? [] : checked.errors;
}

describe('checkInputs (D48)', () => {
  it('fills in defaults without touching what it was given', () => {
    const given = Object.freeze({ key: 'a' });
    expect(checkInputs(flat, given)).to.deep.equal({
      ok: true,
      inputs: { key: 'a', times: null, format: 'auto' },
    });
    expect(given).to.deep.equal({ key: 'a' });
  });

  it('gives every invocation its own copy of a default', () => {
    const tool = toolWith({ list: { type: 'array', default: [], description: 'a list' } });
    const [first, second] = [checkInputs(tool, {}), checkInputs(tool, {})];
    expect(first).to.deep.equal({ ok: true, inputs: { list: [] } });
    if (first.ok && second.ok) expect(first.inputs['list']).to.not.equal(second.inputs['list']);
  });

  it('fills in defaults inside values, again without touching what it was given', () => {
    const given: JsonObject = { rows: [Object.freeze({ id: 1 })] };
    Object.freeze(given['rows']);
    Object.freeze(given);
    expect(checkInputs(nested, given)).to.deep.equal({
      ok: true,
      inputs: { rows: [{ id: 1, note: 'none' }], code: 'A' },
    });
    expect(given).to.deep.equal({ rows: [{ id: 1 }] });
  });

  it('says everything that is wrong, in words that name the input', () => {
    expect(errorsOf(flat, { key: 7, times: 1.5, format: 'xml', kye: 1 })).to.have.members([
      'there is no input "kye"',
      'input "key" must be a string, not a number',
      'input "times" must be a whole number, not 1.5',
      'input "format" must be one of "auto", "text", not "xml"',
    ]);
    expect(errorsOf(flat, { times: 9 })).to.have.members([
      'input "key" is missing',
      'input "times" must be at most 5, not 9',
    ]);
    expect(errorsOf(flat, { key: '', times: -1 })).to.have.members([
      'input "key" must not be empty',
      'input "times" must be at least 0, not -1',
    ]);
  });

  it('says where inside a value something is wrong', () => {
    expect(errorsOf(nested, { rows: [{ id: 1 }, { id: 'x' }, { nid: 2 }], code: 'a1' })).to.have.members([
      'input "rows[1].id" must be a whole number, not a string',
      'input "rows[2]" lacks "id"',
      'input "rows[2]" may not hold "nid"',
      'input "code" must match the pattern ^[A-Z]+$, not "a1"',
    ]);
  });

  it('never coerces a value', () => {
    expect(errorsOf(flat, { key: 'a', times: '3' })).to.deep.equal([
      'input "times" must be a whole number, not a string',
    ]);
  });

  it('lets an input be null when that is its default, and not otherwise', () => {
    expect(checkInputs(flat, { key: 'a', times: null })).to.have.property('ok', true);
    expect(errorsOf(flat, { key: null })).to.deep.equal(['input "key" must be a string, not null']);
    const tool = toolWith({
      size: { enum: ['s', 'l'], type: 'string', default: null, pattern: '.', description: '' },
    });
    expect(checkInputs(tool, { size: null })).to.deep.equal({ ok: true, inputs: { size: null } });
    expect(errorsOf(tool, { size: 'm' })).to.deep.equal([
      'input "size" must be one of "s", "l", null, not "m"',
    ]);
  });

  it('takes any input of a tool with open inputs, but still checks the declared ones', () => {
    expect(checkInputs(toolWith({}, true), { a: 1, b: [2] })).to.deep.equal({
      ok: true,
      inputs: { a: 1, b: [2] },
    });
    const half = toolWith({ n: { type: 'number', description: 'a number' } }, true);
    expect(errorsOf(half, { n: 'x', more: 1 })).to.deep.equal(['input "n" must be a number, not a string']);
  });

  it('treats __proto__ and constructor as names like any other', () => {
    const hostile: JsonObject = JSON.parse('{"key": "a", "__proto__": {"polluted": 1}, "constructor": 1}');
    const expected = ['there is no input "__proto__"', 'there is no input "constructor"'];
    expect(errorsOf(flat, hostile)).to.have.members(expected);
    expect(errorsOf(nested, { ...hostile, rows: [] })).to.include.members(expected);
    expect(checkInputs(flat, {})).to.have.property('ok', false);
    expect(Object.hasOwn(Object.prototype, 'polluted')).to.equal(false);
    for (const pattern of ['', '.']) {
      const declared = { type: 'string', required: true, description: 'a name' } as const;
      const tool = toolWith({ constructor: pattern === '' ? declared : { ...declared, pattern } });
      expect(errorsOf(tool, {})).to.deep.equal(['input "constructor" is missing']);
      expect(checkInputs(tool, { constructor: 'x' })).to.have.property('ok', true);
    }
  });

  it('tells the first errors and counts the others', () => {
    const rows = Array.from({ length: 1000 }, () => ({ id: 'x' }));
    const errors = errorsOf(nested, { rows });
    expect(errors).to.have.length(11);
    expect(errors.at(-1)).to.equal('and 990 more');
  });

  it('matches patterns in linear time, whatever the pattern', () => {
    const tool = toolWith({ text: { type: 'string', pattern: '^(a+)+$', description: 'a trap' } });
    const before = performance.now();
    expect(errorsOf(tool, { text: `${'a'.repeat(50_000)}b` })).to.have.length(1);
    expect(performance.now() - before).to.be.lessThan(1000);
  });

  it('blames the tool when its declarations make no JSON Schema', () => {
    const tool = toolWith({ text: { type: 'string', pattern: '(?=x)', description: 'not supported' } });
    expect(() => checkInputs(tool, { text: 'x' }))
      .to.throw(WavetrainError, 'tool "probe" declares inputs that cannot be checked')
      .with.property('code', 'bad_tool_file');
  });
});
