import { existsSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { WavetrainError } from '../../lib/common/errors.js';
import { decodeUtf8, describeErrno, isPathInside, makeFolders } from '../../lib/common/files.js';
import { catchRejection } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('describeErrno', () => {
  const withCode = (code: string): Error => Object.assign(new Error(`${code}: raw message`), { code });

  it('explains the common codes of the system', () => {
    expect(describeErrno(withCode('ENOENT'))).to.equal('there is no such file');
    expect(describeErrno(withCode('EPERM'))).to.equal('permission denied');
    expect(describeErrno(withCode('ENOSPC'))).to.equal('the disk is full');
  });

  it('returns other codes of the system unchanged', () => {
    expect(describeErrno(withCode('EBUSY'))).to.equal('EBUSY');
    const unnamed = new Error("Unknown system error -116: stat '/real/target'");
    Object.assign(unnamed, { code: 'Unknown system error -116' });
    expect(describeErrno(unnamed)).to.equal('Unknown system error -116');
  });

  it('returns the message of any other error', () => {
    expect(describeErrno(new WavetrainError('bad_usage', 'bad file'))).to.equal('bad file');
    expect(describeErrno(withCode('ERR_INVALID_ARG_TYPE'))).to.equal('ERR_INVALID_ARG_TYPE: raw message');
    expect(describeErrno('text')).to.equal('text');
  });
});

describe('decodeUtf8', () => {
  it('decodes UTF-8 and drops a byte order mark', () => {
    expect(decodeUtf8(Buffer.from('\ufeffGrüße'))).to.equal('Grüße');
    expect(decodeUtf8(Buffer.alloc(0))).to.equal('');
  });

  it('throws on other bytes, and recognises UTF-16', () => {
    expect(() => decodeUtf8(Buffer.from('Grüße', 'latin1'))).to.throw(
      'it is not UTF-8 text; save it as UTF-8',
    );
    expect(() => decodeUtf8(Buffer.from('\ufeffa', 'utf16le'))).to.throw('it looks like UTF-16');
  });

  it('decodes again after an error', () => {
    expect(() => decodeUtf8(Buffer.from([0xe2, 0x82]))).to.throw('UTF-8');
    expect(decodeUtf8(Buffer.from('ok'))).to.equal('ok');
  });
});

describe('isPathInside', () => {
  it('accepts the folder itself and everything below it', () => {
    expect(isPathInside('/a/b', '/a/b')).to.equal(true);
    expect(isPathInside('/a/b/c', '/a/b')).to.equal(true);
    expect(isPathInside('/a/b/..c', '/a/b')).to.equal(true);
  });

  it('rejects the parent and a sibling with the same prefix', () => {
    expect(isPathInside('/a', '/a/b')).to.equal(false);
    expect(isPathInside('/a/bc', '/a/b')).to.equal(false);
  });
});

describe('makeFolders', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  it('creates what is missing, with its mode, also when several do so at once', async () => {
    const path = folder.at('a/b/c');
    await Promise.all(Array.from({ length: 10 }, () => makeFolders(path, 0o700)));
    expect(statSync(path).mode & 0o777).to.equal(0o700);
    await makeFolders(path);
  });

  it('rejects where a file is in the way', async () => {
    folder.write('file', 'text');
    expect(await catchRejection(makeFolders(folder.at('file/b')))).to.have.property('code', 'EEXIST');
    expect(await catchRejection(makeFolders(folder.at('file')))).to.have.property('code', 'EEXIST');
  });

  it('rejects where the system creates no folders, as in /proc', async function () {
    if (!existsSync('/proc/self')) this.skip();
    for (const path of ['/proc/x', '/proc/x/y/z'])
      expect(await catchRejection(makeFolders(path)), path).to.be.instanceOf(Error);
  });
});
