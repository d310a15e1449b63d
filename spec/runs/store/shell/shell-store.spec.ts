import { expect } from 'chai';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../../../lib/common/json/json.js';
import type { Fact } from '../../../../lib/execution/history/fact.js';
import { ShellStore } from '../../../../lib/runs/store/shell/shell-store.js';
import { ROOT } from '../../../project/files.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { cancelFact, storedRun } from '../suites/store-suite.js';
import { ShellFiles, STOPPED } from './shell-files.js';

describe('ShellStore (D68)', () => {
  const temporary = useTemporaryFolder();
  let path: string;
  let files: ShellFiles;

  beforeEach(() => {
    path = temporary.at('.wavetrain');
    files = new ShellFiles(path);
  });

  it('keeps runs and facts in their order, any text and large values', async () => {
    const store = files.open();
    const value = {
      text: '\u0000\ud800 \u{1f600} " \\ \n',
      long: '\u{1f600}x'.repeat(2 ** 19),
      ['__proto__']: null,
    };
    const submission = { ...storedRun(1).submission, inputs: value };
    store.add({ ...storedRun(1, 'a'), submission });
    store.add(storedRun(2, 'b'));
    const facts = [cancelFact(0), succeeded('__proto__', value), cancelFact(2)];
    for (const fact of facts) store.log('a', 'default').append(fact);
    store.log('b', 'default').append(cancelFact(1));
    await store.close();
    const kept = files.read();
    expect(kept.ids()).to.deep.equal(['b', 'a']);
    expect(kept.read('a')).to.deep.include({ id: 'a', number: 1, createdAt: 1, submission });
    expect(kept.read('b')?.command.pid).to.equal(7);
    expect(files.facts('a')?.slice(0, 3)).to.deep.equal(facts);
    expect(files.facts('b')).to.deep.equal([cancelFact(1), ...STOPPED]);
  });

  it('keeps its files for their user alone, and out of the version control of the project', async () => {
    await files.run('a');
    expect(statSync(path).mode & 0o777).to.equal(0o700);
    for (const name of readdirSync(path)) {
      expect(statSync(join(path, name)).mode & 0o777, name).to.equal(0o600);
    }
    expect(readFileSync(join(path, '.gitignore'), 'utf8')).to.equal('*\n');
  });

  it('lets runs go on when it cannot write, and reports that once', async () => {
    writeFileSync(path, 'a file is in the place of the folder');
    const store = files.open();
    const failures: string[] = [];
    store.onFailure(({ message }) => void failures.push(message));
    await files.begin(store, 'a');
    store.log('a', 'default').append(cancelFact(1));
    await store.log('a', 'default').committed();
    await store.close();
    expect(failures).to.have.length(1);
    expect(failures[0]).to.contain(`cannot write to ${path}: `);
    expect(store.isKept('a')).to.equal(false);
  });

  it('says what is wrong with a file that another program has written', async () => {
    mkdirSync(path);
    writeFileSync(join(path, 'runs.db'), 'no database '.repeat(100));
    const store = files.open();
    const failures: string[] = [];
    store.onFailure(({ message }) => void failures.push(message));
    await files.begin(store, 'a');
    await store.close();
    expect(failures).to.deep.equal([`cannot write to ${path}: it is not a database: name another file`]);
  });

  it('is read when an earlier version of the tables has written a file', () => {
    mkdirSync(path);
    copyFileSync(join(ROOT, 'spec/runs/store/fixtures/v1.db'), join(path, 'runs.db'));
    expect(files.ids).to.have.length(2);
    expect(files.ids.map((id) => files.read().isAtWork(id))).to.deep.equal([false, false]);
  });

  it('counts the bytes of each run by itself, and those of its text in UTF-8', async () => {
    const store = files.open({ runBytes: 3000 });
    const failures: string[] = [];
    store.onFailure(({ message }) => void failures.push(message));
    const append = async (id: string, value: string): Promise<void> => {
      store.log(id, 'default').append({ ...succeeded('t', value), bytes: 1 });
      await store.idle();
    };
    for (const id of ['a', 'b']) {
      await files.begin(store, id);
      await append(id, 'x'.repeat(2000));
    }
    expect(failures, 'two runs of 2,000 bytes').to.deep.equal([]);
    await files.begin(store, 'c');
    await append('c', '\u20ac'.repeat(1000));
    expect(failures, 'a run of 1,000 characters with 3 bytes each').to.have.length(1);
    await store.close();
    expect(files.facts('a')).to.have.length(2 + STOPPED.length);
    expect(files.facts('c')).to.deep.equal([cancelFact(1), ...STOPPED]);
  });

  it('keeps bytes only where nobody else can read them', async () => {
    const { folder } = files;
    expect(await folder.isPrivate(), 'a folder that is not there yet').to.equal(true);
    mkdirSync(folder.runs, { recursive: true, mode: 0o700 });
    expect(await folder.isPrivate()).to.equal(true);
    chmodSync(folder.runs, 0o755);
    expect(await folder.isPrivate(), 'a folder that others can read').to.equal(false);
    rmSync(path, { recursive: true });
    writeFileSync(path, 'a file is in its place');
    expect(await folder.isPrivate()).to.equal(false);
  });

  it('adds nothing without a writer', async () => {
    const store = new ShellStore({ place: path, filesFolder: files.folder.runs });
    store.add(storedRun(1, 'a'));
    store.log('a', 'default').append(cancelFact(1));
    await store.close();
    expect(existsSync(path)).to.equal(false);
  });

  it('gives back an earlier run as if it had been stopped, and adds nothing to it', async () => {
    const before = files.open();
    await files.begin(before, 'a');
    await before.close();
    const kept = files.read();
    const run = kept.read('a');
    if (run === undefined) throw new Error('the run is missing');
    const store = new ShellStore({
      place: path,
      filesFolder: files.folder.runs,
      earlier: kept.withFacts(run),
    });
    const heads = [];
    for await (const { id, hasSettled } of store.heads()) heads.push([id, hasSettled]);
    expect(heads).to.deep.equal([['a', true]]);
    expect(await store.facts('a')).to.deep.equal([cancelFact(1), ...STOPPED]);
    expect(await store.submission('a')).to.deep.equal(storedRun(1).submission);
    store.log('a', 'default').append(cancelFact(9));
    await store.close();
    expect(files.facts('a')).to.deep.equal([cancelFact(1), ...STOPPED]);
  });
});

function succeeded(task: string, value: Json): Extract<Fact, { kind: 'succeeded' }> {
  const bytes = JSON.stringify(value).length;
  return { kind: 'succeeded', at: 1, place: '', task, item: -1, value, writes: [], attempts: 1, bytes };
}
