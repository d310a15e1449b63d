import { expect } from 'chai';
import { WavetrainError } from '../../../lib/common/errors.js';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { defineTool, type InputDeclarations, type Tool } from '../../../lib/tools/tool.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

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

function validationErrors(tool: Tool, inputs: JsonObject): string[] {
  const checked = validateInputs(tool, inputs);
  return checked.ok ? [] : checked.errors;
}

describe('validateInputs (D48)', () => {
  it('fills in defaults without changing its argument', () => {
    const original = Object.freeze({ key: 'a' });
    expect(validateInputs(flat, original)).to.deep.equal({
      ok: true,
      inputs: { key: 'a', times: null, format: 'auto' },
    });
    expect(original).to.deep.equal({ key: 'a' });
  });

  it('copies a default for each invocation', () => {
    const tool = toolWith({ list: { type: 'array', default: [], description: 'a list' } });
    const [first, second] = [validateInputs(tool, {}), validateInputs(tool, {})];
    expect(first).to.deep.equal({ ok: true, inputs: { list: [] } });
    if (first.ok && second.ok) expect(first.inputs['list']).to.not.equal(second.inputs['list']);
  });

  it('fills in defaults inside values without changing its argument', () => {
    const original: JsonObject = { rows: [Object.freeze({ id: 1 })] };
    Object.freeze(original['rows']);
    Object.freeze(original);
    expect(validateInputs(nested, original)).to.deep.equal({
      ok: true,
      inputs: { rows: [{ id: 1, note: 'none' }], code: 'A' },
    });
    expect(original).to.deep.equal({ rows: [{ id: 1 }] });
  });

  it('reports all violations with the names of the inputs', () => {
    expect(validationErrors(flat, { key: 7, times: 1.5, format: 'xml', kye: 1 })).to.have.members([
      'there is no input "kye"',
      'input "key" must be a string, not a number',
      'input "times" must be a whole number, not 1.5',
      'input "format" must be one of "auto", "text", not "xml"',
    ]);
    expect(validationErrors(flat, { times: 9 })).to.have.members([
      'input "key" is missing',
      'input "times" must be at most 5, not 9',
    ]);
    expect(validationErrors(flat, { key: '', times: -1 })).to.have.members([
      'input "key" must not be empty',
      'input "times" must be at least 0, not -1',
    ]);
  });

  it('reports the path of a violation inside a value', () => {
    expect(
      validationErrors(nested, { rows: [{ id: 1 }, { id: 'x' }, { nid: 2 }], code: 'a1' }),
    ).to.have.members([
      'input "rows[1].id" must be a whole number, not a string',
      'input "rows[2]" lacks "id"',
      'input "rows[2]" may not contain "nid"',
      'input "code" must match the pattern ^[A-Z]+$, not "a1"',
    ]);
  });

  it('never coerces a value', () => {
    expect(validationErrors(flat, { key: 'a', times: '3' })).to.deep.equal([
      'input "times" must be a whole number, not a string',
    ]);
  });

  it('accepts null only for an input whose default is null', () => {
    expect(validateInputs(flat, { key: 'a', times: null })).to.have.property('ok', true);
    expect(validationErrors(flat, { key: null })).to.deep.equal(['input "key" must be a string, not null']);
    const tool = toolWith({
      size: { enum: ['s', 'l'], type: 'string', default: null, pattern: '.', description: '' },
    });
    expect(validateInputs(tool, { size: null })).to.deep.equal({ ok: true, inputs: { size: null } });
    expect(validationErrors(tool, { size: 'm' })).to.deep.equal([
      'input "size" must be one of "s", "l", null, not "m"',
    ]);
  });

  it('accepts undeclared inputs of a tool with open inputs, and validates the declared ones', () => {
    expect(validateInputs(toolWith({}, true), { a: 1, b: [2] })).to.deep.equal({
      ok: true,
      inputs: { a: 1, b: [2] },
    });
    const half = toolWith({ n: { type: 'number', description: 'a number' } }, true);
    expect(validationErrors(half, { n: 'x', more: 1 })).to.deep.equal([
      'input "n" must be a number, not a string',
    ]);
  });

  it('treats __proto__ and constructor as ordinary names', () => {
    const hostile: JsonObject = JSON.parse('{"key": "a", "__proto__": {"polluted": 1}, "constructor": 1}');
    const expected = ['there is no input "__proto__"', 'there is no input "constructor"'];
    expect(validationErrors(flat, hostile)).to.have.members(expected);
    expect(validationErrors(nested, { ...hostile, rows: [] })).to.include.members(expected);
    expect(validateInputs(flat, {})).to.have.property('ok', false);
    expect(Object.hasOwn(Object.prototype, 'polluted')).to.equal(false);
    for (const pattern of ['', '.']) {
      const declared = { type: 'string', required: true, description: 'a name' } as const;
      const tool = toolWith({ constructor: pattern === '' ? declared : { ...declared, pattern } });
      expect(validationErrors(tool, {})).to.deep.equal(['input "constructor" is missing']);
      expect(validateInputs(tool, { constructor: 'x' })).to.have.property('ok', true);
    }
  });

  it('lists the first violations and counts the others', () => {
    const rows = Array.from({ length: 1000 }, () => ({ id: 'x' }));
    const errors = validationErrors(nested, { rows });
    expect(errors).to.have.length(11);
    expect(errors.at(-1)).to.equal('and 990 more');
  });

  itTimed('matches patterns in linear time, whatever the pattern', () => {
    const tool = toolWith({ text: { type: 'string', pattern: '^(a+)+$', description: 'a trap' } });
    const cpuMs = measureCpuMsSync(() => {
      expect(validationErrors(tool, { text: `${'a'.repeat(50_000)}b` })).to.have.length(1);
    });
    expect(cpuMs).to.be.lessThan(1000);
  });

  it('throws bad_tool_file when the declarations of a tool, which was not defined with defineTool, are not a valid JSON Schema', () => {
    const text = { type: 'string', pattern: '(?=x)', description: 'not supported' } as const;
    const tool: Tool = { ...toolWith({}), inputs: { text } };
    expect(() => validateInputs(tool, { text: 'x' }))
      .to.throw(WavetrainError, 'tool "probe" declares inputs that cannot be checked')
      .with.property('code', 'bad_tool_file');
  });
});
