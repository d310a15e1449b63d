import { expect } from 'chai';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import { toolContext } from '../../support/tool-context.js';

/** True when two types are the same; the compiler rejects `exactly<A, B>(true)` otherwise. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

function exactly<A, B>(same: Same<A, B>): void {
  expect(same).to.equal(true);
}

function run(tool: Tool, inputs: JsonObject): unknown {
  const checked = validateInputs(tool, inputs);
  return checked.ok ? tool.run(checked.inputs, toolContext()) : checked.errors;
}

describe('The types of the inputs of a tool, which follow from its declaration (D48)', () => {
  it('have the type of the items of a list, which may be called list or array', () => {
    const tool = defineTool({
      name: 'join',
      description: '',
      inputs: {
        words: { type: 'list', items: { type: 'string' }, required: true, description: '' },
        counts: { type: 'array', items: { type: 'integer' }, default: null, description: '' },
        choices: { type: 'list', items: { enum: ['a', 'b'] }, description: '' },
        nested: { type: 'list', items: { type: 'array', items: { type: 'boolean' } }, description: '' },
        anything: { type: 'list', description: '' },
      },
      run: ({ words, counts, choices, nested, anything }) => {
        exactly<typeof words, string[]>(true);
        exactly<typeof counts, number[] | null>(true);
        exactly<typeof choices, ('a' | 'b')[] | undefined>(true);
        exactly<typeof nested, boolean[][] | undefined>(true);
        exactly<typeof anything, Json[] | undefined>(true);
        return words.map((word) => word.toUpperCase()).join(' ');
      },
    });
    expect(run(tool, { words: ['a', 'b'] })).to.equal('A B');
    expect(run(tool, { words: 'a' })).to.deep.equal(['input "words" must be a list, not a string']);
    expect(run(tool, { words: [1] })).to.deep.equal(['input "words[0]" must be a string, not a number']);
    expect(tool.inputs).to.have.nested.property('words.type', 'array');
  });

  it('have the types of the properties of an object, and which of them are always present', () => {
    const tool = defineTool({
      name: 'greet',
      description: '',
      inputs: {
        person: {
          type: 'object',
          required: true,
          properties: { name: { type: 'string' }, age: { type: ['integer', 'null'], default: null } },
          description: '',
        },
        rows: {
          type: 'list',
          default: [],
          items: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'integer' }, label: { type: 'string' } },
            additionalProperties: false,
          },
          description: '',
        },
        open: { type: 'object', default: {}, description: '' },
      },
      run: ({ person, rows, open }) => {
        exactly<typeof person.name, string | undefined>(true);
        exactly<typeof person.age, number | null>(true);
        exactly<(typeof person)['other'], Json>(true);
        exactly<typeof open, JsonObject>(true);
        for (const row of rows) {
          exactly<typeof row.id, number>(true);
          exactly<typeof row.label, string | undefined>(true);
        }
        return `${person.name ?? 'nobody'} ${person.age} ${rows.map(({ id }) => id + 1).join()}`;
      },
    });
    expect(run(tool, { person: { name: 'Ada' }, rows: [{ id: 1 }] })).to.equal('Ada null 2');
    expect(run(tool, { person: {}, rows: [{ id: 1, more: 2 }] })).to.deep.equal([
      'input "rows[0]" may not contain "more"',
    ]);
  });

  it('are any JSON where the declaration says nothing, and the listed values where it does', () => {
    defineTool({
      name: 'probe',
      description: '',
      inputs: {
        any: { description: '' },
        mode: { enum: ['fast', 'slow'], default: 'fast', description: '' },
        fixed: { type: 'object', properties: { kind: { const: 'x' }, other: {} }, description: '' },
      },
      run: ({ any, mode, fixed }) => {
        exactly<typeof any, Json | undefined>(true);
        exactly<typeof mode, 'fast' | 'slow'>(true);
        exactly<NonNullable<typeof fixed>['kind'], 'x' | undefined>(true);
        return [any ?? null, mode, fixed?.other ?? null];
      },
    });
  });
});
