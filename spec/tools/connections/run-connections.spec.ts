import { chmodSync } from 'node:fs';
import { expect } from 'chai';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type {
  Connection,
  ConnectionSource,
  ObjectStoreConnection,
} from '../../../lib/tools/connections/connection.js';
import { RunConnections } from '../../../lib/tools/connections/run-connections.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { invoke } from '../../cli/invoke.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { toolContext } from '../../support/tool-context.js';

const URL = 'postgres://reader:sesame%2D98765@db.internal/sales';

const SOURCE: ConnectionSource = {
  find: (tenantId, name) =>
    tenantId === 'default' && name === 'warehouse' ? { type: 'database', url: URL } : undefined,
  namesOf: (tenantId) => (tenantId === 'default' ? ['warehouse'] : []),
};

const tell = defineTool({
  name: 'tell',
  description: 'Tells what a connection is.',
  inputs: {
    connection: { description: 'its name', type: 'string', required: true },
    fails: { description: 'fails with it', type: 'boolean', default: false },
  },
  run({ connection, fails }, { connections, log }) {
    const found = connections.get(connection);
    if (found.type !== 'database') throw new Error('it is no database');
    log(`the url is ${found.url}`);
    if (fails) throw new Error(`sesame-98765 was refused: ${found.url}`);
    return { url: found.url, password: 'sesame-98765', [found.url]: 1 };
  },
});

describe('The connections of a run (D92)', () => {
  it('are those of its tenant: another tenant has none of them', () => {
    const { connections } = toolContext({ tenant_id: 'acme', connections: SOURCE });
    expect(() => connections.get('warehouse'))
      .to.throw(
        'there is no connection "warehouse": the file of SERVICE_CONNECTIONS has none of the tenant "acme"',
      )
      .with.property('retryable', false);
  });

  it('say which there are when a name is missing', () => {
    const { connections } = toolContext({ tenant_id: 'default', connections: SOURCE });
    expect(() => connections.get('warehous')).to.throw('did you mean "warehouse"?');
    expect(() => connections.get('lake')).to.throw('there is no connection "lake": there are warehouse');
    expect(() => toolContext().connections.get('lake')).to.throw('SERVICE_CONNECTIONS names the file');
  });

  it('accept the URL of a database, and hide its password', () => {
    const hidden: string[] = [];
    const { connections } = toolContext({ hide: (values) => hidden.push(...values) });
    expect(connections.ofUrl(URL)).to.deep.equal({ type: 'database', url: URL });
    expect(hidden).to.deep.equal([URL, 'sesame-98765', 'sesame%2D98765']);
    expect(() => connections.ofUrl('https://u:sesame-98765@host')).to.throw(
      /^the url must begin with postgres/,
    );
  });

  it('are masked in outputs, their keys, events and errors (D61)', async () => {
    const told: string[] = [];
    const executor = new LocalExecutor({ connections: SOURCE });
    const pipeline = parsePipeline(
      `{id: p, goal: g, tasks: [
        {id: a, tool: tell, inputs: {connection: warehouse}},
        {id: b, tool: tell, inputs: {connection: warehouse, fails: true}, on_error: continue}]}`,
      { tools: [tell] },
    );
    const id = await executor.submit({ pipeline }, (event) => told.push(JSON.stringify(event)));
    told.push(JSON.stringify(await executor.getResult(id)));
    expect(told.join('\n'))
      .to.include('{"url":"***","password":"***","***":1}')
      .and.to.include('*** was refused');
    expect(told.join('\n')).not.to.include('98765');
  });

  describe('of a bucket', () => {
    const store = (buckets?: readonly string[]): ObjectStoreConnection => ({
      type: 's3',
      endpoint: 'https://s3.example.com',
      region: 'r',
      accessKeyId: 'key',
      secretAccessKey: 'secret',
      pathStyle: false,
      ...(buckets !== undefined && { buckets }),
    });
    const choose = (
      connections: Readonly<Record<string, Connection>>,
      bucket: string,
      name?: string,
    ): string => {
      const source = {
        find: (_: string, each: string) => connections[each],
        namesOf: () => Object.keys(connections),
      };
      const found = new RunConnections(source, 'acme', () => undefined).ofBucket(bucket, name);
      return Object.keys(connections).find((each) => connections[each] === found) ?? '';
    };
    const database: Connection = { type: 'database', url: 'sqlite:a.db' };

    it('are the named one, else the only one that lists it, else the only one of an object store', () => {
      const connections = { database, all: store(), some: store(['in', 'out']) };
      expect(choose(connections, 'in')).to.equal('some');
      expect(choose(connections, 'in', 'all')).to.equal('all');
      expect(choose({ database, all: store() }, 'in')).to.equal('all');
    });

    it('are refused with what to write', () => {
      const two = { a: store(['in']), b: store(['in']) };
      expect(() => choose(two, 'in')).to.throw(
        'several connections list it: write "connection: NAME" with one of a, b',
      );
      expect(() => choose(two, 'other')).to.throw(
        'no connection lists it: write "connection: NAME" with one of a, b',
      );
      expect(() => choose({ database }, 'in')).to.throw('no connection leads to the bucket "in": add one');
      expect(() => choose({ database }, 'in', 'database')).to.throw('is a database, and no object store');
      expect(() => choose({ a: store(['in']) }, 'out')).to.throw('is for the buckets in, and not for "out"');
      expect(() => choose({ a: store(['in']) }, 'in', 'b')).to.throw('there is no connection "b"');
    });
  });

  const folder = new TemporaryFolder();
  after(() => folder.remove());

  it('come from the file of SERVICE_CONNECTIONS in a shell, and are masked in what it prints', async () => {
    chmodSync(folder.write('c.yaml', `default: {warehouse: {url: "${URL}"}}`), 0o600);
    const { status, stdout, stderr } = await invoke(['run', '-', '--verbose'], {
      cwd: folder.path,
      env: { SERVICE_CONNECTIONS: 'c.yaml' },
      openCatalog: async () => builtinCatalog().with([tell]),
      input: '{id: p, goal: g, tasks: [{id: a, tool: tell, inputs: {connection: warehouse}}]}',
    });
    expect(stderr).to.include('the url is ***');
    expect(status).to.equal(0);
    expect(stdout + stderr).not.to.include('98765');
  });
});
