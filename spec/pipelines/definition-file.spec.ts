import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { readDefinition } from '../../lib/pipelines/load.js';
import { rejectionOf } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('the file of a definition', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
  });

  afterEach(() => folder.remove());

  /** Why a file is not read, without the path that it begins with. */
  async function why(name: string): Promise<string> {
    const file = folder.at(name);
    const error = await rejectionOf(readDefinition(file));
    expect(error).to.have.property('code', 'unreadable_file');
    return error instanceof Error ? error.message.replaceAll(file, 'FILE') : '';
  }

  it('is read through links, with or without a byte order mark', async () => {
    folder.write('marked', '\uFEFFid: é');
    symlinkSync(folder.at('marked'), folder.at('link'));
    expect(await readDefinition(folder.at('link'))).to.equal('id: é');
  });

  it('is a text in UTF-8, to the last byte', async () => {
    folder.write('utf16', Buffer.from('\uFEFFid: p', 'utf16le'));
    folder.write('binary', new Uint8Array([0x61, 0xff, 0x62]));
    expect(await why('utf16')).to.equal(
      '"FILE" is no UTF-8 text: it looks like UTF-16. Save it as UTF-8 first',
    );
    expect(await why('binary')).to.contain('it has bytes that mean nothing in UTF-8');
  });

  it('is not larger than a definition may be', async () => {
    folder.write('large', Buffer.alloc(16 * 2 ** 20 + 1, 0x20));
    expect(await why('large')).to.equal('cannot read "FILE": it is larger than the limit of 16 MiB');
  });

  it('is an ordinary file that is there: nobody waits for a pipe', async () => {
    execFileSync('mkfifo', [folder.at('pipe')]);
    symlinkSync('circle', folder.at('circle'));
    folder.write('file', '');
    expect(await why('pipe')).to.contain('it is not an ordinary file');
    expect(await why('.')).to.equal('cannot read "FILE": it is a folder: name a file in it');
    expect(await why('absent')).to.equal('cannot read "FILE": there is no such file');
    expect(await why('file/absent')).to.equal('cannot read "FILE": there is no such file');
    expect(await why('circle')).to.equal('cannot read "FILE": its symbolic links lead in a circle');
  });
});
