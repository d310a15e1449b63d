import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { ApiKey } from '../../../../lib/http/auth/authenticate.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { NamedPage } from '../../../../lib/library/named-pipeline.js';
import type { TestResult } from '../../../../lib/testing/pipelines/test-request.js';
import { createApiKey } from '../../../support/http/api-key.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const LOAD = `pipeline:
  id: load
  goal: g
  tasks:
    - { id: fetch, tool: http_request, retry: 1, retry_delay: 1h, inputs: { url: "http://127.0.0.1:9/" } }
    - { id: sum, tool: transform, inputs: { input: "{{fetch.output}}", expression: $sum($) } }
`;

const TESTS = `cases:
  - name: adds up
    answers: { fetch: [{ error: busy }, { output: [1, 2] }] }
    expect: { outputs: { sum: 3 } }
  - name: says nothing
`;

describe('POST /pipelines/{id}/test (D91)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  const start = async (keys?: readonly ApiKey[]): Promise<void> => {
    server = await startTestServer({ env: { SERVICE_PIPELINES: folder.path }, ...(keys && { keys }) });
    await server.restored;
  };
  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('here/load.yaml', LOAD);
  });
  afterEach(async () => {
    await server.close(0);
    folder.remove();
  });
  const run = (body: object = {}, id = 'load', headers?: Record<string, string>) =>
    server.request<TestResult & ErrorBody>('POST', `/pipelines/${id}/test`, body, headers);

  it('runs the tests beside the file: nothing is sent, and no run is kept', async () => {
    folder.write('here/load.test.yaml', TESTS);
    await start();
    const { status, body } = await run();
    expect(status).to.equal(200);
    expect(body).to.include({ file: 'here/load.test.yaml', ok: false, left_out: 0 });
    expect(
      body.cases.map(({ name, ok, problems }) => [name, ok, ...problems.map(({ message }) => message)]),
    ).to.deep.equal([
      ['adds up', true],
      [
        'says nothing',
        false,
        'the answer of task "fetch" is missing: the tool "http_request" may have effects, or read what is not in the test',
      ],
    ]);
    expect(body.coverage?.tasks).to.deep.equal({ total: 2, never: [] });
    const { body: runs } = await server.request<{ runs: unknown[] }>('GET', '/pipelines/runs');
    expect(runs.runs).to.deep.equal([]);
  });

  it('runs tests and a text that are not saved', async () => {
    await start();
    const text = LOAD.replace('$sum($)', '$count($)');
    const { body } = await run({ text, tests: TESTS.split('  - name: says')[0] });
    expect(body).to.include({ file: null, ok: false });
    expect(body.cases[0]?.problems[0]).to.deep.include({ message: 'outputs.sum must be 3, not 2', line: 4 });
    const invalid = await run({ text: LOAD.replace('transform', 'transfrom'), tests: TESTS });
    expect(invalid.body).to.include({ ok: false, in_definition: true });
    expect(invalid.body.problems[0]?.hint).to.equal('did you mean "transform"?');
  });

  it('says that there are none, and does not list a file of tests as a pipeline', async () => {
    folder.write('other.test.yaml', TESTS);
    await start();
    const { body } = await run();
    expect(body.problems.map(({ message }) => message)).to.deep.equal([
      'there are no tests beside it: write them into here/load.test.yaml',
    ]);
    const { body: page } = await server.request<NamedPage>('GET', '/pipelines');
    expect(page.pipelines.map(({ id, ok }) => [id, ok])).to.deep.equal([['load', true]]);
  });

  it('reads no file for a task', async () => {
    folder.write('here/inner.yaml', 'pipeline: { id: inner, goal: g, tasks: [{ id: a, tool: mock }] }');
    folder.write(
      'here/load.yaml',
      'pipeline: { id: load, goal: g, tasks: [{ id: r, tool: run_pipeline, inputs: { file: inner.yaml } }] }',
    );
    await start();
    const { body } = await run({ tests: 'cases: [{ name: reads }]' });
    expect(body.cases[0]?.problems[0]?.message).to.include(
      'tests on a server read no files: answer the task',
    );
  });

  it('is for keys with the scope edit, and the files of their tenant', async () => {
    folder.write('here/load.test.yaml', TESTS);
    await start([
      createApiKey('reader'),
      createApiKey('editor', ['default'], ['edit']),
      createApiKey('other', ['acme'], ['edit']),
    ]);
    const of = (name: string) => ({ Authorization: `Bearer ${name}` });
    expect((await run({}, 'load', of('reader'))).status).to.equal(403);
    expect((await run({}, 'load', of('editor'))).status).to.equal(200);
    expect((await run({}, 'load', of('other'))).status).to.equal(404);
  });

  it('refuses long texts', async () => {
    await start();
    const { status } = await run({ tests: `${TESTS}#${' '.repeat(300 * 1024)}` });
    expect(status).to.equal(413);
    expect(readFileSync(folder.at('here/load.yaml'), 'utf8')).to.equal(LOAD);
  });
});
