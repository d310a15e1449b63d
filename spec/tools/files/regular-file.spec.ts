import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { readRegularFile } from '../../../lib/tools/files/regular-file.js';
import { catchToolMessage } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('readRegularFile', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('inside/file.txt', 'content');
  });

  afterEach(() => folder.remove());

  const catchMessage = (real: string): Promise<string> =>
    catchToolMessage(readRegularFile(real, 'asked.txt', 100));

  it('reads the bytes of a file', async () => {
    expect((await readRegularFile(folder.at('inside/file.txt'), 'asked.txt', 100)).toString()).to.equal(
      'content',
    );
  });

  it('detects a symbolic link that has replaced the file', async () => {
    symlinkSync('inside/file.txt', folder.at('link.txt'));
    expect(await catchMessage(folder.at('link.txt'))).to.equal(
      'cannot read "asked.txt": it was replaced while it was opened',
    );
  });

  it('detects a symbolic link that has replaced a folder above the file', async () => {
    symlinkSync('inside', folder.at('linked'));
    expect(await catchMessage(folder.at('linked/file.txt'))).to.contain(
      'it was replaced while it was opened',
    );
  });

  it('reports a file that was removed after its path was resolved', async () => {
    expect(await catchMessage(folder.at('gone.txt'))).to.equal(
      'cannot read "asked.txt": it was removed while it was opened',
    );
  });
});
