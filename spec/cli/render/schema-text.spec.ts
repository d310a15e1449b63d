import { Ajv } from 'ajv';
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { kindOfDefinition } from '../../../lib/definition/schema/root.js';
import { invoke } from '../invoke.js';

const EXAMPLES = join(import.meta.dirname, '../../../examples');

describe('schema pipeline', () => {
  let schema: Schema;
  before(async () => {
    const { status, stdout, stderr } = await invoke(['schema', 'pipeline']);
    expect(status).to.equal(0);
    expect(stderr).to.equal('');
    schema = JSON.parse(stdout);
  });

  it('prints one JSON Schema, with its dialect, id and title', () => {
    expect(schema).to.include.keys('$schema', '$id', 'title');
  });

  it('accepts a definition under pipeline and a bare one (D3), and nothing else', () => {
    const accepts = new Ajv({ strict: false }).compile(schema);
    const bare = { id: 'a', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };
    expect(accepts(bare)).to.equal(true);
    expect(accepts({ pipeline: bare })).to.equal(true);
    for (const wrong of [{}, [], { pipeline: {} }, { ...bare, task: [] }, { pipeline: bare, more: 1 }]) {
      expect(accepts(wrong)).to.equal(false);
    }
  });

  it('accepts every example of a pipeline', () => {
    const accepts = new Ajv({ strict: false }).compile(schema);
    const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.yaml'),
    );
    expect(files).not.to.deep.equal([]);
    for (const file of files) {
      const text = readFileSync(join(EXAMPLES, file), 'utf8');
      if (kindOfDefinition(text) === 'pipeline') expect(accepts(parse(text)), file).to.equal(true);
    }
  });

  it('describes every field of a pipeline, for the editor to show', () => {
    const { properties } = schema.definitions.pipeline;
    const fields = { ...properties, ...properties['tasks']?.items?.properties };
    expect(fields).to.include.all.keys('goal', 'params', 'reads', 'parallel_over', 'await', 'retry');
    for (const [name, { description }] of Object.entries(fields)) expect(description, name).to.be.a('string');
  });
});

interface Schema {
  readonly definitions: { readonly pipeline: { readonly properties: Record<string, Described> } };
}

interface Described {
  readonly description?: string;
  readonly items?: { readonly properties?: Record<string, Described> };
}
