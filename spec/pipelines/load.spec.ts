import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { readDefinitionText } from '../../lib/pipelines/load.js';
import { catchRejection } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('Reading a definition file', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
  });

  afterEach(() => folder.remove());

  /** Returns the reason why a file is not read, without the path. */
  async function loadErrorMessage(name: string): Promise<string> {
    const file = folder.at(name);
    const error = await catchRejection(readDefinitionText(file));
    expect(error).to.have.property('code', 'unreadable_file');
    return error instanceof Error ? error.message.replaceAll(file, 'FILE') : '';
  }

  it('follows links and accepts a byte order mark', async () => {
    folder.write('marked', '\uFEFFid: é');
    symlinkSync(folder.at('marked'), folder.at('link'));
    expect(await readDefinitionText(folder.at('link'))).to.equal('id: é');
  });

  it('rejects a file that is not entirely UTF-8', async () => {
    folder.write('utf16', Buffer.from('\uFEFFid: p', 'utf16le'));
    folder.write('binary', new Uint8Array([0x61, 0xff, 0x62]));
    expect(await loadErrorMessage('utf16')).to.equal(
      'cannot read "FILE": it looks like UTF-16; save it as UTF-8',
    );
    expect(await loadErrorMessage('binary')).to.contain('it is not UTF-8 text');
  });

  it('rejects a file that is longer than a definition may be', async () => {
    folder.write('large', Buffer.alloc(16 * 2 ** 20 + 1, 0x20));
    expect(await loadErrorMessage('large')).to.equal(
      'cannot read "FILE": it is larger than the limit of 16 MiB',
    );
  });

  it('rejects missing files and pipes without waiting', async () => {
    execFileSync('mkfifo', [folder.at('pipe')]);
    symlinkSync('circle', folder.at('circle'));
    folder.write('file', '');
    expect(await loadErrorMessage('pipe')).to.contain('it is not a regular file');
    expect(await loadErrorMessage('.')).to.equal('cannot read "FILE": it is a folder: name a file in it');
    expect(await loadErrorMessage('absent')).to.equal('cannot read "FILE": there is no such file');
    expect(await loadErrorMessage('file/absent')).to.equal('cannot read "FILE": there is no such file');
    expect(await loadErrorMessage('circle')).to.equal(
      'cannot read "FILE": its symbolic links lead in a circle',
    );
  });
});
