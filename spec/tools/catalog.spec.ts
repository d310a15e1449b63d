import { expect } from 'chai';
import { WavetrainError } from '../../lib/common/errors.js';
import { builtinCatalog, Catalog } from '../../lib/tools/catalog.js';
import { mock } from '../../lib/tools/builtin/fail-mock-sleep-store.js';
import { defineTool } from '../../lib/tools/tool.js';

const fetchData = defineTool({
  name: 'fetch_data',
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
    expect(catalog.get('fetch_data')).to.equal(fetchData);
    expect(['constructor', '__proto__', 'fetch'].map((name) => catalog.get(name))).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('lists names and metadata in alphabetical order', () => {
    const catalog = new Catalog([mock, fetchData]);
    expect(catalog.names()).to.deep.equal(['fetch_data', 'mock']);
    expect(catalog.metadata().map(({ name }) => name)).to.deep.equal(['fetch_data', 'mock']);
  });

  it('describes a tool with all fields of its metadata (Tool metadata)', () => {
    expect(new Catalog([fetchData]).metadata()).to.deep.equal([
      {
        name: 'fetch_data',
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

  it('rejects two tools with one name, but accepts the same tool twice', () => {
    const impostor = { ...mock };
    expect(() => new Catalog([mock, impostor]))
      .to.throw(WavetrainError, 'two tools named "mock"')
      .with.property('code', 'bad_tool_file');
    expect(new Catalog([mock, mock]).names()).to.deep.equal(['mock']);
  });

  it('returns another catalog when tools are added', () => {
    const small = new Catalog([mock]);
    expect(small.with([fetchData]).names()).to.deep.equal(['fetch_data', 'mock']);
    expect(small.names()).to.deep.equal(['mock']);
    expect(() => small.with([{ ...mock }])).to.throw(WavetrainError, 'mock');
  });

  it('contains the built-in tools (D22, D49)', () => {
    expect(builtinCatalog().names()).to.deep.equal([
      'fail',
      'ingest_document',
      'mock',
      'run_pipeline',
      'sleep',
      'store',
      'transform',
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
