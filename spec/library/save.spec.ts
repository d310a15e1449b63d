import { expect } from 'chai';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { errorMessage } from '../../lib/common/errors.js';
import type { SavedFile, SaveRequest } from '../../lib/library/save-file.js';
import type { FileChangedError, FileContent } from '../../lib/library/write-file.js';
import { catchRejection } from '../support/rejection.js';
import { pipelineText, type TestLibrary, useLibraries } from './test-library.js';
import { LIBRARY_LIMITS } from '../../lib/library/limits.js';

describe('Saving files of the folder (D72)', () => {
  const { folder, open: openLibrary, write, read } = useLibraries();
  let opened: TestLibrary;
  const open = async (isWritable = true): Promise<TestLibrary> =>
    (opened = await openLibrary({ isWritable }));
  const save = async (
    id: string,
    text: string,
    expected: string | null,
    tenantId = 'default',
    more: Partial<SaveRequest> = {},
  ): Promise<SavedFile> => {
    const request = { tenantId, id, text, expected, mayRun: true, ...more };
    const saved = await opened.library.saving.save(request);
    if (saved === undefined) throw new Error('it was not saved');
    return saved;
  };
  const refuse = async (saving: Promise<unknown>): Promise<FileChangedError> =>
    (await catchRejection(saving)) as FileChangedError;
  const readFile = async (id: string, hold: (bytes: number) => void = () => {}): Promise<FileContent> =>
    opened.library.read(await opened.library.entry('default', id), hold);
  const versionOf = async (id: string): Promise<string> => (await readFile(id)).version;

  it('replaces the version that was opened, wherever its file is, and uses it at once', async () => {
    write('deep/a.yaml', pipelineText('a', '', 'old'));
    const library = await open();
    const saved = await save('a', pipelineText('a', '', 'new'), await versionOf('a'));
    expect(saved).to.deep.equal({
      file: 'deep/a.yaml',
      version: await versionOf('a'),
      ok: true,
      problems: [],
    });
    expect(read('deep/a.yaml')).to.equal(pipelineText('a', '', 'new'));
    expect((await library.show('a')).goal).to.equal('new');
    expect(readdirSync(folder.at('pipelines/deep'))).to.deep.equal(['a.yaml']);
  });

  it('saves a text with errors, and keeps the last version without any in use', async () => {
    write('a.yaml', pipelineText('a', '', 'good'));
    const library = await open();
    const saved = await save('a', 'pipeline: {id: a', await versionOf('a'));
    expect(saved).to.include({ ok: false });
    expect(saved.problems[0]).to.include({ code: 'syntax', line: 1 });
    expect(read('a.yaml')).to.equal('pipeline: {id: a');
    expect(await library.show('a')).to.include({ goal: 'good', stale: true });
  });

  it('refuses a version that is not the last one: of two who edit a file, the second learns of it', async () => {
    write('a.yaml', pipelineText('a', '', 'old'));
    await open();
    const both = await versionOf('a');
    const first = await save('a', pipelineText('a', '', 'first'), both);
    const error = await refuse(save('a', pipelineText('a', '', 'second'), both));
    expect(error).to.include({ code: 'file_changed', version: first.version });
    expect(read('a.yaml')).to.equal(pipelineText('a', '', 'first'));
    await save('a', pipelineText('a', '', 'second'), first.version);
    expect(read('a.yaml')).to.equal(pipelineText('a', '', 'second'));
  });

  it('lets one of many succeed who save the same version at once', async () => {
    write('a.yaml', pipelineText('a', '', 'old'));
    await open();
    const version = await versionOf('a');
    const results = await Promise.allSettled(
      Array.from({ length: LIBRARY_LIMITS.tenantSaves }, (_, index) =>
        save('a', pipelineText('a', '', `g${index}`), version),
      ),
    );
    const winner = results.findIndex(({ status }) => status === 'fulfilled');
    expect(results.map(({ status }) => status).sort()).to.deep.equal([
      'fulfilled',
      ...Array(LIBRARY_LIMITS.tenantSaves - 1).fill('rejected'),
    ]);
    expect(read('a.yaml')).to.equal(pipelineText('a', '', `g${winner}`));
    expect(readdirSync(folder.at('pipelines'))).to.deep.equal(['a.yaml']);
  });

  it('refuses when the file has changed on the disk, also when nobody has looked at it since', async () => {
    const file = write('a.yaml', pipelineText('a', '', 'old'));
    await open();
    const version = await versionOf('a');
    writeFileSync(file, pipelineText('a', '', 'elsewhere'));
    const error = await refuse(save('a', pipelineText('a', '', 'here'), version));
    expect(error).to.include({ code: 'file_changed', version: await versionOf('a') });
    expect(read('a.yaml')).to.equal(pipelineText('a', '', 'elsewhere'));
  });

  it('keeps the permissions of a file', async () => {
    const file = write('a.yaml', pipelineText('a', ''));
    chmodSync(file, 0o640);
    await open();
    await save('a', pipelineText('a', '', 'new'), await versionOf('a'));
    expect(statSync(file).mode & 0o777).to.equal(0o640);
  });

  it('creates a file named after its id, of another tenant in the folder of that', async () => {
    const library = await open();
    expect(await save('new.one', pipelineText('new.one', ''), null)).to.include({
      file: 'new.one.yaml',
      ok: true,
    });
    expect(await save('new.one', pipelineText('new.one', ''), null, 'acme')).to.include({
      file: 'tenants/acme/new.one.yaml',
    });
    expect((await library.show('new.one', 'acme')).tenant_id).to.equal('acme');
  });

  it('creates no file where there is one, of this id or of this name in other capitals', async () => {
    write('deep/taken.yaml', pipelineText('taken', ''));
    write('Name.yaml', pipelineText('other', ''));
    await open();
    for (const id of ['taken', 'other', 'name']) {
      const error = await refuse(save(id, pipelineText(id, ''), null));
      expect(error, id).to.include({ code: 'file_changed', version: null });
    }
    expect(read('Name.yaml')).to.equal(pipelineText('other', ''));
  });

  it('creates nothing for an id that is none, and nothing outside of the folder', async () => {
    await open();
    for (const id of ['..', '../x', 'a/b', '/etc/x', '.hidden', '', 'a\0b', 'x'.repeat(129)]) {
      expect(await refuse(save(id, pipelineText('x', ''), null)), id).to.have.property(
        'code',
        'invalid_request',
      );
      expect(await refuse(save(id, 'no definition', null)), id).to.have.property('code', 'invalid_request');
    }
    expect(readdirSync(folder.path)).to.deep.equal(['pipelines']);
    expect(readdirSync(folder.at('pipelines'))).to.deep.equal([]);
  });

  it('writes for a tenant into no folder of another one, where a link within the folder leads', async () => {
    write('shared/a.yaml', pipelineText('a', ''));
    write('tenants/acme/b.yaml', pipelineText('b', ''));
    symlinkSync('../shared', folder.at('pipelines/tenants/evil'));
    await open();
    const error = await refuse(save('sneak', pipelineText('sneak', ''), null, 'evil'));
    expect(error).to.include({ code: 'forbidden' });
    expect(existsSync(folder.at('pipelines/shared/sneak.yaml'))).to.equal(false);
  });

  it('writes through no symbolic link', async () => {
    const outside = folder.write('outside/a.yaml', 'untouched');
    write('.real.yaml', pipelineText('linked', ''));
    symlinkSync('.real.yaml', folder.at('pipelines/linked.yaml'));
    symlinkSync(folder.at('outside'), folder.at('pipelines/tenants'));
    await open();
    const linked = await refuse(save('linked', pipelineText('linked', '', 'x'), await versionOf('linked')));
    expect(linked).to.include({ code: 'forbidden' });
    expect(read('.real.yaml')).to.equal(pipelineText('linked', ''));
    const error = await refuse(save('a', pipelineText('a', ''), null, 'acme'));
    expect(error).to.include({ code: 'forbidden' });
    expect(readFileSync(outside, 'utf8')).to.equal('untouched');
    expect(existsSync(folder.at('outside/acme/a.yaml'))).to.equal(false);
  });

  it('keeps the id of a definition', async () => {
    write('a.yaml', pipelineText('a', ''));
    await open();
    const error = await refuse(save('a', pipelineText('b', ''), await versionOf('a')));
    expect(error.message).to.match(/^the id in the text is "b", not "a"/);
    expect(read('a.yaml')).to.equal(pipelineText('a', ''));
  });

  it('saves nothing longer than a file may be, and a definition of that length', async () => {
    await open();
    const longest = (extra: number): string => {
      const text = pipelineText('a', '');
      return `${text}# ${'x'.repeat(2 ** 20 - text.length - 2 + extra)}`;
    };
    expect(await refuse(save('a', longest(1), null))).to.have.property('code', 'body_too_large');
    expect(await save('a', longest(0), null)).to.include({ ok: true });
  });

  it('lets one tenant add only so many files', async () => {
    for (let index = 0; index < LIBRARY_LIMITS.tenantFiles; index++) {
      write(`tenants/acme/p${index}.yaml`, pipelineText(`p${index}`, ''));
    }
    await open();
    const error = await refuse(save('more', pipelineText('more', ''), null, 'acme'));
    expect(errorMessage(error)).to.match(/^tenant "acme" has as many files as it may have/);
    expect(await save('more', pipelineText('more', ''), null)).to.include({ ok: true });
  });

  it('changes nothing unless the server may', async () => {
    write('a.yaml', pipelineText('a', ''));
    await open(false);
    const error = await refuse(save('a', pipelineText('a', '', 'new'), await versionOf('a')));
    expect(error).to.include({ code: 'forbidden' });
    expect(error.message).to.match(/SERVICE_PIPELINES_WRITABLE=true/);
  });

  it('is read only when there is memory for it', async () => {
    write('a.yaml', pipelineText('a', ''));
    await open();
    const held: number[] = [];
    const { text } = await readFile('a', (bytes) => void held.push(bytes));
    expect(held).to.deep.equal([3 * text.length]);
    const full = new Error('no memory is left');
    const error = await refuse(
      readFile('a', () => {
        throw full;
      }),
    );
    expect(error).to.equal(full);
  });

  it('says why a file cannot be read or written', async () => {
    write('bytes.yaml', '');
    writeFileSync(folder.at('pipelines/bytes.yaml'), Buffer.from([0xff, 0xfe, 0x61, 0x00]));
    await open();
    const error = await refuse(readFile('bytes'));
    expect(error).to.include({ code: 'pipeline_not_found' });
    expect(error.message).to.match(/UTF-8/);
    expect(await refuse(readFile('none'))).to.have.property('code', 'pipeline_not_found');
  });

  describe('while other texts are being checked', () => {
    it('refuses another version than the last one before the text is checked', async () => {
      write('a.yaml', pipelineText('a', '', 'old'));
      const { parser } = await open();
      parser.texts = [];
      const error = await refuse(save('a', pipelineText('a', '', 'hard'), 'another'));
      expect(error).to.include({ code: 'file_changed', version: await versionOf('a') });
      expect(parser.texts).to.deep.equal([]);
    });

    it('checks a text once, and no other file', async () => {
      write('a.yaml', pipelineText('a', '', 'old'));
      write('b.yaml', pipelineText('b', ''));
      const { parser, library } = await open();
      parser.texts = [];
      await save('a', pipelineText('a', '', 'new'), await versionOf('a'));
      await library.lookAgain();
      expect(parser.texts).to.deep.equal([pipelineText('a', '', 'new')]);
    });

    it('saves for a tenant, and shows it, while a text of another one is checked', async () => {
      const { parser, show } = await open().then((library) => ({
        parser: library.parser,
        show: (id: string) => library.show(id, 'acme'),
      }));
      const release = parser.hold('hard');
      const slow = save('slow', pipelineText('slow', '', 'hard'), null, 'evil');
      expect(await save('quick', pipelineText('quick', '', 'easy'), null, 'acme')).to.include({ ok: true });
      expect(await show('quick')).to.include({ goal: 'easy' });
      release();
      expect(await slow).to.include({ ok: true });
    });

    it('saves for a tenant while a changed file of another one is read', async () => {
      const library = await open();
      const release = library.parser.hold('hard');
      write('tenants/evil/a.yaml', pipelineText('a', '', 'hard'));
      const looks = library.look();
      expect(await save('quick', pipelineText('quick', ''), null, 'acme')).to.include({ ok: true });
      release();
      await looks;
    });

    it('refuses more saves of a tenant at once than it has places, so that they can be tried again', async () => {
      const { parser } = await open();
      const release = parser.hold('hard');
      const slow = Array.from({ length: LIBRARY_LIMITS.tenantSaves }, (_, index) =>
        save(`s${index}`, pipelineText(`s${index}`, '', 'hard'), null, 'evil'),
      );
      const error = await refuse(save('more', pipelineText('more', ''), null, 'evil'));
      expect(error).to.include({
        code: 'queue_full',
        message: 'tenant "evil" saves 4 files already: try again when one of them is saved',
      });
      release();
      await Promise.all(slow);
      expect(await save('more', pipelineText('more', ''), null, 'evil')).to.include({ ok: true });
    });

    it('drops a text whose sender leaves before it is written', async () => {
      const { parser, library } = await open();
      const release = parser.hold('hard');
      const leaving = new AbortController();
      const saving = library.saving.save({
        tenantId: 'default',
        id: 'a',
        text: pipelineText('a', '', 'hard'),
        expected: null,
        mayRun: true,
        signal: leaving.signal,
      });
      leaving.abort();
      release();
      expect(await saving).to.equal(undefined);
      expect(existsSync(folder.at('pipelines/a.yaml'))).to.equal(false);
    });
  });

  describe('the room of a tenant', () => {
    const longText = (id: string, goal = 'long'): string => {
      const text = pipelineText(id, '', goal);
      return `${text}#${' '.repeat(2 ** 20 - text.length - 100)}\n`;
    };
    const TOO_LONG = /^the definitions of tenant "acme" would be longer than they may be together/;

    it('is counted before a file is written, whether it is new or grows', async () => {
      for (let index = 1; index <= 8; index++) write(`tenants/acme/p${index}.yaml`, longText(`p${index}`));
      await open();
      const small = await save('small', pipelineText('small', ''), null, 'acme');
      const grown = await refuse(save('small', longText('small'), small.version, 'acme'));
      expect(await refuse(save('another', longText('another'), null, 'acme'))).to.have.property(
        'code',
        'forbidden',
      );
      expect(grown.message).to.match(TOO_LONG);
      expect(read('tenants/acme/small.yaml')).to.equal(pipelineText('small', ''));
      expect(await save('another', longText('another'), null, 'beta')).to.include({ ok: true });
    });

    it('is not larger for saves at the same time', async () => {
      for (let index = 1; index < 8; index++) write(`tenants/acme/p${index}.yaml`, longText(`p${index}`));
      await open();
      const results = await Promise.allSettled(
        ['a', 'b', 'c'].map((id) => save(id, longText(id), null, 'acme')),
      );
      expect(results.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected', 'rejected']);
    });

    it('counts the last version without errors while a shorter text with errors is there', async () => {
      for (let index = 1; index < 8; index++) write(`tenants/acme/p${index}.yaml`, longText(`p${index}`));
      await open();
      const { version } = await save('p8', longText('p8'), null, 'acme');
      await save('p8', 'pipeline: {id: p8', version, 'acme');
      expect((await refuse(save('p9', longText('p9'), null, 'acme'))).message).to.match(TOO_LONG);
    });
  });

  describe('for a key that may not start runs', () => {
    const WEBHOOK = 'webhook: {secret: HOOK}';
    const saveAlone = (id: string, text: string, expected: string | null): Promise<SavedFile> =>
      save(id, text, expected, 'default', { mayRun: false });

    it('refuses a new or a changed schedule or webhook, also in a text with other errors', async () => {
      write('a.yaml', pipelineText('a', 'schedule: "@daily"'));
      await open();
      const version = await versionOf('a');
      for (const fields of ['schedule: "@hourly"', 'schedule: "@daily", overlap: allow', WEBHOOK]) {
        const error = await refuse(saveAlone('a', pipelineText('a', fields), version));
        expect(error, fields).to.include({ code: 'forbidden' });
        expect(error.message).to.match(/^this key lacks the scope "run"/);
        const broken = pipelineText('a', fields).replace('tool: wait', 'tool: of-tomorrow');
        expect(await refuse(saveAlone('a', broken, version)), fields).to.include({ code: 'forbidden' });
        expect(await refuse(saveAlone('new', pipelineText('new', fields), null)), fields).to.include({
          code: 'forbidden',
        });
      }
      expect(read('a.yaml')).to.equal(pipelineText('a', 'schedule: "@daily"'));
    });

    it('saves everything else, also beside a schedule and a webhook that stay as they are', async () => {
      const fields = `schedule: ["0 6 * * *"], timezone: Europe/Berlin, ${WEBHOOK}`;
      write('a.yaml', pipelineText('a', fields, 'old'));
      await open();
      const changed = await saveAlone('a', pipelineText('a', fields, 'new'), await versionOf('a'));
      expect(changed).to.include({ ok: true });
      const without = await saveAlone('a', pipelineText('a', '', 'new'), changed.version);
      expect(await refuse(saveAlone('a', pipelineText('a', fields), without.version))).to.include({
        code: 'forbidden',
      });
      const broken = await saveAlone('a', 'pipeline: {id: a', without.version);
      expect(await save('a', pipelineText('a', fields), broken.version)).to.include({ ok: true });
    });
  });
});
