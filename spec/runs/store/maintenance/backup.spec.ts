import { expect } from 'chai';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '../../../../lib/common/clock.js';
import { errorMessage } from '../../../../lib/common/errors.js';
import { backupStore, type StoreBackup } from '../../../../lib/runs/store/maintenance/backup-store.js';
import { checkStore } from '../../../../lib/runs/store/maintenance/check-store.js';
import type { RunStore, StoredFact } from '../../../../lib/runs/store/run-store.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { catchRejection } from '../../../support/rejection.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { addSettled } from '../suites/archive-suite.js';
import { cancelFact, listRuns, storedRun } from '../suites/store-suite.js';
import { execute, OLD_FILE, openStore, writeStore } from './kept-store.js';

const start = promisify(execFile);

describe('A backup of a store (D74)', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let target: string;

  before(() => requireBuild());

  beforeEach(() => {
    file = folder.at('runs.db');
    target = folder.at('backup.db');
  });

  const backUp = (from = file, to = target, isReplaced = false): Promise<StoreBackup> =>
    backupStore(from, to, { isReplaced, clock: systemClock });

  const refusal = async (to: string, isReplaced = false): Promise<string> =>
    errorMessage(await catchRejection(backUp(file, to, isReplaced)));

  /** The facts of all runs, settled or at work, by run id. */
  async function readFacts(store: RunStore, ids: readonly string[]): Promise<Map<string, unknown>> {
    const facts = new Map<string, unknown>();
    for (const id of ids) {
      const kept: readonly StoredFact[] = await store.facts(id);
      facts.set(id, {
        submission: await store.submission(id),
        facts: kept,
        head: await store.archive?.head(id),
      });
    }
    return facts;
  }

  it('has what was committed when it began, and nothing by halves, while a process goes on committing', async () => {
    const store = await openStore(file);
    let number = 0;
    const write = (): void => {
      const run = storedRun(++number);
      if (number % 4 === 0) {
        store.add(run);
        store.log(run.id, 'default').append(cancelFact(number));
      } else addSettled(store, run);
    };
    while (number < 2000) write();
    await store.idle();
    const committed = number;
    let isDone = false;
    const command = [join(ROOT, 'bin', 'wavetrain.js'), 'store', 'backup', target, '--store', file, '--json'];
    const child = start(process.execPath, command).finally(() => (isDone = true));
    while (!isDone) {
      write();
      await store.idle();
    }
    const backup: StoreBackup = JSON.parse((await child).stdout);
    expect(number).to.be.greaterThan(committed);
    const copy = await openStore(target);
    try {
      expect(backup.runs).to.equal(copy.lastNumber);
      expect(copy.lastNumber).to.be.within(committed, number);
      const ids = Array.from({ length: copy.lastNumber }, (_, index) => `run ${index + 1}`);
      const sample = [...ids.filter((_, index) => index % 50 === 0), ...ids.slice(-100)];
      expect(await readFacts(copy, sample)).to.deep.equal(await readFacts(store, sample));
      const counts = await copy.archive?.count({ tenants: ['default'], limit: 1 }, 'default');
      expect(counts?.succeeded).to.equal(ids.filter((_, index) => (index + 1) % 4 !== 0).length);
      const atWork = (await listRuns(store)).filter((run) => run.number <= copy.lastNumber);
      expect(await listRuns(copy)).to.deep.equal(atWork);
    } finally {
      await copy.close();
      await store.close();
    }
    expect(await checkStore(target, false)).to.deep.include({ ok: true, problems: [] });
  });

  it('has the files of runs and of schedules beside it, follows no links, and can be moved', async () => {
    await writeStore(file, 3);
    folder.write('runs.db.files/run 1/a.txt', 'A');
    folder.write('runs.db.files/run 2/deep/b.txt', 'BB');
    folder.write('runs.db.schedules.json', '{}');
    folder.write('secret.txt', 'secret');
    symlinkSync(folder.at('secret.txt'), folder.at('runs.db.files/run 1/link'));
    mkdirSync(folder.at('elsewhere'));
    folder.write('elsewhere/c.txt', 'C');
    symlinkSync(folder.at('elsewhere'), folder.at('runs.db.files/run 3'));
    const backup = await backUp();
    expect(backup).to.include({ file: target, runs: 4, files: 2, files_bytes: 3 });
    expect(backup.bytes).to.equal(statSync(target).size);
    const paths = readdirSync(`${target}.files`, { recursive: true, encoding: 'utf8' }).sort();
    expect(paths).to.deep.equal(['run 1', 'run 1/a.txt', 'run 2', 'run 2/deep', 'run 2/deep/b.txt']);
    expect(readFileSync(`${target}.schedules.json`, 'utf8')).to.equal('{}');
    const modes = [target, `${target}.files`, join(`${target}.files`, 'run 1')].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).to.deep.equal([0o600, 0o700, 0o700]);
    const moved = folder.at('moved');
    mkdirSync(moved);
    for (const end of ['', '.files']) renameSync(`${target}${end}`, join(moved, `other.db${end}`));
    const store = await openStore(join(moved, 'other.db'));
    expect(await store.archive?.head('run 1')).to.include({ number: 1, endStatus: 'succeeded' });
    expect(readFileSync(join(store.filesFolder, 'run 1', 'a.txt'), 'utf8')).to.equal('A');
    await store.close();
  });

  it('replaces nothing unless it is asked to, and then leaves nothing of the file before', async () => {
    await writeStore(file, 3);
    await backUp();
    expect(await refusal(target)).to.equal(`${target} is there already: name another file`);
    for (const end of ['-wal', '.files', '.schedules.json']) {
      folder.write(`other.db${end}${end === '.files' ? '/old' : ''}`, 'old');
      expect(await refusal(folder.at('other.db'))).to.contain(`other.db${end} is there already`);
      await backUp(file, folder.at('other.db'), true);
      expect(existsSync(folder.at(`other.db${end}`))).to.equal(false);
      expect(await checkStore(folder.at('other.db'), false)).to.include({ ok: true, runs: 4 });
      renameSync(folder.at('other.db'), target);
    }
    mkdirSync(folder.at('folder'));
    expect(await refusal(folder.at('folder'), true)).to.contain('is there already, and is no file');
  });

  it('takes the place neither of the store nor of what belongs to it, nor of a store that a server has open', async () => {
    await writeStore(file, 1);
    folder.write('runs.db.files/run 1/a.txt', 'A');
    symlinkSync(folder.path, folder.at('link'));
    for (const name of [
      'runs.db',
      'runs.db-wal',
      'runs.db.lock',
      'runs.db.files/b.db',
      'link/runs.db',
      'RUNS.db',
    ])
      expect(await refusal(folder.at(name), true), name).to.match(/belongs to the store|is there already/);
    const open = await openStore(target);
    expect(await refusal(target, true)).to.equal(
      `a server has ${target} open: stop it, or name another file`,
    );
    await open.close();
    expect(await checkStore(file, false)).to.include({ ok: true, runs: 2 });
  });

  it('leaves nothing behind when there is no store to copy, or nowhere to write to', async () => {
    expect(await refusal(target)).to.contain(`there is no store ${file}`);
    folder.write('runs.db', 'no database, but a text that is long enough to be looked at'.repeat(20));
    expect(await refusal(target)).to.contain('it is not a database: name another file');
    expect(readdirSync(folder.path)).to.deep.equal(['runs.db']);
    await writeStore(folder.at('good.db'), 1);
    const lost = await catchRejection(backUp(folder.at('good.db'), folder.at('gone/backup.db')));
    expect(errorMessage(lost)).to.contain('its folder must exist');
    execute(folder.at('foreign.db'), 'CREATE TABLE notes (text TEXT)');
    const foreign = await catchRejection(backUp(folder.at('foreign.db')));
    expect(errorMessage(foreign)).to.contain('another program has written it');
    expect(readdirSync(folder.path).filter((name) => name.includes('backup'))).to.deep.equal([]);
  });

  it('has the -wal of a server that was killed, and is put in the place of such a store, whose -wal is gone then', async () => {
    await writeStore(file, 3);
    await backUp();
    const store = await openStore(file);
    for (let number = 5; number <= 50; number++) addSettled(store, storedRun(number));
    await store.idle();
    const killed = folder.at('killed.db');
    for (const end of ['', '-wal', '.lock']) cpSync(`${file}${end}`, `${killed}${end}`);
    await store.close();
    expect(await backUp(killed, folder.at('other.db'))).to.include({ runs: 50 });
    expect(await backUp(target, killed, true)).to.include({ runs: 4 });
    expect(existsSync(`${killed}-wal`)).to.equal(false);
    const restored = await openStore(killed);
    expect(restored.lastNumber).to.equal(4);
    await restored.close();
    expect(await checkStore(killed, false)).to.include({ ok: true, runs: 4 });
  });

  it('is refused, in words, to a user who may not read the store', async () => {
    await writeStore(file, 1);
    chmodSync(file, 0);
    chmodSync(folder.path, 0o777);
    const command = [join(ROOT, 'bin', 'wavetrain.js'), 'store', 'backup', target, '--store', file];
    const user = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const refused = await catchRejection(start(process.execPath, command, user));
    expect(errorMessage(refused)).to.contain('permission denied: run the command as the user of the server');
  });

  it('is of the version of the store, which stays as it is', async () => {
    cpSync(OLD_FILE, file);
    const before = readFileSync(file);
    expect(await backUp()).to.include({ runs: 2, files: 0 });
    expect(readFileSync(file).equals(before)).to.equal(true);
    expect(await checkStore(target, false)).to.include({ ok: true, version: 1, runs: 2 });
  });
});
