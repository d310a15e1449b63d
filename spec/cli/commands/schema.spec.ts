import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { parse } from 'yaml';
import { isTestFile } from '../../../lib/common/files.js';
import { detectKindOfText } from '../../../lib/definition/schema/root.js';
import { invoke } from '../invoke.js';

const EXAMPLES = join(import.meta.dirname, '../../../examples');
const TOOLS = join(EXAMPLES, '07-own-tool/tools.ts');
/** The functions of this file are values of an input. */
const FUNCTIONS = join(EXAMPLES, '13-credit/tools.ts');

describe('wavetrain schema pipeline', () => {
  let schema: Schema;
  before(async () => {
    const { status, stdout, stderr } = await invoke([
      'schema',
      'pipeline',
      '--tools',
      TOOLS,
      '--tools',
      FUNCTIONS,
    ]);
    expect(status, stderr).to.equal(0);
    expect(stderr).to.equal('');
    schema = JSON.parse(stdout);
  });

  it('prints one JSON Schema with its dialect, id and title', () => {
    expect(schema).to.include.keys('$schema', '$id', 'title');
  });

  it('prints a schema that accepts a pipeline, bare or under "pipeline" (D3), and nothing else', () => {
    const accepts = new Ajv({ strict: false }).compile(schema);
    const bare = { id: 'a', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };
    expect(accepts(bare)).to.equal(true);
    expect(accepts({ pipeline: bare })).to.equal(true);
    for (const wrong of [{}, [], { pipeline: {} }, { ...bare, task: [] }, { pipeline: bare, more: 1 }]) {
      expect(accepts(wrong)).to.equal(false);
    }
  });

  it('prints a schema that accepts every example pipeline', () => {
    const accepts = new Ajv({ strict: false }).compile(schema);
    const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.yaml'),
    );
    expect(files).not.to.deep.equal([]);
    for (const file of files) {
      const text = readFileSync(join(EXAMPLES, file), 'utf8');
      // The program of this example defines its tools.
      if (file.startsWith('09-library') || isTestFile(file)) continue;
      if (detectKindOfText(text) === 'pipeline') expect(accepts(parse(text)), file).to.equal(true);
    }
  });

  it('prints a schema of files of tests that accepts those of every example (D91)', async () => {
    const { stdout } = await invoke(['schema', 'test']);
    const accepts = new Ajv({ strict: false }).compile(JSON.parse(stdout) as object);
    const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter(isTestFile);
    expect(files).to.have.length.above(20);
    for (const file of files)
      expect(accepts(parse(readFileSync(join(EXAMPLES, file), 'utf8'))), file).to.equal(true);
    expect(accepts({ cases: [{ name: 'a', answer: {} }] })).to.equal(false);
  });

  it('knows the tools of --tools and SERVICE_TOOLS, and their inputs, as validate does (D43)', async () => {
    const task = (tool: string, inputs: object) => ({
      id: 'a',
      goal: 'g',
      tasks: [{ id: 't', tool, inputs }],
    });
    const plain = await invoke(['schema', 'pipeline']);
    const ofServer = await invoke(['schema', 'pipeline'], {
      env: { SERVICE_TOOLS: `${TOOLS}:${FUNCTIONS}` },
    });
    expect(JSON.parse(ofServer.stdout)).to.deep.equal(schema);
    const accepts = new Ajv({ strict: false }).compile(JSON.parse(plain.stdout));
    expect(accepts(task('store', { key: 'k', value: 1 }))).to.equal(true);
    expect(accepts(task('store', { key: 'k', value: 1, append: '{{params.append}}' }))).to.equal(true);
    expect(accepts(task('store', { key: 'k' }))).to.equal(false);
    expect(accepts(task('store', { key: 'k', value: 1, append: 'no' }))).to.equal(false);
    expect(accepts(task('stor', {}))).to.equal(false);
  });

  it('reports a tool file that cannot be loaded', async () => {
    const { status, stdout, stderr } = await invoke(['schema', 'pipeline', '--tools', './missing.ts']);
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.contain('cannot load tools from "./missing.ts"');
  });

  it('prints a schema that describes every field, for editors to show', () => {
    const { properties } = schema.definitions.pipeline;
    const fields = { ...properties, ...schema.definitions.task.properties };
    expect(fields).to.include.all.keys('goal', 'params', 'reads', 'parallel_over', 'await', 'retry');
    for (const [name, { description }] of Object.entries(fields)) expect(description, name).to.be.a('string');
  });
});

describe('wavetrain schema plan', () => {
  it('prints one JSON Schema that accepts a plan, bare or under "plan" (D43, D44), and nothing else', async () => {
    const { status, stdout, stderr } = await invoke(['schema', 'plan']);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    const schema: Record<string, unknown> = JSON.parse(stdout);
    expect(schema).to.include.keys('$schema', '$id', 'title');
    const accepts = new Ajv({ strict: false }).compile(schema);
    const bare = { id: 'a', sub_pipelines: [{ id: 's', stores: ['k'] }] };
    expect(accepts(bare)).to.equal(true);
    expect(accepts({ plan: bare })).to.equal(true);
    for (const wrong of [{}, { plan: {} }, { ...bare, sub: [] }, { pipeline: bare }]) {
      expect(accepts(wrong)).to.equal(false);
    }
  });
});

interface Schema {
  readonly definitions: {
    readonly task: { readonly properties: Record<string, Described> };
    readonly pipeline: { readonly properties: Record<string, Described> };
  };
}

interface Described {
  readonly description?: string;
  readonly items?: { readonly properties?: Record<string, Described> };
}
