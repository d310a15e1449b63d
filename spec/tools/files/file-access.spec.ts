import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { fileAccess } from '../../../lib/tools/files/file-access.js';
import { catchToolMessage } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('fileAccess (D51)', () => {
  let folder: TemporaryFolder;
  let roots: string[];

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('one/both.txt', 'from one');
    folder.write('one/deep/inner.txt', 'inner');
    folder.write('two/both.txt', 'from two');
    folder.write('two/only.txt', 'only two');
    folder.write('outside/secret.txt', 'secret');
    folder.write('one-more/secret.txt', 'secret');
    roots = [folder.at('one'), folder.at('two')];
  });

  afterEach(() => folder.remove());

  async function read(path: string, allowed = roots, limitBytes?: number): Promise<string> {
    return (await fileAccess(allowed, limitBytes).read(path)).bytes.toString();
  }

  const catchMessage = (path: string, allowed = roots, limitBytes?: number): Promise<string> =>
    catchToolMessage(read(path, allowed, limitBytes));

  it('looks up a relative path in each root in turn', async () => {
    expect(await read('both.txt')).to.equal('from one');
    expect(await read('only.txt')).to.equal('only two');
    expect(await read('./deep//inner.txt')).to.equal('inner');
  });

  it('returns the real path of the file', async () => {
    symlinkSync(folder.at('one/both.txt'), folder.at('two/link.txt'));
    const { path } = await fileAccess(roots).read('link.txt');
    expect(path).to.equal(folder.at('one/both.txt'));
  });

  it('accepts an absolute path inside a root', async () => {
    expect(await read(folder.at('two/only.txt'))).to.equal('only two');
  });

  it('accepts roots that are relative, symbolic links or missing', async () => {
    symlinkSync(folder.at('one'), folder.at('alias'));
    expect(await read('both.txt', [relative(process.cwd(), folder.at('one'))])).to.equal('from one');
    expect(await read('both.txt', [folder.at('none'), folder.at('alias')])).to.equal('from one');
    expect(await read(folder.at('alias/both.txt'), [folder.at('alias')])).to.equal('from one');
    expect(await read(folder.at('one/both.txt'), [folder.at('alias')])).to.equal('from one');
  });

  it('follows a symbolic link that stays inside the roots', async () => {
    symlinkSync(folder.at('two/only.txt'), folder.at('one/link.txt'));
    expect(await read('link.txt')).to.equal('only two');
  });

  it('lists the searched folders for a missing file', async () => {
    expect(await catchMessage('none.txt')).to.equal(
      `cannot read "none.txt": there is no such file. Looked in ${roots.join(', ')}`,
    );
    expect(await catchMessage('both.txt/deeper.txt')).to.contain('there is no such file');
    expect(await catchMessage(folder.at('one/none.txt'))).to.contain('there is no such file');
  });

  it('rejects every path that leaves the roots, and names the allowed folders', async () => {
    symlinkSync(folder.at('outside/secret.txt'), folder.at('one/link.txt'));
    symlinkSync(folder.at('outside'), folder.at('one/linked'));
    symlinkSync('../outside', folder.at('one/relative'));
    const paths = [
      '../outside/secret.txt',
      'deep/../../outside/secret.txt',
      'deep/../both.txt',
      '..',
      '..\\outside\\secret.txt',
      folder.at('outside/secret.txt'),
      folder.at('one-more/secret.txt'),
      `${folder.at('one')}/../outside/secret.txt`,
      'link.txt',
      'linked/secret.txt',
      'relative/secret.txt',
      folder.at('one/link.txt'),
      '/etc/passwd',
      '/proc/self/environ',
    ];
    for (const path of paths) {
      expect(await catchMessage(path), path)
        .to.contain(`${roots.join(', ')} may be read`)
        .and.contain('SERVICE_FILE_ROOTS');
    }
  });

  it('does not reveal whether a file outside exists', async () => {
    const [there, missing] = [folder.at('outside/secret.txt'), folder.at('outside/none.txt')];
    expect((await catchMessage(there)).replace(there, '')).to.equal(
      (await catchMessage(missing)).replace(missing, ''),
    );
  });

  it('rejects invalid paths', async () => {
    expect(await catchMessage('')).to.contain('the path is empty');
    expect(await catchMessage('both.txt\0.md')).to.contain('NUL');
    expect(await catchMessage('x'.repeat(5000))).to.contain('its name is too long');
    symlinkSync('loop', folder.at('one/loop'));
    expect(await catchMessage('loop')).to.contain('its symbolic links lead in a circle');
  });

  it('rejects every path when no folder is allowed', async () => {
    expect(await catchMessage('both.txt', [])).to.contain('tools may read no files here');
  });

  it('rejects a folder, a pipe, a socket and a device without blocking', async () => {
    execFileSync('mkfifo', [folder.at('one/pipe')]);
    mkdirSync(folder.at('one/folder'));
    expect(await catchMessage('pipe')).to.contain('not a regular file');
    expect(await catchMessage('folder')).to.contain('it is a folder');
    expect(await catchMessage('.')).to.contain('it is a folder');
    expect(await catchMessage('null', ['/dev'])).to.contain('not a regular file');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder.path, 'one/socket'), resolve));
    try {
      expect(await catchMessage('socket')).to.contain('not a regular file');
    } finally {
      server.close();
    }
  });

  it('rejects a file over the size limit, and reads one exactly at it', async () => {
    expect(await read('both.txt', roots, 8)).to.equal('from one');
    expect(await catchMessage('both.txt', roots, 7)).to.contain('larger than the limit of');
    folder.write('one/big.bin', new Uint8Array(10 * 2 ** 20 + 1));
    expect(await catchMessage('big.bin')).to.contain('larger than the limit of 10 MiB');
  });

  it('limits a file that reports no size', async function () {
    if (process.platform !== 'linux') this.skip();
    expect(await read('self/status', ['/proc'])).to.contain('Name:');
    expect(await catchMessage('self/status', ['/proc'], 10)).to.contain('larger than the limit');
  });

  it('reads an empty file', async () => {
    folder.write('one/empty.txt', '');
    expect(await read('empty.txt')).to.equal('');
  });
});
