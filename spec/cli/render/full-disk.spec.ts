import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKeysFile } from '../../../lib/http/auth/keys-file.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

/** A file can grow to this size; a write beyond it is cut, as on a full disk, and the next one fails. */
const KIBIBYTES = 4;

/** Runs the command with a limit on the size of files: two blocks of 512 bytes for each KiB. */
function withSmallDisk(argv: readonly string[], folder: TemporaryFolder, env: NodeJS.ProcessEnv = {}) {
  const limited = `ulimit -f ${2 * KIBIBYTES} && exec "$0" "$@"`;
  const command = [process.execPath, join(ROOT, 'bin/wavetrain.js'), ...argv];
  return spawnSync('sh', ['-c', limited, ...command], {
    cwd: folder.path,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder.path, NODE_DISABLE_COMPILE_CACHE: '1', ...env },
  });
}

describe('the command line on a full disk', () => {
  before(() => requireBuild());
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());

  it('keys new leaves the keys file whole and says that no key was added (D37)', async () => {
    const entries = Array.from({ length: 28 }, (_, i) => {
      const sha256 = i.toString(16).padStart(64, '0');
      return `- { name: "k${i}", sha256: "${sha256}", tenants: ["default"], scopes: ["read"] }\n`;
    });
    // Leaves room for a part of the next entry.
    const text = `${`${entries.join('')}# `.padEnd(KIBIBYTES * 1024 - 50, 'x')}\n`;
    const path = folder.write('keys.yaml', text);
    const { status, stdout, stderr } = withSmallDisk(['keys', 'new', '--file', 'keys.yaml'], folder);
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.equal(
      'wavetrain: cannot add a key to keys.yaml: it would be larger than a file may be; nothing was changed\n',
    );
    expect(readFileSync(path, 'utf8')).to.equal(text);
    expect(await readKeysFile(path)).to.have.length(28);
    expect(readdirSync(folder.path)).to.deep.equal(['keys.yaml']);
  });

  it('init leaves none of its files, whole or empty', () => {
    const { status, stderr } = withSmallDisk(['init'], folder);
    expect(status).to.equal(2);
    expect(stderr).to.match(/cannot write .*pipeline\.schema\.json: it would be larger/);
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files).to.deep.equal([]);
  });

  it('leaves no part of a compile cache behind', () => {
    const env = { NODE_DISABLE_COMPILE_CACHE: '', XDG_CACHE_HOME: folder.at('cache') };
    expect(withSmallDisk(['--version'], folder, env).status).to.equal(0);
    expect(existsSync(folder.at('cache/wavetrain'))).to.equal(true);
    expect(readdirSync(folder.at('cache/wavetrain'))).to.deep.equal([]);
  });
});
