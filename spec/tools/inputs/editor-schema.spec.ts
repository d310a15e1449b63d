import { Ajv } from 'ajv';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { createToolSchema } from '../../../lib/tools/inputs/editor-schema.js';
import { findLiteralInputProblems } from '../../../lib/tools/inputs/literal-inputs.js';
import { defineTool, type InputDeclarations, type Tool } from '../../../lib/tools/tool.js';
import { cases } from '../../support/measuring/cases.js';

function toolWith(inputs: InputDeclarations, openInputs = false): Tool {
  return defineTool({ name: 'probe', description: 'a tool', inputs, openInputs, run: () => null });
}

/** Returns a function that is true for inputs of a task in which an editor marks nothing. */
function accepts(tool: Tool): (inputs: Json) => boolean {
  const validate = new Ajv({ strict: false }).compile(createToolSchema(tool).inputs);
  return (inputs) => validate(inputs);
}

const NESTED: InputDeclarations = {
  rows: {
    type: 'list',
    description: '',
    items: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'integer', minimum: 1 }, kind: { enum: ['a', 'b'] } },
      additionalProperties: false,
    },
  },
  pair: {
    type: 'list',
    description: '',
    items: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
  },
  open: {
    type: 'object',
    description: '',
    properties: { x: { patternProperties: { '^a': {} }, additionalProperties: false } },
  },
  tree: { type: 'object', description: '', properties: { left: { $ref: '#/properties/tree' } } },
  either: {
    type: 'object',
    description: '',
    properties: { x: { anyOf: [{ type: 'integer' }, { const: 'a' }] } },
  },
  limit: { type: 'integer', default: null, description: '' },
  only: { enum: [['a', 'b'], 'all'], description: '' },
};

describe('createToolSchema (D43)', () => {
  const accepted = accepts(toolWith(NESTED));

  const right: [title: string, inputs: JsonObject][] = [
    ['values', { rows: [{ id: 1, kind: 'a' }], either: { x: 'a' }, limit: 3 }],
    [
      'templates in place of whole values',
      { rows: '{{a.output}}', either: '{{a.output}}', limit: '{{a.output}}' },
    ],
    [
      'templates inside lists and objects',
      { rows: [{ id: '{{item}}', kind: 'b{{item}}' }], either: { x: '{{b}}' } },
    ],
    ['a template inside a list of which some are allowed', { only: ['a', '{{b.output}}'] }],
    ['null where it is the default', { limit: null }],
    ['what keywords of 2020-12 allow that draft-07 lacks', { pair: [['a']], open: { x: { ab: 1 } } }],
    ['what a reference leads to', { tree: { left: { left: {} } } }],
  ];
  for (const [title, inputs] of right) {
    it(`lets an editor accept ${title}`, () => {
      expect(accepted(inputs)).to.equal(true);
    });
  }

  const wrong: [title: string, inputs: JsonObject][] = [
    ['a text without a template', { limit: 'three' }],
    ['a wrong type inside a list', { rows: [{ id: 'one' }] }],
    ['a value that is not allowed', { rows: [{ id: 1, kind: 'c' }] }],
    ['a missing key', { rows: [{ kind: 'a' }] }],
    ['an unknown key', { rows: [{ id: 1, more: 1 }] }],
    ['a number that is too small', { rows: [{ id: 0 }] }],
    ['a value that matches no branch', { either: { x: 'b' } }],
    ['an unknown input', { row: [] }],
  ];
  for (const [title, inputs] of wrong) {
    it(`lets an editor mark ${title}`, () => {
      expect(accepted(inputs)).to.equal(false);
    });
  }

  it('accepts any inputs of a tool with open inputs', () => {
    expect(accepts(toolWith({}, true))({ a: 1 })).to.equal(true);
    expect(accepts(toolWith({}))({ a: 1 })).to.equal(false);
  });

  it('requires inputs only when the tool does', () => {
    const needs = createToolSchema(toolWith({ a: { required: true, description: '' } }));
    expect([needs.needsInputs, createToolSchema(toolWith(NESTED)).needsInputs]).to.deep.equal([true, false]);
    expect(accepts(toolWith(NESTED))(null)).to.equal(true);
  });

  it('marks nothing in which the validator finds no problem', () => {
    const value = fc.constantFrom<Json>(
      null,
      true,
      0,
      1,
      2.5,
      '',
      'a',
      '{{x.output}}',
      'n {{x.output}}',
      {},
      [],
    );
    const row = fc.constantFrom<Json>(
      { id: 1, kind: 'a' },
      { id: '{{x.output}}' },
      { id: 0 },
      'a',
      '{{x.output}}',
    );
    const tool = toolWith({
      ...NESTED,
      text: { type: 'string', minLength: 1, pattern: 'a', description: '' },
      choice: { enum: ['a', 1, null], description: '' },
      ratio: { type: 'number', maximum: 1, default: 0.5, description: '' },
      flag: { type: 'boolean', description: '' },
      as_is: { type: 'object', verbatim: true, description: '' },
    });
    const names = Object.keys(tool.inputs).filter((name) => name !== 'rows');
    const inputs = fc
      .tuple(
        fc.dictionary(fc.constantFrom(...names, 'unknown'), value, { maxKeys: 2 }),
        fc.array(row, { maxLength: 2 }),
      )
      .map(([others, rows]): JsonObject => ({ ...others, rows }));
    const accepted = accepts(tool);
    let valid = 0;
    fc.assert(
      fc.property(inputs, (given) => {
        if ([...findLiteralInputProblems(tool, given)].length > 0) return;
        valid++;
        expect(accepted(given)).to.equal(true);
      }),
      cases(2000),
    );
    expect(valid).to.be.above(50);
  });
});
