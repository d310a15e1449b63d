import { symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { messageOf, ToolError } from '../../../lib/common/errors.js';
import { readRegularFile } from '../../../lib/tools/files/regular-file.js';
import { rejectionOf } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('readRegularFile', () => {
  let folder: TemporaryFolder;

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('inside/file.txt', 'content');
  });

  afterEach(() => folder.remove());

  async function refusal(real: string): Promise<string> {
    const error = await rejectionOf(readRegularFile(real, 'asked.txt', 100));
    expect(error).to.be.instanceOf(ToolError).with.property('retryable', false);
    return messageOf(error);
  }

  it('gives the bytes of a file', async () => {
    expect((await readRegularFile(folder.at('inside/file.txt'), 'asked.txt', 100)).toString()).to.equal(
      'content',
    );
  });

  it('does not follow a link that has taken the place of the file', async () => {
    symlinkSync('inside/file.txt', folder.at('link.txt'));
    expect(await refusal(folder.at('link.txt'))).to.equal(
      'cannot read "asked.txt": it was replaced while it was opened',
    );
  });

  it('does not follow a link that has taken the place of a folder above it', async () => {
    symlinkSync('inside', folder.at('linked'));
    expect(await refusal(folder.at('linked/file.txt'))).to.contain('it was replaced while it was opened');
  });

  it('says when the file has gone', async () => {
    expect(await refusal(folder.at('gone.txt'))).to.equal('cannot read "asked.txt": it has gone');
  });
});
