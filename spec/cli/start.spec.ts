import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { requireBuild, ROOT } from '../project/files.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('bin/start.cjs', () => {
  before(() => requireBuild());
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());

  const COMMAND = [process.execPath, join(ROOT, 'bin/wavetrain.js'), '--version'];

  function start(cacheHome: string, script = 'exec "$0" "$@"') {
    return spawnSync('sh', ['-c', script, ...COMMAND], {
      cwd: folder.path,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder.path, XDG_CACHE_HOME: cacheHome },
      timeout: 20_000,
    });
  }

  it('exits with 2 and a sentence when the working directory was deleted (D40)', () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
    const { status, stdout, stderr } = start('', script);
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.equal(
      'wavetrain: the working directory does not exist any more; change to another one\n',
    );
  });

  it('writes compiled code into the cache folder, whatever folders above it are missing', () => {
    expect(start(folder.at('a/b/cache')).status).to.equal(0);
    expect(readdirSync(folder.at('a/b/cache/wavetrain'))).to.have.length(1);
  });

  it('ignores a cache folder with a relative path, as the standard of XDG_CACHE_HOME demands', () => {
    expect(start('relative').status).to.equal(0);
    expect(readdirSync(folder.path)).to.deep.equal(['.cache']);
  });

  it('starts without a cache when its folder cannot be created', () => {
    for (const home of ['/proc/wavetrain', '/dev/null/wavetrain']) {
      expect(start(home)).to.include({ status: 0, stderr: '', signal: null });
    }
  });
});
