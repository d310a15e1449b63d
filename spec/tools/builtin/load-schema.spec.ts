import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { fileAccess } from '../../../lib/tools/files/file-access.js';
import { parseTool } from '../../../lib/tools/loading/parse-tool.js';
import { createField, defineSchema } from '../../../lib/tools/schemas/schema.js';
import type { Tool } from '../../../lib/tools/tool.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import { catchToolMessage } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { toolContext } from '../../support/tool-context.js';

const CASES: readonly { source: Json; gives: Json }[] = JSON.parse(
  readFileSync(new URL('../schemas/load-schema-cases.json', import.meta.url), 'utf8'),
);

const invoice = defineSchema({
  name: 'invoice',
  description: 'an invoice',
  fields: ['number', { name: 'total', type: 'number', required: false }],
});

const catalog = builtinCatalog().with([invoice]);

describe('load_schema (D49)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  async function load(source: Json, others: JsonObject = {}): Promise<JsonObject> {
    const tool = catalog.get('load_schema') as Tool;
    const checked = validateInputs(tool, { source, ...others });
    if (!checked.ok) throw new Error(checked.errors.join());
    const context = toolContext({ files: fileAccess([folder.path]) });
    return (await tool.run(checked.inputs, context)) as JsonObject;
  }

  const catchMessage = (source: Json): Promise<string> => catchToolMessage(load(source));

  async function loadNames(source: Json): Promise<unknown> {
    return ((await load(source))['fields'] as JsonObject[]).map(({ name }) => name);
  }

  for (const { source, gives } of CASES) {
    it(`reads ${JSON.stringify(source)} as recorded`, async () => {
      expect(await load(source)).to.deep.equal(gives);
    });
  }

  it('reads fields from .json, .yaml and .yml files, and names the file', async () => {
    folder.write('a.json', '{"fields": [{"name": "x", "type": "number", "section": "face"}]}');
    folder.write('b.yaml', 'fields:\n  - name: y\n    required: false\n');
    folder.write('c.yml', '- z\n');
    expect(await load('a.json')).to.deep.equal({
      fields: [{ ...createField('x'), type_hint: 'number', section: 'face' }],
      source: 'a.json',
      raw: { fields: [{ name: 'x', type: 'number', section: 'face' }] },
      task_id: null,
    });
    expect(await load('b.yaml')).to.deep.include({ fields: [{ ...createField('y'), required: false }] });
    expect(await loadNames('c.yml')).to.deep.equal(['z']);
  });

  it('says what is wrong with a file', async () => {
    folder.write('bad.yaml', 'fields:\n  - name: "x\n');
    folder.write('long.json', JSON.stringify(['x'.repeat(300_000)]));
    folder.write('nameless.json', '[{"type": "number"}]');
    expect(await catchMessage('bad.yaml')).to.match(/cannot read "bad.yaml": not YAML: .* \(line \d\)/);
    expect(await catchMessage('long.json')).to.contain('longer than 256 KiB');
    expect(await catchMessage('nameless.json')).to.contain('field 1 of "nameless.json" has no name');
    expect(await catchMessage('none.json')).to.contain('there is no such file');
  });

  it('finds a registered schema by its name', async () => {
    expect(await load('invoice', { task_id: 't' })).to.deep.equal({
      fields: [createField('number'), { ...createField('total'), type_hint: 'number', required: false }],
      source: 'invoice',
      raw: ['number', { name: 'total', type: 'number', required: false }],
      task_id: 't',
    });
  });

  it('fails for a name that is not registered, with the names there are, and for other texts', async () => {
    expect(await catchMessage('invoce')).to.equal(
      'there is no schema "invoce": the schemas are invoice; name a .json, .yaml or .yml file, or pass the fields',
    );
    expect(await catchMessage('https://example.com/schema')).to.contain('there is no schema');
    expect(await catchMessage(5)).to.equal('"source" is a number, not a file, a name or a schema');
  });

  it('takes a schema as it is', async () => {
    const schema = await load({ revenue: 'number' });
    expect(await load(schema)).to.deep.equal(schema);
  });

  it('takes the columns of a document: from its metadata, of its CSV, or the first cells of its tables', async () => {
    expect(await loadNames({ pages: [], metadata: { columns: ['a', 'b', 'a'] } })).to.deep.equal(['a', 'b']);
    expect(await loadNames({ pages: [], metadata: { headers: ['h'] } })).to.deep.equal(['h']);
    expect(await loadNames({ format: 'csv', text: 'x', columns: ['c'] })).to.deep.equal(['c']);
    const text =
      '| Item | 2024 |\n|:---|---|\n| **Revenue** | 5 |\n| 12 | 1 |\n|  | 2 |\n| _Costs_ | 3 |\nprose | x |';
    const { fields, source } = await load({ source: '/a.md', pages: [{ text }] }, { hint: 'in millions' });
    expect(source).to.equal('/a.md');
    expect(fields).to.deep.equal(
      ['Item', 'Revenue', 'Costs'].map((name) => createField(name, 'in millions')),
    );
    expect(await catchMessage({ pages: [{ text: 'prose' }], source: 'p.txt' })).to.contain(
      'the document "p.txt" has neither columns nor Markdown tables',
    );
  });

  it('rejects a JSON Schema, fields of the wrong kind, and too many fields', async () => {
    expect(await catchMessage({ type: 'object', properties: { a: {} } })).to.contain('is a JSON Schema');
    expect(await catchMessage({ a: [1] })).to.equal('"type" of "a" of "source" must be a text, not a list');
    expect(await catchMessage([{ name: 'a', required: 'yes' }])).to.contain('must be true or false');
    expect(await catchMessage(Array.from({ length: 10_001 }, () => 'x'))).to.contain(
      'a schema may have 10000',
    );
  });

  it('shows its schemas in the metadata, and takes schemas from tool files', () => {
    const metadata = catalog.metadata().find(({ name }) => name === 'load_schema');
    expect(metadata?.schemas).to.deep.equal([{ name: 'invoice', description: 'an invoice' }]);
    expect(parseTool({ ...invoice }, 'it')).to.deep.equal(invoice);
    expect(() => parseTool({ ...invoice, fields: [1] }, 'it')).to.throw('it is not a schema: field 1');
    expect(() => parseTool({ kind: 'schema', name: 's' }, 'it')).to.throw('has no list "fields"');
    expect(() => catalog.with([{ ...invoice }])).to.throw('two schemas named "invoice"');
  });
});
