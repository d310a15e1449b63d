import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { serverFileAccess } from '../../../lib/tools/files/file-access.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { suiteServer } from '../support/suite-server.js';

const PATHS = [
  'missing.yaml',
  'docs/missing.yaml',
  '../outside.yaml',
  '/etc/passwd',
  '/etc/missing',
  'docs',
  'package.json',
  'README.md',
  '',
  'a\0b',
  `${'long/'.repeat(2000)}x`,
];

describe('Errors about files over HTTP (D51)', () => {
  const server = suiteServer();

  for (const [tool, input] of [
    ['ingest_document', 'path'],
    ['run_pipeline', 'file'],
  ] as const) {
    it(`show callers of ${tool} no folder of the server`, async () => {
      for (const path of PATHS) {
        const tasks = [{ id: 'a', tool, inputs: { [input]: '{{pipeline.inputs.path}}' } }];
        const pipeline = { id: 'p', goal: 'g', inputs: { path: '' }, tasks };
        const { body } = await server.request('POST', '/pipelines/run', { pipeline, inputs: { path } });
        expect(JSON.stringify(body), path).not.to.contain(process.cwd());
        const { runs } = server.registry.list({ limit: 1 });
        const record = await server.request('GET', `/pipelines/runs/${runs[0]?.run_id ?? ''}`);
        expect(JSON.stringify(record.body), path).not.to.contain(process.cwd());
      }
    });
  }

  it('name the path as the caller wrote it, and the setting that allows folders', async () => {
    const tasks = [{ id: 'a', tool: 'ingest_document', inputs: { path: 'missing.txt' } }];
    const { body } = await server.request<{ detail: { error: string } }>('POST', '/pipelines/run', {
      pipeline: { id: 'p', goal: 'g', tasks },
    });
    expect(body.detail.error).to.equal(
      'cannot read "missing.txt": there is no such file. Looked in the folders in SERVICE_FILE_ROOTS',
    );
  });
});

describe('serverFileAccess (D51)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  it('names no folder, not even for links that lead elsewhere and for roots that are none', async () => {
    const file = folder.write('roots/file.txt', 'x');
    const secret = folder.write('outside/secret.txt', 'x');
    symlinkSync(secret, folder.at('roots/link.txt'));
    const access = serverFileAccess([folder.at('roots'), folder.at('missing'), file]);
    for (const path of ['link.txt', 'none.txt', '../x', secret, '']) {
      const { message } = (await catchRejection(access.read(path))) as Error;
      expect(message.replace(`"${path}"`, ''), path).not.to.contain(folder.path);
    }
  });
});
