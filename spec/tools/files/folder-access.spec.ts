import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { errorMessage } from '../../../lib/common/errors.js';
import type { FileAccess, FolderAccess } from '../../../lib/tools/files/access.js';
import { fileAccess, serverFileAccess } from '../../../lib/tools/files/file-access.js';
import { catchRejection, catchToolMessage } from '../../support/rejection.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';

async function* text(...pieces: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}

function foldersOf({ folders }: FileAccess): FolderAccess {
  if (folders === undefined) throw new Error('there are no folders');
  return folders;
}

describe('The folders of fileAccess (D92)', () => {
  const folder = useTemporaryFolder();

  const shell = (): FileAccess =>
    fileAccess([folder.path], undefined, {
      writable: { folders: [folder.at('outputs')], base: folder.path },
    });

  const write = (path: string, isNew = false, access = shell()) =>
    foldersOf(access).write(path, text('a', 'b'), isNew);

  describe('write', () => {
    it('writes into the writable folder, wherever the path begins, and returns where a reader finds it', async () => {
      for (const path of ['a/b.txt', 'outputs/a/b.txt', folder.at('outputs/a/b.txt')]) {
        expect(await write(path)).to.deep.equal({ path: folder.at('outputs/a/b.txt'), size: 2 });
      }
      expect((await shell().read(folder.at('outputs/a/b.txt'))).bytes.toString()).to.equal('ab');
      expect(readdirSync(folder.at('outputs/a'))).to.deep.equal(['b.txt']);
    });

    it('replaces a file only when all of the new one is there, and leaves nothing of one that fails', async () => {
      folder.write('outputs/a.txt', 'before');
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('half');
        expect(readFileSync(folder.at('outputs/a.txt'), 'utf8')).to.equal('before');
        throw new Error('gone');
      }
      const failure = await catchRejection(foldersOf(shell()).write('a.txt', failing(), false));
      expect(errorMessage(failure)).to.equal('gone');
      expect(readFileSync(folder.at('outputs/a.txt'), 'utf8')).to.equal('before');
      expect(readdirSync(folder.at('outputs'))).to.deep.equal(['a.txt']);
    });

    it('leaves a file that is there when it should be new', async () => {
      expect(await write('a.txt', true)).to.have.property('size', 2);
      expect(await write('a.txt', true)).to.equal(undefined);
    });

    for (const [path, problem] of [
      ['../a.txt', 'may not climb with ".."'],
      ['x/../../a.txt', 'may not climb with ".."'],
      ['/etc/a.txt', 'outside the folders in which tools may write'],
      ['.git/hooks/pre-commit', 'must not begin with a dot'],
      ['a/.env', 'must not begin with a dot'],
      ['a\0.txt', 'control characters'],
      ['a\\b.txt', 'without folders'],
      ['.', 'it is empty'],
      ['nul.txt', 'Windows reserves it'],
      ['x'.repeat(5000), 'more than 4096 characters'],
    ] as const) {
      it(`refuses ${JSON.stringify(path.slice(0, 30))}`, async () => {
        expect(await catchToolMessage(write(path))).to.contain(problem);
      });
    }

    it('passes no link: neither as a folder, nor as the file', async () => {
      mkdirSync(folder.at('outputs'));
      mkdirSync(folder.at('elsewhere'));
      symlinkSync(folder.at('elsewhere'), folder.at('outputs/linked'));
      symlinkSync(folder.at('elsewhere/file'), folder.at('outputs/file'));
      expect(await catchToolMessage(write('linked/a.txt'))).to.contain('"linked" in it is no folder');
      expect(await catchToolMessage(write('file'))).to.contain('it is a link');
      expect(await catchToolMessage(write('linked'))).to.contain('it is a link');
      expect(readdirSync(folder.at('elsewhere'))).to.deep.equal([]);
    });

    it('writes nowhere unless a folder is named', async () => {
      for (const access of [fileAccess([folder.path]), serverFileAccess([folder.path])]) {
        expect(await catchToolMessage(write('a.txt', false, access))).to.contain('SERVICE_WRITE_ROOTS');
      }
    });
  });

  describe('of a server', () => {
    const server = (tenant: string): FileAccess => {
      const access = serverFileAccess([folder.at('data')], [folder.at('written')]);
      return access.forTenant?.(tenant) ?? access;
    };

    it('gives each tenant a folder of its own, which no other one reads or writes', async () => {
      expect(await write('a/b.txt', false, server('acme'))).to.deep.equal({ path: 'a/b.txt', size: 2 });
      expect(readFileSync(folder.at('written/acme/a/b.txt'), 'utf8')).to.equal('ab');
      expect((await server('acme').read('a/b.txt')).bytes.toString()).to.equal('ab');
      for (const path of ['a/b.txt', 'acme/a/b.txt', folder.at('written/acme/a/b.txt')]) {
        expect(await catchToolMessage(server('other').read(path)), path).to.contain('SERVICE_FILE_ROOTS');
        expect(await catchToolMessage(serverFileAccess([], [folder.at('written')]).read(path))).to.contain(
          'no files here',
        );
      }
      expect(await catchToolMessage(write(folder.at('written/acme/c'), false, server('other')))).to.contain(
        'outside',
      );
    });

    it('gives no folder to a tenant whose name could lead elsewhere', async () => {
      for (const tenant of ['..', '.', '', 'a/b', '../x', 'a\0b']) {
        expect(await catchToolMessage(write('a', false, server(tenant))), tenant).to.contain(
          'may write no files here',
        );
      }
      expect(existsSync(folder.at('written'))).to.equal(false);
    });

    it('refuses a name that a folder for reading has: readers would find that file', async () => {
      folder.write('data/a.txt', 'data');
      expect(await catchToolMessage(write('a.txt', false, server('acme')))).to.contain('choose another one');
    });
  });

  describe('open and list', () => {
    it('streams a file of any size, from the allowed folders only', async () => {
      folder.write('big.bin', Buffer.alloc(300_000, 1));
      const { size, pieces } = await foldersOf(fileAccess([folder.path], 10)).open('big.bin');
      let length = 0;
      for await (const piece of pieces) length += piece.length;
      expect([size, length]).to.deep.equal([300_000, 300_000]);
      expect(await catchToolMessage(foldersOf(shell()).open('/etc/passwd'))).to.contain(
        'outside the allowed folders',
      );
    });

    it('lists files and folders in the order of names, and no links', async () => {
      for (const name of ['b/2.txt', 'b/1.txt', 'a.txt', 'c/d/e.txt']) folder.write(name, 'xyz');
      symlinkSync('/etc', folder.at('b/etc'));
      const list = async (path: string, isDeep: boolean): Promise<string[]> => {
        const paths: string[] = [];
        for await (const { path: found } of await foldersOf(shell()).list(path, isDeep)) paths.push(found);
        return paths;
      };
      expect(await list('.', false)).to.deep.equal(['a.txt', 'b', 'c']);
      expect(await list('.', true)).to.deep.equal([
        'a.txt',
        'b',
        'b/1.txt',
        'b/2.txt',
        'c',
        'c/d',
        'c/d/e.txt',
      ]);
      for (let i = 0; i < 2050; i++) folder.write(`many/${(i * 7919) % 2050}`, '');
      const many = await list('many', false);
      expect(many).to.deep.equal(many.toSorted()).and.to.have.length(2050);
      expect(await catchToolMessage(list('b/etc', false))).to.contain('outside the allowed folders');
      expect(await catchToolMessage(list('a.txt', false))).to.contain('there is no such folder');
      expect(await catchToolMessage(list('..', false))).to.contain('may not climb');
    });
  });
});
