import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import { fileAccess, serverFileAccess } from '../../../../lib/tools/files/file-access.js';
import { TRANSFER_LIMITS } from '../../../../lib/tools/files/transfer-limits.js';
import { deferred } from '../../../support/deferred.js';
import { parsePlan } from '../../../support/definitions/parse-plan.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { connectionsOf, S3Server } from '../../files/object-stores/s3-server.js';
import { loopbackNetwork } from '../../fetching/loopback-server.js';

describe('Runs with files and object stores (D92)', () => {
  const folder = useTemporaryFolder();
  let server: S3Server;

  beforeEach(async () => {
    server = await S3Server.start('bucket');
  });
  afterEach(() => server.close());

  const createRegistry = (files = fileAccess([folder.path])): RunRegistry =>
    new RunRegistry({
      connections: connectionsOf({ files: server.connection({ secretAccessKey: 'S3RVER' }) }),
      network: loopbackNetwork(),
      artifactFolder: folder.at('runs'),
      files,
    });

  const parse = (tasks: string) => parsePipeline(`{id: spec, goal: g, tasks: [${tasks}]}`);

  async function run(tasks: string, registry = createRegistry(), tenant_id = 'tenant'): Promise<RunRecord> {
    return registry.settled(await registry.submit({ pipeline: parse(tasks), tenant_id }));
  }

  it('list objects, read them in a fan-out, and copy files of the run', async () => {
    folder.write('a.csv', 'x,y\n1,2\n');
    const record = await run(
      `{id: up, tool: copy_file, inputs: {from: a.csv, to: "s3://bucket/in/a.csv"}},
       {id: list, tool: list_files, await: [up], inputs: {path: "s3://bucket/in", pattern: "*.csv"}},
       {id: rows, tool: ingest_document, parallel_over: "{{list.output.files}}", inputs: {path: "{{item.path}}"}},
       {id: report, tool: export, inputs: {filename: report.json, data: "{{rows.output.0.rows}}"}},
       {id: down, tool: copy_file, inputs: {from: "{{report.output}}", to: "s3://bucket/out/report.json"}},
       {id: read, tool: read_file, await: [down], inputs: {path: "s3://bucket/out/report.json", output: json}}`,
    );
    expect(record.error).to.equal(null);
    expect(record.result?.outputs?.['read']).to.deep.equal([{ x: 1, y: 2 }]);
    expect(record.artifacts.map(({ name }) => name)).to.deep.equal(['report.json']);
  });

  it('run a pipeline that is an object, and read objects that the inputs of a plan name', async () => {
    const called = '{id: called, goal: g, tasks: [{id: t, tool: mock, inputs: {x: 7}}]}';
    const schema = 'fields: [{name: company}]';
    const record = await run(
      `{id: put, tool: write_file, inputs: {path: "s3://bucket/called.yaml", content: '${called}'}},
       {id: more, tool: write_file, inputs: {path: "s3://bucket/schema.yaml", content: '${schema}'}},
       {id: call, tool: run_pipeline, await: [put], inputs: {file: "s3://bucket/called.yaml"}}`,
    );
    expect(record.error).to.equal(null);
    expect(record.result?.outputs?.['call']).to.have.nested.property('outputs.t.inputs.x', 7);
    const plan =
      parsePlan(`{id: plan, goal: g, inputs: {schema: none}, sub_pipelines: [{id: p, goal: g, inputs: [schema], pipeline:
      {id: p, goal: g, inputs: {schema: none}, tasks: [{id: t, tool: load_schema, inputs: {source: "{{pipeline.inputs.schema}}"}}]}}]}`);
    const registry = createRegistry();
    const id = await registry.submitPlan({
      plan,
      inputs: { schema: 's3://bucket/schema.yaml' },
      tenant_id: 'tenant',
    });
    expect((await registry.settled(id)).error).to.equal(null);
    const [task] = (await registry.tasks(id)).tasks;
    expect(JSON.stringify(task?.output)).to.contain('company');
  });

  it('give a tenant its connections only, and show no key of one', async () => {
    const read = '{id: t, tool: read_file, inputs: {path: "s3://bucket/S3RVER"}}';
    expect((await run(read, createRegistry(), 'other')).error).to.contain(
      'no connection leads to the bucket "bucket"',
    );
    const { error } = await run(read);
    expect(error).to.contain('there is no such object').and.not.contain('S3RVER');
  });

  it('end the transfer of a run that is cancelled, and abort its upload', async () => {
    folder.write('large.bin', Buffer.alloc(3 * TRANSFER_LIMITS.partBytes));
    const [begun, aborted] = [deferred<void>(), deferred<void>()];
    server.intercept = (request) => {
      // The second part is never answered.
      if (request.url?.includes('partNumber=2') === true) begun.resolve();
      if (request.method === 'DELETE') aborted.resolve();
      return request.url?.includes('partNumber=2') === true;
    };
    const registry = createRegistry();
    const runId = await registry.submit({
      pipeline: parse('{id: t, tool: copy_file, inputs: {from: large.bin, to: "s3://bucket/large.bin"}}'),
      tenant_id: 'tenant',
    });
    await begun.promise;
    await registry.cancel(runId, { force: true });
    expect((await registry.settled(runId)).status).to.equal('cancelled');
    await aborted.promise;
    expect(server.aborted).to.have.length(1);
  });

  it('write for each tenant of a server into a folder of its own', async () => {
    const registry = createRegistry(serverFileAccess([], [folder.at('written')]));
    const write = '{id: t, tool: write_file, inputs: {path: notes/a.txt, content: hello}}';
    const { result } = await run(write, registry, 'acme');
    expect(result?.outputs?.['t']).to.include({ path: 'notes/a.txt', size: 5 });
    expect(readFileSync(folder.at('written/acme/notes/a.txt'), 'utf8')).to.equal('hello');
    const read = '{id: t, tool: read_file, inputs: {path: notes/a.txt}}';
    expect((await run(read, registry, 'acme')).result?.outputs?.['t']).to.equal('hello');
    expect((await run(read, registry, 'other')).error).to.contain('there is no such file');
  });
});
