import { expect } from 'chai';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { errorMessage } from '../../../lib/common/errors.js';
import { TABLES_VERSION } from '../../../lib/runs/store/sqlite/thread/schema.js';
import { requireBuild } from '../../project/files.js';
import { execute, OLD_FILE, openStore, writeStore } from '../../runs/store/maintenance/kept-store.js';
import { useTemporaryFolder } from '../../support/temporary-folder.js';
import { type Invocation, invoke } from '../invoke.js';

describe('wavetrain store (D74)', () => {
  const folder = useTemporaryFolder();

  before(() => requireBuild());

  beforeEach(() => writeStore(folder.at('runs.db'), 5));

  const store = (...words: string[]): Promise<Invocation> =>
    invoke(['store', ...words], { cwd: folder.path, env: { SERVICE_STORE: 'runs.db' } });

  it('finds the store by --store, by SERVICE_STORE or by --env-file, and asks for one otherwise', async () => {
    folder.write('.env', 'SERVICE_STORE=runs.db\n');
    const sound = `✓ runs.db is sound: 6 runs, version ${TABLES_VERSION} of the tables\n`;
    expect(await store('check')).to.deep.equal({ status: 0, stdout: sound, stderr: '' });
    const bare = { cwd: folder.path };
    expect(await invoke(['store', 'check', '--env-file', '.env'], bare)).to.include({
      status: 0,
      stdout: sound,
    });
    expect(await invoke(['store', 'check', '--store', 'runs.db'], bare)).to.include({
      status: 0,
      stdout: sound,
    });
    const asked = await invoke(['store', 'stats'], bare);
    expect(asked).to.include({ status: 2, stdout: '' });
    expect(asked.stderr).to.contain('which store? Write --store FILE, or set SERVICE_STORE');
  });

  it('backup writes a copy, says how large it is, and replaces one with --force alone', async () => {
    folder.write('runs.db.files/run 1/a.txt', 'ABC');
    const { status, stdout } = await store('backup', 'backup.db');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^wrote backup\.db: \d+ KiB, 6 runs, 1 file of runs \(1 KiB\), in .*s\n$/);
    const refused = await store('backup', 'backup.db');
    expect(refused.status).to.equal(2);
    expect(refused.stderr).to.match(/is there already: name another file\n {2}or replace it with --force\n$/);
    const json = JSON.parse((await store('backup', 'backup.db', '--force', '--json')).stdout);
    expect(json).to.include({ file: folder.at('backup.db'), runs: 6, files: 1, files_bytes: 3 });
    expect(json.duration_ms).to.be.a('number');
    expect((await store('check', '--store', 'backup.db')).status).to.equal(0);
  });

  it('check says in words what is wrong, and what to do, with the exit status 1', async () => {
    execute(folder.at('runs.db'), 'DELETE FROM packed WHERE n / 1048576 = 1');
    const { status, stdout } = await store('check');
    expect(status).to.equal(1);
    expect(stdout).to.contain('✗ 1 settled run without the facts that it was kept with\n');
    expect(stdout).to.contain(
      'runs.db is damaged: stop the server, keep the file, and put a backup in its place',
    );
    const json = await store('check', '--quick', '--json');
    expect(json.status).to.equal(1);
    expect(JSON.parse(json.stdout)).to.include({ ok: false, runs: 6 });
  });

  it('says of a text and of an empty file that they are no store, and leaves nothing beside them', async () => {
    const text = 'no database, but a text that is long enough to be looked at'.repeat(20);
    folder.write('text.db', text);
    folder.write('short.db', 'hello\n');
    folder.write('empty.db', '');
    const before = readdirSync(folder.path);
    for (const [file, reason] of [
      ['text.db', 'it is not a database'],
      ['short.db', 'it is not a database'],
      ['empty.db', 'it is empty'],
    ] as const) {
      for (const words of [['check'], ['stats'], ['vacuum'], ['backup', 'b.db']]) {
        const { status, stdout, stderr } = await store(...words, '--store', file);
        expect([status, stdout], `${words[0]} ${file}`).to.deep.equal([2, '']);
        expect(stderr, `${words[0]} ${file}`).to.equal(
          `wavetrain: ${folder.at(file)} is not a store: ${reason}: name another file\n`,
        );
      }
    }
    execute(folder.at('foreign.db'), 'CREATE TABLE other (a)');
    const foreign = await store('vacuum', '--store', 'foreign.db');
    expect(foreign.stderr).to.contain('another program has written it');
    expect(readdirSync(folder.path)).to.have.members([...before, 'foreign.db']);
    for (const file of ['text.db', 'foreign.db']) {
      const refused = await openStore(folder.at(file)).catch((error: unknown) => errorMessage(error));
      expect(refused, file).to.match(/it is not a database|another program has written it/);
    }
    expect(readdirSync(folder.path)).to.have.members([...before, 'foreign.db']);
    expect(readFileSync(folder.at('text.db'), 'utf8')).to.equal(text);
  });

  it('names the flag for a file that is written without it, and no --force for a folder', async () => {
    for (const command of ['check', 'stats', 'vacuum']) {
      const { status, stderr } = await store(command, 'b.db');
      expect(status, command).to.equal(2);
      expect(stderr, command).to.contain(
        'unexpected argument "b.db"\n  --store b.db names the file of the store\n',
      );
    }
    const folders = await store('backup', '.');
    expect(folders.status).to.equal(2);
    expect(folders.stderr).to.contain('is no file: name another one').and.not.contain('--force');
  });

  it('stats shows the size, the runs by status and by tenant, and whether a server has it open', async () => {
    const { status, stdout } = await store('stats');
    expect(status).to.equal(0);
    for (const line of [
      /^ {2}server +none has it open$/m,
      new RegExp(`^ {2}tables +version ${TABLES_VERSION}$`, 'm'),
      /^ {2}runs +6$/m,
      /^ {2}at work +1$/m,
      /^ {2}succeeded +3$/m,
      /^ {2}failed +2$/m,
      /^ {2}oldest +1970-01-01T00:00:00\.001Z run 1$/m,
      /^Tenants$/m,
      /^ {2}default +4 settled runs$/m,
      /^ {2}acme +1 settled run$/m,
    ])
      expect(stdout).to.match(line);
    const opened = await openStore(folder.at('runs.db'));
    expect((await store('stats')).stdout).to.match(/^ {2}server +has it open$/m);
    await opened.close();
    expect(JSON.parse((await store('stats', '--json')).stdout)).to.include({ is_open: false, runs: 6 });
  });

  it('says of a file of an earlier version that a server brings it to the new one, and leaves it', async () => {
    copyFileSync(OLD_FILE, folder.at('old.db'));
    for (let look = 0; look < 2; look++) {
      const stats = await store('stats', '--store', 'old.db');
      expect(stats.stdout.replaceAll(/\s+/g, ' ')).to.contain(
        `version 1; a server brings it to version ${TABLES_VERSION} when it is started with it`,
      );
    }
    expect((await store('check', '--store', 'old.db')).stdout).to.contain(
      `old.db is sound: 2 runs, version 1 of the tables\n  a server brings it to version ${TABLES_VERSION}`,
    );
    expect((await store('backup', 'copy.db', '--store', 'old.db')).stdout).to.contain('wrote copy.db: ');
  });

  it('vacuum gives space back, and is refused while a server has the file open', async () => {
    execute(folder.at('runs.db'), 'CREATE TABLE rest AS SELECT randomblob(1000000)');
    execute(folder.at('runs.db'), 'DROP TABLE rest');
    const { status, stdout } = await store('vacuum');
    expect(status).to.equal(0);
    expect(stdout).to.match(/^runs\.db: 1\.\d MiB before, \d+ KiB now, in .*s\n$/);
    expect(JSON.parse((await store('vacuum', '--json')).stdout)).to.include({ file: folder.at('runs.db') });
    const opened = await openStore(folder.at('runs.db'));
    const refused = await store('vacuum');
    await opened.close();
    expect(refused.status).to.equal(2);
    expect(refused.stderr).to.contain('a server has the store').and.contain('open: stop it first');
  });

  it('creates no store that is missing, and says so', async () => {
    for (const words of [['check'], ['stats'], ['vacuum'], ['backup', 'b.db']]) {
      const { status, stderr } = await store(...words, '--store', 'none.db');
      expect(status, words[0]).to.equal(2);
      expect(stderr, words[0]).to.contain('there is no store').and.contain('none.db');
    }
    expect(existsSync(folder.at('none.db'))).to.equal(false);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('b.db'))).to.deep.equal([]);
  });
});
