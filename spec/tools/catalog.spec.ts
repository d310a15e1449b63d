import { expect } from 'chai';
import { WavetrainError } from '../../lib/common/errors.js';
import { builtinCatalog, Catalog } from '../../lib/tools/catalog.js';
import { mock } from '../../lib/tools/builtin/testing/mock.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { defineTool } from '../../lib/tools/tool.js';

const fetchData = defineTool({
  name: 'fetch_records',
  description: 'Fetches a data set',
  inputs: {
    source: { type: 'string', required: true, description: 'where from' },
    period_type: { enum: ['annual', 'quarterly'], default: 'annual', description: 'how long' },
    anything: { description: 'whatever' },
  },
  output: { name: 'records', description: 'rows', type: 'array' },
  run: () => [],
});

describe('Catalog', () => {
  it('finds tools by their own names only', () => {
    const catalog = new Catalog([mock, fetchData]);
    expect(catalog.get('fetch_records')).to.equal(fetchData);
    expect(['constructor', '__proto__', 'fetch'].map((name) => catalog.get(name))).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('lists names and metadata in alphabetical order', () => {
    const catalog = new Catalog([mock, fetchData]);
    expect(catalog.names()).to.deep.equal(['fetch_records', 'mock']);
    expect(catalog.metadata().map(({ name }) => name)).to.deep.equal(['fetch_records', 'mock']);
  });

  it('describes a tool with all fields of its metadata (Tool metadata)', () => {
    expect(new Catalog([fetchData]).metadata()).to.deep.equal([
      {
        name: 'fetch_records',
        description: 'Fetches a data set',
        inputs: {
          source: {
            name: 'source',
            description: 'where from',
            required: true,
            default: null,
            type: 'string',
          },
          period_type: {
            name: 'period_type',
            description: 'how long',
            required: false,
            default: 'annual',
            enum: ['annual', 'quarterly'],
          },
          anything: { name: 'anything', description: 'whatever', required: false, default: null },
        },
        output: { name: 'records', description: 'rows', type: 'array' },
      },
    ]);
  });

  it('rejects two own tools with one name, but accepts the same tool twice', () => {
    const impostor = { ...fetchData };
    expect(() => new Catalog([fetchData, impostor]))
      .to.throw(WavetrainError, 'two tools named "fetch_records"')
      .with.property('code', 'bad_tool_file');
    expect(new Catalog([fetchData, mock, fetchData, mock]).names()).to.deep.equal(['fetch_records', 'mock']);
  });

  describe('an own tool with the name of a built-in one (D58)', () => {
    const ownMock = defineTool({ name: 'mock', description: 'mine', inputs: {}, run: () => 'mine' });

    it('replaces it, whichever comes first, and the metadata say so', () => {
      for (const catalog of [
        builtinCatalog().with([ownMock]),
        new Catalog([
          ownMock,
          ...builtinCatalog()
            .names()
            .flatMap((name) => builtinCatalog().get(name) ?? []),
        ]),
      ]) {
        expect(catalog.get('mock')).to.equal(ownMock);
        expect([catalog.isBuiltin('mock'), catalog.isBuiltin('store')]).to.deep.equal([false, true]);
        const replacing = catalog.metadata().filter((tool) => tool.replaces_builtin === true);
        expect(replacing.map(({ description }) => description)).to.deep.equal(['mine']);
      }
    });

    it('is replaced by no further own tool, and by no variant of the built-in one', () => {
      const catalog = builtinCatalog().with([ownMock]);
      expect(() => catalog.with([{ ...ownMock }])).to.throw(WavetrainError, 'two tools named "mock"');
      expect(() => builtinCatalog().with([ownMock, { ...ownMock }])).to.throw(WavetrainError, 'mock');
      const variant = { ...mock };
      expect(catalog.withVariant(variant).get('mock')).to.equal(ownMock);
      const configured = builtinCatalog().withVariant(variant);
      expect([configured.get('mock'), configured.isBuiltin('mock')]).to.deep.equal([variant, true]);
      expect(configured.with([ownMock]).get('mock')).to.equal(ownMock);
    });

    it('is called by pipelines, and is not taken for the built-in one by the validator', () => {
      const store = defineTool({
        name: 'store',
        description: 'mine',
        inputs: {},
        openInputs: true,
        run: () => 1,
      });
      const text =
        '{id: p, goal: g, tasks: [{id: a, tool: store, inputs: {key: k}}, {id: b, tool: mock, await: [a], inputs: {x: "{{session.k}}"}}]}';
      const { statistics, contract, tasks } = parsePipeline(text, { tools: [store] });
      expect(tasks.get('a')?.tool).to.equal(store);
      expect(statistics.store_keys).to.deep.equal([]);
      expect([contract.mayStoreMore, contract.readsUnknownKey, [...contract.stores]]).to.deep.equal([
        true,
        true,
        [],
      ]);
    });
  });

  it('returns another catalog when tools are added', () => {
    const small = new Catalog([mock]);
    expect(small.with([fetchData]).names()).to.deep.equal(['fetch_records', 'mock']);
    expect(small.names()).to.deep.equal(['mock']);
    expect(small.with([{ ...mock }]).get('mock')).not.to.equal(mock);
  });

  it('contains the built-in tools (D22, D49)', () => {
    expect(builtinCatalog().names()).to.deep.equal([
      'assert',
      'command',
      'compute',
      'copy_file',
      'export',
      'extract_fields',
      'extract_from_tables',
      'extract_from_texts',
      'fail',
      'fetch_data',
      'http_request',
      'ingest_document',
      'list_files',
      'llm_job',
      'load_schema',
      'mock',
      'read_file',
      'run_pipeline',
      'search_web',
      'select',
      'sleep',
      'sql_query',
      'store',
      'transform',
      'write_file',
    ]);
  });

  it('describes the built-in tools completely as JSON', () => {
    const metadata = builtinCatalog().metadata();
    expect(JSON.parse(JSON.stringify(metadata))).to.deep.equal(metadata);
    for (const tool of metadata) {
      const texts = [tool, tool.output, ...Object.values(tool.inputs)].map(({ description }) => description);
      expect(
        texts.every((text) => text.length > 0),
        tool.name,
      ).to.equal(true);
    }
  });
});
