import { expect } from 'chai';
import { textOfHint } from '../../../lib/definition/problems/hint.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { findLiteralInputProblems } from '../../../lib/tools/inputs/literal-inputs.js';

function problems(tool: string, inputs: JsonObject): string[] {
  const found = builtinCatalog().get(tool);
  if (found === undefined) throw new Error(`there is no tool ${tool}`);
  return [...findLiteralInputProblems(found, inputs)].map(
    ({ path, message, hint = '' }) => `${path.join('.')}: ${message}; ${textOfHint(hint)}`,
  );
}

const fieldProblems = (schema: Json): string[] => problems('extract_fields', { document: 'x', schema });

describe('inputs of tools that ask language models, as they are written (D50)', () => {
  const inputs: Record<string, JsonObject> = {
    llm_job: { prompt: 'x' },
    extract_fields: { document: 'x', schema: ['a'] },
    extract_from_texts: { document: 'x', prompt: 'x' },
    extract_from_tables: { document: 'x', prompt: 'x' },
    select: { document: 'x', prompt: 'x', by: 'model' },
    ingest_document: { path: 'x', ocr: true },
  };
  for (const [tool, others] of Object.entries(inputs)) {
    it(`${tool} refuses a model of an unknown provider before the run`, () => {
      const find = (model: string): string[] =>
        problems(tool, { ...others, model }).filter((problem) => problem.startsWith('model:'));
      expect(find('foo/bar').join())
        .to.contain('"foo/bar", which is no model')
        .and.contain('openai/gpt-4o-mini');
      expect(find('gpt-4o').join()).to.contain('write provider/model');
      expect(find('opnai/gpt-4o').join()).to.contain('did you mean "openai/gpt-4o"?');
      expect(find('openai/').join()).to.contain('which is no model');
      expect(find('mock/other').join()).to.contain('use mock/echo or mock/recorded');
      for (const fine of [
        'openai/x',
        'ollama/hf.co/x/y:3b',
        'mock/echo',
        '{{params.model}}',
        '{{a.output}}/b',
      ])
        expect(find(fine), fine).to.deep.equal([]);
    });
  }

  it('extract_fields refuses a period that names no date', () => {
    const find = (period_end: string): string[] =>
      problems('extract_fields', { document: 'x', schema: ['a'], period_end });
    expect(find('next year').join()).to.contain(
      'period_end: input "period_end" is "next year", which is no date',
    );
    for (const fine of ['2024-12-31', 'FY2024', '{{params.end}}']) expect(find(fine), fine).to.deep.equal([]);
  });

  const wrong: [string, Json, string][] = [
    ['a text', 'buyer, price', 'schema: input "schema" is a text, not the fields'],
    ['a number', 3, 'schema: input "schema" cannot be used'],
    ['a field without a name', [{ type: 'number' }], 'has no name'],
    ['a type in a JSON Schema', { properties: { a: { type: 'strin' } } }, 'schema.properties.a.type: '],
    ['a property that is no schema', { properties: { a: 'number' } }, 'must be a schema'],
    [
      'a type by name',
      { price: 'numbr' },
      'schema.price: input "schema.price" is "numbr", which is no type (tool "extract_fields"); did you mean "number"?',
    ],
    ['a type of a field', [{ name: 'a', type: 'strin' }], 'schema.0.type: '],
    [
      'a type of a field in fields',
      { fields: [{ name: 'a', type_hint: 'bolean' }] },
      'schema.fields.0.type_hint: ',
    ],
    ['a type of an object by name', { a: { type: 'intger' } }, 'did you mean "integer"?'],
  ];
  for (const [title, schema, words] of wrong) {
    it(`extract_fields refuses in its schema before the run: ${title}`, () => {
      expect(fieldProblems(schema).join('\n')).to.contain(words);
    });
  }

  it('extract_fields takes every form of a schema, hints in words, and what templates give', () => {
    const fine: Json[] = [
      ['a', { name: 'b' }],
      { fields: ['a', { name: 'b', type: 'date' }] },
      {
        a: 'number',
        b: 'text in English',
        c: 'date',
        d: 'currency',
        e: 'list of names',
        f: 'numbers',
        g: null,
      },
      { a: { type: 'string', description: 'x' } },
      { type: 'object', properties: { a: { type: 'string' }, b: { type: ['number', 'null'] } } },
      '{{schema.output}}',
      { fields: '{{schema.output}}' },
      ['{{params.field}}'],
      {},
    ];
    for (const schema of fine) expect(fieldProblems(schema), JSON.stringify(schema)).to.deep.equal([]);
  });
});
