import { expect } from 'chai';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter } from 'node:path';
import { readServerWriteRoots } from '../../../lib/cli/input/write-roots.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

describe('SERVICE_WRITE_ROOTS of a server (D92)', () => {
  const folder = useTemporaryFolder();

  const read = (env: Record<string, string>): readonly string[] =>
    readServerWriteRoots({ env, cwd: folder.path });

  it('names folders, from the working directory', () => {
    expect(read({})).to.deep.equal([]);
    expect(read({ SERVICE_WRITE_ROOTS: ['written', '/srv/other'].join(delimiter) })).to.deep.equal([
      folder.at('written'),
      '/srv/other',
    ]);
  });

  for (const [title, env] of [
    ['with the pipelines in it', { SERVICE_WRITE_ROOTS: '.', SERVICE_PIPELINES: 'pipelines' }],
    ['among the pipelines', { SERVICE_WRITE_ROOTS: 'pipelines/written', SERVICE_PIPELINES: 'pipelines' }],
    ['that every tenant may read', { SERVICE_WRITE_ROOTS: 'data/written', SERVICE_FILE_ROOTS: 'data' }],
    ['with the store in it', { SERVICE_WRITE_ROOTS: 'data', SERVICE_STORE: 'data/runs.db' }],
    ['with the keys in it', { SERVICE_WRITE_ROOTS: 'data', SERVICE_API_KEYS_FILE: 'data/keys.yaml' }],
    [
      'with the connections in it',
      { SERVICE_WRITE_ROOTS: 'data', SERVICE_CONNECTIONS: 'data/connections.yaml' },
    ],
    ['that a link leads to', { SERVICE_WRITE_ROOTS: 'link', SERVICE_PIPELINES: 'pipelines' }],
  ] as const) {
    it(`refuses a folder ${title}`, () => {
      mkdirSync(folder.at('pipelines'));
      symlinkSync(folder.at('pipelines'), folder.at('link'));
      expect(() => read(env)).to.throw('SERVICE_WRITE_ROOTS shares a folder with');
    });
  }

  it('allows a folder beside the files of the server', () => {
    const env = { SERVICE_WRITE_ROOTS: 'data/written', SERVICE_STORE: 'data/runs.db' };
    expect(read(env)).to.deep.equal([folder.at('data/written')]);
  });
});
