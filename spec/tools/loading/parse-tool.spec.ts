import { expect } from 'chai';
import { parseTool } from '../../../lib/tools/loading/parse-tool.js';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { REFUSED_KEYWORDS } from '../../../lib/common/json-schema/keywords.js';
import { BUILTIN_FUNCTIONS } from '../../../lib/tools/builtin/compute/compute.js';
import { defineFunction } from '../../../lib/tools/builtin/compute/function.js';
import { defineSource } from '../../../lib/tools/builtin/web/fetch-data/source.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { defineTool, type InputDeclarations, type Tool } from '../../../lib/tools/tool.js';

const run = (): null => null;

describe('parseTool (D48)', () => {
  const wrongs: [value: unknown, expected: string][] = [
    [5, 'it is a number, not a tool'],
    [[], 'it is a list, not a tool'],
    [{}, 'it is not a tool: it has no name'],
    [{ name: 'x', inputs: {} }, 'it ("x") is not a tool: it has no function "run"'],
    [{ name: 'x', run }, 'its "inputs" must be an object'],
    [{ name: 'x', inputs: { a: 'string' }, run }, 'its "inputs" must be an object'],
    [
      { name: 'x', inputs: {}, repeatable: 'no', run },
      'its "repeatable" must be true, false, or a function of the inputs',
    ],
    [{ name: 'Bad Name', inputs: {}, run }, '"Bad Name" is not a tool name'],
    [{ name: 'x', inputs: {}, output: 'text', run }, 'its "output" must have name, description and type'],
    [
      { name: 'x', inputs: { a: { requird: true } }, run },
      'its input "a" has an unknown field "requird"; did you mean "required"?',
    ],
    [
      { name: 'x', inputs: { a: { zzz: true } }, run },
      'its input "a" has an unknown field "zzz"; the fields are description, required',
    ],
    [
      { name: 'x', inputs: { a: { required: 'yes' } }, run },
      'its input "a" needs true or false as "required"',
    ],
    [{ name: 'x', inputs: { a: { verbatim: 1 } }, run }, 'its input "a" needs true or false as "verbatim"'],
    [{ name: 'x', inputs: { a: { description: 1 } }, run }, 'its input "a" needs a string as "description"'],
    [
      { name: 'x', inputs: { a: { type: 'strng' } }, run },
      'its input "a" has no valid type; did you mean "string"?',
    ],
    [
      { name: 'x', inputs: { a: { type: 'int' } }, run },
      'its input "a" has no valid type; write type: integer',
    ],
    [
      { name: 'x', inputs: { a: { type: 'date' } }, run },
      'its input "a" has no valid type; the types are string, integer, number, boolean, list, object',
    ],
    [
      { name: 'x', inputs: { a: { type: 'any' } }, run },
      'its input "a" has no valid type; the types are string, integer, number, boolean, list, object; leave type out to accept any value',
    ],
    [
      { name: 'x', inputs: { a: { type: ['string', 'null'] } }, run },
      'its input "a" has no valid type; the types are',
    ],
    [
      { name: 'x', inputs: { a: { format: 'email' } }, run },
      'its input "a" has an unknown "format"; there are jsonata, bindings, sql, page-ranges, column-types, model, fields, period-end, file-name',
    ],
    [
      { name: 'x', inputs: { a: { items: 5 } }, run },
      'its input "a": "items" must be a schema: an object, true or false',
    ],
    [
      { name: 'x', inputs: { a: { properties: [] } }, run },
      'its input "a": "properties" must be an object of schemas',
    ],
    [{ name: 'x', inputs: { a: { minimum: '1' } }, run }, 'its input "a": "minimum" must be a number'],
    [{ name: 'x', inputs: { a: { enum: 'b' } }, run }, 'its input "a": "enum" must be a list of values'],
    [
      { name: 'x', inputs: { a: { pattern: '(?=x)' } }, run },
      'its input "a": "pattern" is not a pattern that can be matched in linear time',
    ],
    [
      { name: 'x', inputs: { a: { type: 'list', items: { type: 'tuple' } } }, run },
      'its input "a": "items.type" must be one of string, integer, number, boolean, list, array, object, null, or a list of them',
    ],
    [
      { name: 'x', inputs: { a: { type: 'integer', default: 'many' } }, run },
      'its input "a": "default" must be a whole number, not a string',
    ],
    [
      { name: 'x', inputs: { a: { enum: ['b', 'c'], default: 'd' } }, run },
      'its input "a": "default" must be one of "b", "c", not "d"',
    ],
    [{ name: 'x', inputs: {}, version: 2, run }, 'its "version" must be a string'],
    [
      { name: 'x', inputs: { a: { properties: { b: { itmes: {} } } } }, run },
      'its input "a": "properties.b.itmes" is no keyword of JSON Schema; did you mean "items"?',
    ],
    [
      { name: 'x', inputs: { a: { properties: { b: { contains: { type: 'strng' } } } } }, run },
      'its inputs are not a valid JSON Schema (2020-12)',
    ],
  ];
  for (const [value, expected] of wrongs) {
    it(`rejects ${JSON.stringify(value)} with a reason`, () => {
      expect(() => parseTool(value, 'it')).to.throw(expected);
    });
  }

  it('gives the reason already when a program defines such a tool, a function or a source (D48)', () => {
    const declared = { name: 'x', description: '', run, fetch: run } as const;
    const inputs = { a: { type: 'int' } } as unknown as InputDeclarations;
    const reason = '"x" cannot be defined: its input "a" has no valid type; write type: integer';
    for (const define of [defineTool, defineFunction, defineSource])
      expect(() => define({ ...declared, inputs })).to.throw(TypeError, reason);
    const without = { name: 'x', description: '' } as unknown as Parameters<typeof defineTool>[0];
    expect(() => defineTool(without)).to.throw(TypeError, '"x" cannot be defined: it has no function "run"');
    expect(() => defineTool({ ...without, run })).to.throw(TypeError, 'its "inputs" must be an object');
  });

  it('loads neither a schema compiler nor linear patterns for the built-in tools: a run must start fast', () => {
    const catalog = builtinCatalog();
    const tools = [...catalog.names().flatMap((name) => catalog.get(name) ?? []), ...BUILTIN_FUNCTIONS];
    const schemas = tools.map(({ inputs }) => ({ properties: Object.fromEntries(Object.entries(inputs)) }));
    const written = JSON.stringify(schemas);
    for (const keyword of REFUSED_KEYWORDS) expect(written).not.to.include(`"${keyword}":`);
  });

  it('takes list for array at any depth, and hands JSON Schema to whoever knows only that (D4)', () => {
    const inputs = {
      a: {
        type: 'list',
        items: { type: ['list', 'null'], items: { type: 'object', properties: { type: { const: 'list' } } } },
        default: ['list'],
      },
      b: {
        type: 'object',
        properties: { list: { type: 'list', enum: [['list']], contains: { type: 'list' } } },
      },
    };
    const tool = parseTool({ name: 'x', inputs, run }, 'it') as Tool;
    expect(tool.inputs).to.deep.equal({
      a: {
        description: '',
        type: 'array',
        items: {
          type: ['array', 'null'],
          items: { type: 'object', properties: { type: { const: 'list' } } },
        },
        default: ['list'],
      },
      b: {
        description: '',
        type: 'object',
        properties: { list: { type: 'array', enum: [['list']], contains: { type: 'array' } } },
      },
    });
    const errorsOf = (values: JsonObject): unknown => validateInputs(tool, values);
    expect(errorsOf({ a: [1] })).to.deep.equal({
      ok: false,
      errors: ['input "a[0]" must be a list or null, not a number'],
    });
    expect(errorsOf({ a: [[{ type: 'list' }], null] })).to.have.property('ok', true);
  });

  it('accepts every keyword of JSON Schema in items and properties, and a pattern of any length (D48)', () => {
    const inputs = {
      a: { type: 'list', items: { type: 'string' }, default: [] },
      b: { type: 'array', items: { $ref: '#/properties/a' } },
      c: { type: 'object', properties: { d: { type: 'array', uniqueItems: true, contains: { const: 1 } } } },
      e: { type: 'string', pattern: '^[a-z]{1,900}[0-9]{1,900}$', format: 'jsonata' },
    };
    const tool = parseTool({ name: 'x', inputs, run }, 'it') as Tool;
    expect(tool.inputs['a']).to.include({ type: 'array' });
  });

  it('accepts the inputs of every built-in tool, so none has a field that nothing checks', () => {
    const catalog = builtinCatalog();
    const tools = catalog.names().flatMap((name) => catalog.get(name) ?? []);
    expect(tools.length).to.be.above(10);
    for (const { name, inputs } of [...tools, ...BUILTIN_FUNCTIONS])
      expect(() => parseTool({ name, inputs, run }, name)).not.to.throw();
  });

  it('checks bounds of texts and lists (D48)', () => {
    const inputs = { a: { type: 'string', maxLength: 2 }, b: { type: 'list', minItems: 1, maxItems: 2 } };
    const tool = parseTool({ name: 'x', inputs, run }, 'it') as Tool;
    const accepts = (values: JsonObject): boolean => validateInputs(tool, values).ok;
    expect([
      accepts({ a: 'ab', b: [1] }),
      accepts({ a: 'abc' }),
      accepts({ b: [] }),
      accepts({ b: [1, 2, 3] }),
    ]).to.deep.equal([true, false, false, false]);
  });

  it('accepts a plain object by its shape, and returns the same tool for it again', () => {
    const value = { name: 'x', inputs: { a: { type: 'array', items: { type: 'string' } } }, run };
    const tool = parseTool(value, 'it');
    expect(tool).to.deep.include({ name: 'x', description: '', openInputs: false });
    expect(parseTool(value, 'it')).to.equal(tool);
  });

  it('remembers that a tool must not be called twice (D68)', () => {
    expect(parseTool({ name: 'x', inputs: {}, repeatable: false, run }, 'it')).to.have.property(
      'repeatable',
      false,
    );
  });
});
