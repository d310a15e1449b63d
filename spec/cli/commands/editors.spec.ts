import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';
import { type Completion, YamlLanguageServer } from './yaml-language-server.js';

/** A pipeline with one task, and the line that names the schema, as `init` writes it. */
function pipelineWith(task: string): string {
  const lines = task.split('\n').map((line, index) => `${index === 0 ? '    - ' : '      '}${line}`);
  return `# yaml-language-server: $schema=pipeline.schema.json\npipeline:\n  id: p\n  goal: g\n  tasks:\n${lines.join('\n')}\n`;
}

function labelsOf(completions: readonly Completion[]): string[] {
  return completions.map(({ label }) => label);
}

describe('An editor with a YAML language server, in the folder that init wrote (D43)', () => {
  let folder: TemporaryFolder;
  let server: YamlLanguageServer;

  before(async () => {
    folder = new TemporaryFolder();
    const { status, stderr } = await invoke(['init'], { cwd: folder.path });
    expect(status, stderr).to.equal(0);
    server = await YamlLanguageServer.start(folder.path);
  });
  after(async () => {
    await server.close();
    folder.remove();
  });

  it('marks nothing in the pipeline of init', async () => {
    expect(
      await server.validate('pipeline.yaml', readFileSync(folder.at('pipeline.yaml'), 'utf8')),
    ).to.deep.equal([]);
  });

  it('completes the names of tools, with their descriptions', async () => {
    const completions = await server.complete('names.yaml', pipelineWith('id: a\ntool: |'));
    expect(labelsOf(completions)).to.include.members(['store', 'transform', 'price_order', 'write_report']);
    const own = completions.find(({ label }) => label === 'price_order');
    expect(JSON.stringify(own?.documentation)).to.include('Computes the price of an order');
  });

  it('completes the fields of a task, each once, whatever the number of tools', async () => {
    const fields = labelsOf(await server.complete('fields.yaml', pipelineWith('id: a\n|')));
    expect(fields).to.include.members(['tool', 'inputs', 'await']);
    expect(fields.filter((field, index) => fields.indexOf(field) !== index)).to.deep.equal([]);
    expect(fields).to.have.length.below(20);
  });

  it('completes the inputs of the tool, and their values', async () => {
    const inputs = await server.complete(
      'inputs.yaml',
      pipelineWith('id: a\ntool: price_order\ninputs:\n  |'),
    );
    expect(labelsOf(inputs)).to.include.members(['order', 'discount']).and.not.to.include('key');
    const values = await server.complete(
      'values.yaml',
      pipelineWith('id: a\ntool: store\ninputs:\n  append: |'),
    );
    expect(labelsOf(values)).to.include.members(['true', 'false']);
  });

  const marked: [title: string, task: string, message: RegExp][] = [
    ['a tool that does not exist', 'id: a\ntool: price_orders', /^7: Value is not accepted.*"price_order"/],
    [
      'an unknown input',
      'id: a\ntool: store\ninputs: { key: a, value: 1, apend: true }',
      /^8: Property apend/,
    ],
    ['a missing input', 'id: a\ntool: store\ninputs: { key: a }', /^8: Missing property "value"/],
    ['a task without inputs whose tool needs some', 'id: a\ntool: store', /^6: Missing property "inputs"/],
    [
      'a value of the wrong type',
      'id: a\ntool: price_order\ninputs: { order: {}, discount: much }',
      /^8: Incorrect type\. Expected "number"/,
    ],
    ['an unknown field', 'id: a\ntool: mock\nretri: 1', /^8: Property retri/],
  ];
  for (const [title, task, message] of marked) {
    it(`marks ${title}`, async () => {
      const [first = '', ...others] = await server.validate(`${title}.yaml`, pipelineWith(task));
      expect(first).to.match(message);
      expect(others).to.deep.equal([]);
    });
  }

  it('accepts a template in place of any value', async () => {
    const task = 'id: a\ntool: price_order\ninputs: { order: "{{item}}", discount: "{{params.d}}" }';
    expect(await server.validate('templates.yaml', pipelineWith(task))).to.deep.equal([]);
  });
});
